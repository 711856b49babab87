"""Confirmation of challengers: the rule, its use on two programs, and the queue of measurements."""

from collections.abc import Sequence

import pytest
from archive_makers import AXES, make_program
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.confirmation import (
    GIVE_UP,
    REFRESH,
    SMALL,
    TITLE,
    ConfirmationRule,
    ContestVerdict,
    MeasurementQueue,
    QueueEntry,
    Standing,
    decide,
    lacks,
)
from evolve.archive.contests import Confirmation
from evolve.archive.evidence import Evidence
from evolve.types import Evaluation, Origin, Outcome, Record

EXACT = ConfirmationRule(deterministic=True, certifies=False, z=2.0, sigmas=5.0)
CERTIFIED = ConfirmationRule(deterministic=True, certifies=True, z=2.0, sigmas=5.0)
NOISY = ConfirmationRule(deterministic=False, certifies=False, z=2.0, sigmas=5.0, noise_floor=0.1)
RULES = (EXACT, CERTIFIED, NOISY)
ACCEPT, PENDING, REJECT = ContestVerdict.ACCEPT, ContestVerdict.PENDING, ContestVerdict.REJECT

standings = st.builds(
    Standing,
    value=st.floats(-10, 10),
    judgings=st.integers(0, 4),
    error=st.none() | st.floats(0, 2),
    certified=st.booleans(),
    violation=st.sampled_from([0.0, 0.0, 0.5, 1.0]),
)


def once(value: float, error: float | None = 0.1) -> Standing:
    return Standing(value, 1, error)


@pytest.mark.parametrize("rule", RULES)
def test_the_first_of_a_cell_needs_no_confirmation(rule: ConfirmationRule) -> None:
    assert decide(rule, once(1.0), None) is ACCEPT


@pytest.mark.parametrize(("certified", "expected"), [(False, PENDING), (True, ACCEPT)])
def test_the_first_best_needs_a_certificate_where_there_are_some(certified: bool, expected: ContestVerdict) -> None:
    assert decide(CERTIFIED, Standing(1.0, certified=certified), None, title=True) is expected
    assert decide(EXACT, Standing(1.0, certified=certified), None, title=True) is ACCEPT


@pytest.mark.parametrize(("value", "expected"), [(1.0 + 1e-12, ACCEPT), (1.0, REJECT), (0.5, REJECT)])
def test_in_a_deterministic_task_the_larger_wins_at_once(value: float, expected: ContestVerdict) -> None:
    assert decide(EXACT, once(value), once(1.0)) is expected


@pytest.mark.parametrize(
    ("challenger", "incumbent", "expected"),
    [(True, True, ACCEPT), (True, False, PENDING), (False, True, PENDING), (False, False, PENDING)],
)
def test_certified_is_compared_with_certified(challenger: bool, incumbent: bool, expected: ContestVerdict) -> None:
    assert decide(CERTIFIED, Standing(2.0, certified=challenger), Standing(1.0, certified=incumbent)) is expected
    assert decide(CERTIFIED, Standing(1.0, certified=challenger), Standing(1.0, certified=incumbent)) is REJECT


@pytest.mark.parametrize(
    ("gain", "error", "expected"),
    [
        (0.05, 0.0, PENDING),  # below the noise floor
        (0.15, 0.0, ACCEPT),  # above it, and known exactly
        (0.15, 0.1, PENDING),  # below two standard errors of the difference, 0.283
        (0.30, 0.1, ACCEPT),
        (0.55, 1.0, PENDING),  # five noise floors, but within the errors that the evaluator reports
        (0.08, 0.01, ACCEPT),  # below the noise floor, and more than five standard errors of the difference
        (0.30, None, PENDING),
        (0.00, 0.0, REJECT),
        (-1.0, 0.0, REJECT),
    ],
)
def test_a_gain_that_does_not_clear_the_noise_waits(gain: float, error: float | None, expected: ContestVerdict) -> None:
    assert decide(NOISY, once(gain, error), once(0.0, error)) is expected


def test_with_unknown_noise_every_gain_waits() -> None:
    unknown = ConfirmationRule(deterministic=False, certifies=False, z=2.0, sigmas=5.0)
    assert decide(unknown, once(100.0), once(0.0)) is PENDING


@pytest.mark.parametrize(("value", "expected"), [(1.001, ACCEPT), (1.0, REJECT), (0.9, REJECT)])
def test_a_challenger_that_was_measured_twice_is_decided_by_the_means(value: float, expected: ContestVerdict) -> None:
    assert decide(NOISY, Standing(value, 2, 0.1), once(1.0)) is expected


@pytest.mark.parametrize(("challenger", "incumbent"), [(0, 3), (3, 0), (0, 0)])
def test_what_was_never_measured_here_cannot_be_compared(challenger: int, incumbent: int) -> None:
    for value in (-9.0, 9.0):
        assert decide(NOISY, Standing(value, challenger, 0.1), Standing(0.0, incumbent, 0.1)) is PENDING


@given(st.sampled_from(RULES), standings, standings)
@settings(max_examples=100, deadline=None)
def test_a_challenger_that_does_not_rank_first_never_wins(
    rule: ConfirmationRule, challenger: Standing, incumbent: Standing
) -> None:
    verdict = decide(rule, challenger, incumbent)
    larger = challenger.violation == incumbent.violation and challenger.value > incumbent.value
    assert verdict is not ACCEPT or challenger.violation < incumbent.violation or larger


@given(st.sampled_from(RULES), standings, st.none() | standings)
@settings(max_examples=100, deadline=None)
def test_who_misses_a_constraint_is_never_the_best(
    rule: ConfirmationRule, challenger: Standing, incumbent: Standing | None
) -> None:
    verdict = decide(rule, challenger, incumbent, title=True)
    assert verdict is REJECT or challenger.violation == 0.0


@pytest.mark.parametrize(
    ("challenger", "incumbent", "expected"),
    [
        (Standing(-9.0), Standing(9.0, violation=0.1), ACCEPT),
        (Standing(-9.0, violation=0.1), Standing(9.0, violation=0.2), ACCEPT),
        (Standing(9.0, violation=0.1), Standing(-9.0), REJECT),
        (Standing(9.0, violation=0.2), Standing(-9.0, violation=0.1), REJECT),
        (Standing(9.0, violation=0.1), Standing(-9.0, violation=0.1), ACCEPT),
    ],
)
def test_constraints_come_before_the_fitness(
    challenger: Standing, incumbent: Standing, expected: ContestVerdict
) -> None:
    assert decide(EXACT, challenger, incumbent) is expected


def test_a_smaller_violation_needs_no_certificate() -> None:
    """It is the fitness that is certified."""
    assert decide(CERTIFIED, Standing(-9.0), Standing(9.0, certified=True, violation=0.1)) is ACCEPT


@pytest.mark.parametrize(("judgings", "expected"), [(1, PENDING), (2, ACCEPT)])
def test_a_smaller_violation_may_be_luck_in_a_noisy_task(judgings: int, expected: ContestVerdict) -> None:
    assert decide(NOISY, Standing(1.0, judgings), Standing(1.0, violation=0.1)) is expected


@given(st.sampled_from(RULES), standings, standings)
@settings(max_examples=100, deadline=None)
def test_what_is_pending_lacks_a_measurement(rule: ConfirmationRule, challenger: Standing, incumbent: Standing) -> None:
    missing = lacks(rule, challenger, challenges=True) or lacks(rule, incumbent, challenges=False)
    assert decide(rule, challenger, incumbent) is not PENDING or missing


@pytest.mark.parametrize(
    ("rule", "side", "challenges", "expected"),
    [
        (EXACT, Standing(1.0, 0), True, False),
        (CERTIFIED, Standing(1.0), False, True),
        (CERTIFIED, Standing(1.0, certified=True), True, False),
        (NOISY, Standing(1.0, 0), False, True),
        (NOISY, Standing(1.0, 1), False, False),
        (NOISY, Standing(1.0, 1), True, True),
        (NOISY, Standing(1.0, 2), True, False),
    ],
)
def test_who_lacks_a_measurement(rule: ConfirmationRule, side: Standing, challenges: bool, expected: bool) -> None:
    assert lacks(rule, side, challenges=challenges) is expected


@pytest.mark.parametrize("floor", [None, 0.0])
def test_a_seed_without_noise_does_not_switch_the_rule_off(floor: float | None) -> None:
    """The seed may score a constant while better programs are noisy, and say so themselves."""
    rule = ConfirmationRule(deterministic=False, certifies=False, z=2.0, sigmas=5.0, noise_floor=floor)
    assert decide(rule, once(1.0, 10.0), once(0.9, 10.0)) is PENDING


def confirmation_of(*fitnesses: float, noisy: bool) -> Confirmation:
    evidence = Evidence(len(AXES), pooling=noisy)
    for number, fitness in enumerate(fitnesses):
        found = Evaluation.ok(fitness, descriptors={"size": 0.0, "walls": 0.0})
        evidence.add(
            Record(number + 1, Origin("proposal", 1), make_program(number), found),
            fitness,
            0,
            (0.0, 0.0),
            quarantined=False,
        )
    return Confirmation(evidence, ConfirmationRule(not noisy, not noisy, 2.0, 5.0, 0.1))


def certify(confirmation: Confirmation, number: int, fitness: float) -> None:
    confirmation.evidence.measure(number, 50, Evaluation(Outcome.OK, fitness=fitness, certified=True), fitness)


def test_both_sides_are_certified_the_incumbent_first() -> None:
    confirmation = confirmation_of(1.0, 2.0, noisy=False)
    assert confirmation.verdict(1, 0) is ContestVerdict.PENDING
    assert confirmation.lacking(1, 0) == [0, 1]
    certify(confirmation, 0, 1.0)
    assert confirmation.lacking(1, 0) == [1]
    certify(confirmation, 1, 1.5)
    assert (confirmation.verdict(1, 0), confirmation.lacking(1, 0)) == (ContestVerdict.ACCEPT, [])


def test_the_first_best_lacks_its_own_certificate() -> None:
    confirmation = confirmation_of(1.0, noisy=False)
    assert (confirmation.verdict(0, None, title=True), confirmation.lacking(0, None)) == (ContestVerdict.PENDING, [0])


def test_a_noisy_challenger_is_measured_again() -> None:
    confirmation = confirmation_of(1.0, 1.1, noisy=True)
    assert (confirmation.verdict(1, 0), confirmation.lacking(1, 0)) == (ContestVerdict.PENDING, [1])


def test_on_another_machine_the_noisy_incumbent_is_measured_before_the_challenger() -> None:
    confirmation = confirmation_of(1.0, 9.0, noisy=True)
    confirmation.evidence.move_to("first")
    confirmation.evidence.move_to("second")
    assert (confirmation.verdict(1, 0), confirmation.lacking(1, 0)) == (ContestVerdict.PENDING, [0])


@pytest.mark.parametrize("side", [0, 1])
def test_a_contest_that_cannot_be_measured_is_lost(side: int) -> None:
    confirmation = confirmation_of(1.0, 2.0, noisy=False)
    for _ in range(GIVE_UP):
        confirmation.queue.end(side, measured=False)
    assert confirmation.verdict(1, 0) is ContestVerdict.REJECT


@pytest.mark.parametrize(("noisy", "owed"), [(True, {0}), (False, set())])
def test_only_a_noisy_incumbent_is_owed_a_refresh(noisy: bool, owed: set[int]) -> None:
    confirmation = confirmation_of(1.0, noisy=noisy)
    confirmation.refresh(0)
    assert confirmation.queue.refreshes == owed
    assert (
        confirmation.queue.next(lambda entry: [entry.program] if entry.island == REFRESH else []) is None
    ) is not noisy


def itself(entry: QueueEntry) -> Sequence[int]:
    return (entry.program,)


def programs_in_order(queue: MeasurementQueue) -> list[int]:
    found = []
    while (one := queue.next(itself)) is not None:
        found.append(one[1])
        queue.mark_asked(one[1])
    return found


def test_the_title_comes_first_then_the_largest_value() -> None:
    queue = MeasurementQueue()
    for value, program, what in ((1.0, 1, 0), (9.0, 2, 3), (5.0, 3, REFRESH), (0.2, 4, TITLE)):
        queue.push((0.0, -value), program, what)
    assert programs_in_order(queue) == [4, 2, 3, 1]


def test_who_meets_the_constraints_is_measured_before_who_does_not() -> None:
    queue = MeasurementQueue()
    for missed, value, program in ((0.5, 9.0, 1), (0.0, 1.0, 2), (0.1, 5.0, 3)):
        queue.push((missed, -value), program, 0)
    assert programs_in_order(queue) == [2, 3, 1]


def test_looking_changes_nothing() -> None:
    queue = MeasurementQueue()
    queue.push((0.0, -1.0), 7, 0)
    assert queue.next(itself) == queue.next(itself)


def test_what_is_in_flight_is_not_due() -> None:
    queue = MeasurementQueue()
    queue.push((0.0, -1.0), 7, 0)
    queue.mark_asked(7)
    assert queue.next(itself) is None


def test_several_may_be_in_flight_for_one_program() -> None:
    queue = MeasurementQueue()
    queue.mark_asked(7)
    queue.mark_asked(7)
    queue.end(7, measured=True)
    assert queue.in_flight == {7: 1}
    queue.end(7, measured=True)
    assert queue.in_flight == {}


def test_what_settles_without_having_been_asked_for_is_no_error() -> None:
    queue = MeasurementQueue()
    queue.end(7, measured=True)
    assert queue.in_flight == {}


def test_an_entry_that_counts_no_more_is_passed_over() -> None:
    queue = MeasurementQueue()
    queue.push((0.0, -2.0), 7, 0)
    queue.push((0.0, -1.0), 8, 0)
    found = queue.next(lambda entry: () if entry.program == 7 else (entry.program,))
    assert found is not None
    assert found[1] == 8


def test_a_program_that_the_machinery_fails_again_and_again_is_given_up() -> None:
    queue = MeasurementQueue()
    for _ in range(GIVE_UP):
        assert not queue.is_given_up(7)
        queue.end(7, measured=False)
    queue.push((0.0, -1.0), 7, 0)
    assert queue.is_given_up(7)
    assert queue.next(itself) is None
    queue.end(7, measured=True)
    assert not queue.is_given_up(7)


def test_a_measurement_pays_a_refresh() -> None:
    queue = MeasurementQueue()
    queue.refreshes.add(7)
    queue.end(7, measured=False)
    assert queue.refreshes == {7}
    queue.end(7, measured=True)
    assert queue.refreshes == set()


@pytest.mark.parametrize("alive", [0, 1, SMALL])
def test_what_counts_no_more_does_not_pile_up(alive: int) -> None:
    queue = MeasurementQueue()
    for program in range(10 * SMALL):
        queue.push((0.0, -program), program, 0)
        queue.next(lambda entry: (entry.program,) if entry.program < alive else ())
    assert len(queue._heap) <= 2 * max(SMALL, alive) + 1
