"""Which failures are worth a repair."""

from collections.abc import Sequence

import pytest

from evolve.strategies.repairs import RECENT, list_repairs
from evolve.testing import Rehearsal
from evolve.types import Asked, Evaluation, Origin, Outcome, Program, ProgramId, Propose, RecordId, Selection, Traits

FIX = Traits(needs_model=True, takes_failures=True)


@pytest.fixture
def view(rehearsal: Rehearsal) -> Rehearsal:
    """A campaign whose record 1 is the seed, with a model's operators and one without a model."""
    rehearsal.operators = ("diff", "fix", "tune")
    rehearsal.needs.update(diff=Traits(needs_model=True), fix=FIX)
    return rehearsal


def add(
    view: Rehearsal,
    operator: str,
    parent: RecordId,
    fitness: float | None = None,
    outcome: Outcome = Outcome.CRASHED,
    violation: float = 0.0,
) -> RecordId:
    """One more proposal; a failure without a fitness."""
    number = len(view.history) + 1
    origin = Origin("proposal", number, operator=operator, parents=(parent,))
    failed = Evaluation.failed(outcome, "", seconds=0.1)
    evaluation = failed if fitness is None else Evaluation(Outcome.OK, fitness, violation=violation)
    return view.history.add(Program({"seed.py": f"x = {number}"}), origin, evaluation)


def found(view: Rehearsal, wanted: Traits = FIX, quarantined: Sequence[ProgramId] = ()) -> list[RecordId]:
    return [failure for failure, _ in ranked(view, wanted, quarantined)]


def ranked(
    view: Rehearsal, wanted: Traits = FIX, quarantined: Sequence[ProgramId] = ()
) -> list[tuple[RecordId, tuple[RecordId, ...]]]:
    """The failures with what they are shown with, in their order."""
    return [(repair.failure, repair.origin) for repair in sorted(list_repairs(view, wanted, set(quarantined)))]


def test_there_is_none_before_something_has_failed(view: Rehearsal) -> None:
    add(view, "diff", 1, 2.0)
    assert found(view) == []


def test_failures_of_good_parents_come_first_and_of_one_parent_the_newest(view: Rehearsal) -> None:
    good = add(view, "diff", 1, 5.0)
    first, second, of_seed = (add(view, "diff", parent) for parent in (good, good, 1))
    assert ranked(view) == [(second, (good,)), (first, (good,)), (of_seed, (1,))]


def test_a_parent_that_meets_the_constraints_is_better_than_a_fitter_one_that_does_not(view: Rehearsal) -> None:
    meets, misses = add(view, "diff", 1, 1.0), add(view, "diff", 1, 9.0, violation=0.5)
    first, second = add(view, "diff", misses), add(view, "diff", meets)
    assert found(view) == [second, first]


def test_what_an_operator_without_a_model_broke_is_left_to_those_without(view: Rehearsal) -> None:
    tuned = add(view, "tune", 1)
    written = add(view, "diff", 1)
    assert found(view) == [written]
    assert found(view, Traits(takes_failures=True)) == [written, tuned]


@pytest.mark.parametrize("outcome", [Outcome.SCREENED, Outcome.BELOW_THRESHOLD, Outcome.INTERNAL])
def test_what_did_not_fail_when_it_was_judged_is_none(view: Rehearsal, outcome: Outcome) -> None:
    add(view, "diff", 1, outcome=outcome)
    assert found(view) == []


def test_a_failure_is_tried_twice(view: Rehearsal) -> None:
    failure = add(view, "diff", 1)
    assert found(view) == [failure]
    add(view, "fix", failure, outcome=Outcome.SCREENED)
    assert found(view) == [failure]
    add(view, "fix", failure, outcome=Outcome.SCREENED)
    assert found(view) == []


def test_a_failure_that_was_mended_is_none(view: Rehearsal) -> None:
    add(view, "fix", add(view, "diff", 1), -50.0)
    assert found(view) == []


def test_a_failure_is_repaired_by_one_step_at_a_time(view: Rehearsal) -> None:
    failure = add(view, "diff", 1)
    asked = Propose(Selection("fix", parents=(failure,)))
    assert found(view) == [failure]
    view.pending.append(Asked(8, asked, 2))
    assert found(view) == []


def test_a_failed_repair_is_repaired_once_more_and_its_own_repair_is_not(view: Rehearsal) -> None:
    first = add(view, "diff", 1)
    second = add(view, "fix", first)
    third = add(view, "fix", second)
    assert ranked(view) == [(second, (1,)), (first, (1,))]
    assert third not in found(view)


def test_quarantined_programs_are_neither_mended_nor_shown(view: Rehearsal) -> None:
    good = add(view, "diff", 1, 5.0)
    failure, other = add(view, "diff", good), add(view, "diff", good)
    bad, ruled_out = view.history.program_id(good), view.history.program_id(other)
    assert bad is not None
    assert ruled_out is not None
    assert ranked(view, FIX, [bad, ruled_out]) == [(failure, ())]


def test_only_recent_failures_are_looked_at(view: Rehearsal) -> None:
    old = add(view, "diff", 1)
    for _ in range(RECENT - 1):
        add(view, "tune", 1)
    assert found(view) == [old]
    add(view, "tune", 1)
    assert found(view) == []


def test_a_success_under_an_earlier_version_of_the_task_ranks_last_and_is_not_shown(view: Rehearsal) -> None:
    """Its score does not compare."""
    former = add(view, "diff", 1, 50.0)
    view.history.since = former
    good = add(view, "diff", former, 5.0)
    of_former, of_good = add(view, "diff", former), add(view, "diff", good)
    assert ranked(view) == [(of_good, (good,)), (of_former, ())]
