"""Bundled strategies, and the building blocks that they are made of: parent sampling, inspirations, repairs, and bandits over operators
or models. A strategy of one's own combines them (docs/operators.md).

The engine knows the bundled strategies by the names given here and by nothing else."""

from collections.abc import Callable, Sequence

from evolve.hookspecs import StrategyEntry, hookimpl
from evolve.protocols import Strategy
from evolve.strategies.bandit import Bandit
from evolve.strategies.baselines import (
    Baseline,
    EvenOperators,
    RecordPool,
    make_best_of_n,
    make_random,
    make_sequential,
)
from evolve.strategies.islands import Islands, IslandsSettings
from evolve.strategies.repairs import Repair, list_repairs
from evolve.strategies.sampling import (
    InspirationSampler,
    ParentSampler,
    sample_by_rank,
    sample_evenly,
    sample_in_proportion,
    sample_partners,
    sample_varied,
)

__all__ = [
    "Bandit",
    "Baseline",
    "EvenOperators",
    "InspirationSampler",
    "Islands",
    "IslandsSettings",
    "ParentSampler",
    "RecordPool",
    "Repair",
    "list_repairs",
    "sample_by_rank",
    "sample_evenly",
    "sample_in_proportion",
    "sample_partners",
    "sample_varied",
]


def _baseline(name: str, make: Callable[[Sequence[str]], Strategy]) -> StrategyEntry:
    return StrategyEntry(name, lambda settings, operators: make(operators), history_free_operators=True)


@hookimpl
def register_strategies() -> Sequence[StrategyEntry]:
    """Returns `islands`, and the baselines that it is compared with."""
    return (
        StrategyEntry(
            "islands", lambda settings, operators: Islands(IslandsSettings(**settings), operators), IslandsSettings
        ),
        _baseline("best_of_n", make_best_of_n),
        _baseline("sequential", make_sequential),
        _baseline("random", make_random),
    )
