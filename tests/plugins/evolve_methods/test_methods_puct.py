"""The law of PUCT: values that are backed up as maxima of ranks, priors by rank, visits of all ancestors."""

import math

import pytest

from evolve.testing import Rehearsal
from evolve.types import REJUDGED, Propose, TaskChanged
from evolve_methods.puct import Puct, PuctSettings
from tests.plugins.evolve_methods.histories import asked, measured, ruled, settled, tell


def make(**settings: float) -> Puct:
    return Puct(PuctSettings(**settings), ["diff"])  # type: ignore[arg-type]


def scores_of(strategy: Puct) -> dict[int, float]:
    return {node.record: score for node, score in strategy.scores().items()}


def values_of(strategy: Puct) -> dict[int, float]:
    """The score that each program's value is, its own or that of the best that came of it."""
    return {node.record: node.value[1] for node in strategy.scores()}


FAMILY = (settled(1, 1.0), settled(2, 3.0, 1), settled(3, 2.0, 1), settled(4, 0.0, 2), settled(5, 9.0, 4))
"""1 has the children 2 and 3; 4 is a child of 2, and 5 of 4."""


def test_a_program_is_worth_the_best_that_came_of_it() -> None:
    strategy = make()
    tell(strategy, *FAMILY)
    assert values_of(strategy) == {1: 9.0, 2: 9.0, 3: 2.0, 4: 9.0, 5: 9.0}


def test_one_that_was_expanded_is_no_longer_worth_its_own_score() -> None:
    """2 has 3.0 and a child with 0.0."""
    strategy = make()
    tell(strategy, *FAMILY[:4])
    assert values_of(strategy) == {1: 3.0, 2: 0.0, 3: 2.0, 4: 0.0}


def test_the_score_is_that_of_the_formula() -> None:
    strategy = make(exploration=2.0)
    tell(strategy, asked(1, 0), *FAMILY[:2], asked(2, 1), asked(3, 2), FAMILY[2], asked(4, 2), FAMILY[3])
    # From worst to best: 4 (0.0), 1 (1.0), 3 (2.0), 2 (3.0). All three proposals are visits of 1, the last two of 2.
    bonus = 2.0 * math.sqrt(1 + 3)
    assert scores_of(strategy) == pytest.approx(
        {
            1: 4 / 4 + bonus * (2 / 10) / (1 + 3),
            2: 1 / 4 + bonus * (4 / 10) / (1 + 2),
            3: 3 / 4 + bonus * (3 / 10) / 1,
            4: 1 / 4 + bonus * (1 / 10) / 1,
        }
    )


def test_any_increasing_change_of_the_scores_changes_nothing() -> None:
    one, other = make(), make()
    tell(one, *FAMILY, asked(9, 2))
    tell(
        other, *(settled(e.record.id, math.exp(e.record.evaluation.fitness), *e.record.origin.parents) for e in FAMILY)
    )
    tell(other, asked(9, 2))
    assert scores_of(one) == scores_of(other)


def test_steps_under_way_keep_others_from_the_same_parent() -> None:
    """A group of answers is one visit."""
    campaign, strategy = Rehearsal(), make(group=4)
    campaign.operators = ("diff",)
    campaign.open()
    tell(strategy, *campaign.events, settled(2, 1.0, 1), settled(3, 0.9, 1))
    campaign.history.records += [settled(2, 1.0, 1).record, settled(3, 0.9, 1).record]
    parents = []
    for step in range(4):
        action = strategy.ask(campaign, campaign.rng(step))
        assert isinstance(action, Propose)
        assert action.selection.samples == 4
        parents.append(action.selection.parents[0])
        tell(strategy, asked(10 + step, parents[-1]))
    assert len(set(parents)) > 1
    assert max(node.visits for node in strategy.scores()) == 4


def test_of_more_programs_than_the_buffer_holds_the_worst_is_no_parent() -> None:
    """The seed always is; what came of those that left counts for their ancestors."""
    strategy = make(buffer=2)
    tell(strategy, *FAMILY)
    assert values_of(strategy) == {1: 9.0, 5: 9.0}


def test_a_quarantined_program_counts_for_nobody_until_it_is_released() -> None:
    strategy = make()
    tell(strategy, *FAMILY, ruled("quarantine", 5))
    assert values_of(strategy) == {1: 3.0, 2: 0.0, 3: 2.0, 4: 0.0}
    tell(strategy, ruled("release", 5))
    assert values_of(strategy) == {1: 9.0, 2: 9.0, 3: 2.0, 4: 9.0, 5: 9.0}


def test_a_newer_version_of_the_task_begins_with_what_it_has_evaluated() -> None:
    strategy = make()
    tell(strategy, *FAMILY, asked(9, 2), TaskChanged("2", ""), settled(6, 1.0), measured(7, 5, 2.0, why=REJUDGED))
    assert values_of(strategy) == {6: 1.0, 7: 2.0}
    assert {node.visits for node in strategy.scores()} == {0}


def test_failures_and_measurements_are_no_programs() -> None:
    strategy = make()
    tell(strategy, *FAMILY[:2], settled(3, None, 2), measured(4, 2, 50.0))
    assert values_of(strategy) == {1: 3.0, 2: 3.0}
