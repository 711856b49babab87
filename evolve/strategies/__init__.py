"""Bundled strategies, and the building blocks that they are made of: parent sampling, inspirations, repairs, and bandits over operators
or models. A strategy of one's own combines them (docs/operators.md).

The engine knows the bundled strategies by the names given here and by nothing else."""

from collections.abc import Collection, Sequence

from evolve.hookspecs import PresetEntry, StrategyEntry, hookimpl
from evolve.strategies.bandit import Bandit
from evolve.strategies.baselines import Baseline
from evolve.strategies.islands import Islands, IslandsSettings
from evolve.strategies.repairs import Repair, list_repairs
from evolve.strategies.sampling import (
    ParentSampler,
    sample_by_rank,
    sample_evenly,
    sample_in_proportion,
    sample_partners,
)
from evolve.types import OriginKind

__all__ = [
    "Bandit",
    "Baseline",
    "Islands",
    "IslandsSettings",
    "ParentSampler",
    "Repair",
    "list_repairs",
    "sample_by_rank",
    "sample_evenly",
    "sample_in_proportion",
    "sample_partners",
]


def _baseline(name: str, kinds: Collection[OriginKind], *, climbs: bool = False) -> StrategyEntry:
    return StrategyEntry(
        name, lambda settings, operators: Baseline(operators, kinds, climbs=climbs), history_free_operators=True
    )


@hookimpl
def register_strategies() -> Sequence[StrategyEntry]:
    """Returns `islands`, and the baselines that it is compared with."""
    return (
        StrategyEntry(
            "islands", lambda settings, operators: Islands(IslandsSettings(**settings), operators), IslandsSettings
        ),
        # Independent children of the seed, or of any seed where a task has several.
        _baseline("best_of_n", {"seed"}),
        # A greedy hill climb: every proposal is a child of the best program so far.
        _baseline("sequential", {"seed"}, climbs=True),
        # Variation without selection: the parent is any successful program, each equally likely.
        _baseline("random", {"seed", "proposal", "import"}),
    )


@hookimpl
def register_presets() -> Sequence[PresetEntry]:
    """Returns the control of every search with a model."""
    return (
        PresetEntry(
            "independent",
            {"strategy": {"name": "best_of_n"}, "operators": {"names": ["sample"]}},
            about="independent answers of the model to one prompt, which knows the seed alone: what a search must beat",
            source="Simple Baselines are Competitive with Code Evolution, https://arxiv.org/abs/2602.16805",
        ),
    )
