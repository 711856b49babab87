"""The laws of the Huxley-Gödel Machine: outcomes of clades, Thompson sampling, and when to measure again."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evolve.testing import Rehearsal
from evolve.types import REJUDGED, Measure, Propose, Selection, TaskChanged
from evolve_methods.hgm import Hgm, HgmSettings, Tally, draw
from tests.plugins.evolve_methods.histories import measured, ruled, screened, settled, tell

_SPEC = importlib.util.spec_from_file_location(
    "strategy_simulation", Path(__file__).parents[3] / "benchmarks" / "strategy_simulation.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
simulation = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(simulation)


def make(**settings: float) -> Hgm:
    return Hgm(HgmSettings(**settings), ["diff"])  # type: ignore[arg-type]


def clades_of(strategy: Hgm) -> dict[int, tuple[int, int]]:
    """Successes and failures of each possible parent's clade."""
    return {node.record: (node.clade.successes, node.clade.failures) for node in strategy.candidates}


FAMILY = (settled(1, 1.0), settled(2, 3.0, 1), settled(3, 0.5, 1), settled(4, 4.0, 2), settled(5, None, 4))
"""1 has the children 2, better, and 3, worse; 4 is a better child of 2; a child of 4 crashed."""


def test_a_clade_has_the_outcomes_of_all_its_programs() -> None:
    """One is better than its parent, or a failure."""
    strategy = make()
    tell(strategy, *FAMILY)
    assert clades_of(strategy) == {1: (2, 2), 2: (2, 1), 3: (0, 1), 4: (1, 1)}


def test_asking_again_counts_nothing_twice() -> None:
    campaign, strategy = Rehearsal(), make()
    campaign.open()
    campaign.operators = ("diff",)
    for _ in range(5):
        campaign.start(Propose(Selection("diff", parents=(1,))))
        campaign.finish()
    tell(strategy, *campaign.events)
    before = clades_of(strategy)
    for step in range(20):
        strategy.ask(campaign, campaign.rng(step))
    assert clades_of(strategy) == before
    assert sum(before[1]) > 1


def test_a_measurement_is_one_more_outcome_against_the_mean_of_the_parent() -> None:
    """The seed has none of its own; a case says nothing."""
    strategy = make()
    tell(strategy, *FAMILY[:2], measured(3, 1, 6.0))
    assert clades_of(strategy) == {1: (1, 0), 2: (1, 0)}
    # The parent's mean is 3.5 now.
    tell(strategy, measured(4, 2, 3.2), measured(5, 2, 3.6), measured(6, 2, None), measured(7, 2, 99.0, case="large"))
    assert clades_of(strategy) == {1: (2, 2), 2: (2, 2)}


def test_a_proposal_that_was_not_evaluated_is_no_outcome() -> None:
    strategy = make()
    tell(strategy, *FAMILY[:2], screened(3, 2))
    assert clades_of(strategy) == {1: (1, 0), 2: (1, 0)}


def test_draws_are_those_of_the_posterior() -> None:
    """Of Beta(4, 2) and Beta(2, 3); the first wins with the probability that numbers give."""
    strategy = make()
    tell(strategy, settled(1, 1.0), settled(2, 2.0, 1), settled(3, 1.5, 1))
    first, second = strategy.candidates[1:]
    tallies = {first: Tally(3, 1), second: Tally(1, 2)}
    rng = np.random.default_rng(3)
    wins = sum(draw([first, second], tallies.__getitem__, rng) is first for _ in range(5000))
    other = np.random.default_rng(4)
    expected = float(np.mean(other.beta(4, 2, 200_000) > other.beta(2, 3, 200_000)))
    assert wins / 5000 == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(("alpha", "expands"), [(1.0, True), (0.6, False), (0.1, False)])
def test_a_new_program_is_due_by_the_rule(alpha: float, expands: bool) -> None:
    """Four programs were made of the seed, and none measured again: 5 ** 0.6 is 2.6."""
    strategy = make(alpha=alpha)
    tell(strategy, *FAMILY)
    assert strategy.expands(0) is expands
    assert not strategy.expands(2)


def test_enough_measurements_make_a_new_program_due() -> None:
    """4 programs need 11 evaluations, since 10 ** 0.6 is 3.98."""
    strategy = make()
    tell(strategy, *FAMILY, *(measured(6 + number, 2, 3.0) for number in range(5)))
    assert not strategy.expands(0)
    tell(strategy, measured(11, 2, 3.0))
    assert strategy.expands(0)


@pytest.mark.parametrize("deterministic", [False, True])
def test_only_where_a_second_measurement_may_differ_is_one_made(deterministic: bool) -> None:
    campaign, strategy = Rehearsal(), make()
    campaign.task = replace(campaign.task, deterministic=deterministic)
    campaign.operators = ("diff",)
    campaign.open()
    for _ in range(3):
        campaign.start(Propose(Selection("diff", parents=(1,))))
        campaign.finish()
    tell(strategy, *campaign.events)
    action = strategy.ask(campaign, campaign.rng(1))
    assert isinstance(action, Propose if deterministic else Measure)


def test_a_success_of_a_quarantined_program_was_a_failure_until_it_is_released() -> None:
    strategy = make()
    tell(strategy, *FAMILY, ruled("quarantine", 4))
    assert clades_of(strategy) == {1: (1, 3), 2: (1, 2), 3: (0, 1)}
    tell(strategy, ruled("release", 4))
    assert clades_of(strategy) == {1: (2, 2), 2: (2, 1), 3: (0, 1), 4: (1, 1)}


def test_of_too_many_candidates_the_least_clade_is_no_parent() -> None:
    strategy = make(candidates=3)
    tell(strategy, *FAMILY)
    assert clades_of(strategy) == {1: (2, 2), 2: (2, 1), 4: (1, 1)}


def test_a_newer_version_of_the_task_begins_with_what_it_has_evaluated() -> None:
    strategy = make()
    tell(strategy, *FAMILY, TaskChanged("2", ""), settled(6, 1.0), measured(7, 4, 2.0, why=REJUDGED))
    assert clades_of(strategy) == {6: (0, 0), 7: (0, 0)}
    assert strategy.expands(1)
    assert not strategy.expands(2), "2 ** 0.6 is 1.5"


def test_the_clade_ranks_lineages_better_than_its_best_program() -> None:
    """By the law that the simulation writes; Kendall's tau, and the interval of the difference over seeds."""
    clade, best, difference = simulation.rank_lineages(seeds=200)
    assert clade.mean - clade.half > best.mean + best.half
    assert difference.mean - difference.half > 0.1
