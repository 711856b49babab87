"""Facts about the rule of confirmation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.archive.confirmation import Rule, Standing, Verdict, decide, lacks

EXACT = Rule(deterministic=True, certifies=False, z=2.0, sigmas=5.0)
CERTIFIED = Rule(deterministic=True, certifies=True, z=2.0, sigmas=5.0)
NOISY = Rule(deterministic=False, certifies=False, z=2.0, sigmas=5.0, noise_floor=0.1)
RULES = (EXACT, CERTIFIED, NOISY)
ACCEPT, PENDING, REJECT = Verdict.ACCEPT, Verdict.PENDING, Verdict.REJECT

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
def test_the_first_of_a_cell_needs_no_confirmation(rule: Rule) -> None:
    assert decide(rule, once(1.0), None) is ACCEPT


@pytest.mark.parametrize(("certified", "expected"), [(False, PENDING), (True, ACCEPT)])
def test_the_first_best_needs_a_certificate_where_there_are_some(certified: bool, expected: Verdict) -> None:
    assert decide(CERTIFIED, Standing(1.0, certified=certified), None, title=True) is expected
    assert decide(EXACT, Standing(1.0, certified=certified), None, title=True) is ACCEPT


@pytest.mark.parametrize(("value", "expected"), [(1.0 + 1e-12, ACCEPT), (1.0, REJECT), (0.5, REJECT)])
def test_in_a_deterministic_task_the_larger_wins_at_once(value: float, expected: Verdict) -> None:
    assert decide(EXACT, once(value), once(1.0)) is expected


@pytest.mark.parametrize(
    ("challenger", "incumbent", "expected"),
    [(True, True, ACCEPT), (True, False, PENDING), (False, True, PENDING), (False, False, PENDING)],
)
def test_certified_is_compared_with_certified(challenger: bool, incumbent: bool, expected: Verdict) -> None:
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
def test_a_gain_that_does_not_clear_the_noise_waits(gain: float, error: float | None, expected: Verdict) -> None:
    assert decide(NOISY, once(gain, error), once(0.0, error)) is expected


def test_with_unknown_noise_every_gain_waits() -> None:
    unknown = Rule(deterministic=False, certifies=False, z=2.0, sigmas=5.0)
    assert decide(unknown, once(100.0), once(0.0)) is PENDING


@pytest.mark.parametrize(("value", "expected"), [(1.001, ACCEPT), (1.0, REJECT), (0.9, REJECT)])
def test_a_challenger_that_was_measured_twice_is_decided_by_the_means(value: float, expected: Verdict) -> None:
    assert decide(NOISY, Standing(value, 2, 0.1), once(1.0)) is expected


@pytest.mark.parametrize(("challenger", "incumbent"), [(0, 3), (3, 0), (0, 0)])
def test_what_was_never_measured_here_cannot_be_compared(challenger: int, incumbent: int) -> None:
    for value in (-9.0, 9.0):
        assert decide(NOISY, Standing(value, challenger, 0.1), Standing(0.0, incumbent, 0.1)) is PENDING


@given(st.sampled_from(RULES), standings, standings)
@settings(max_examples=100, deadline=None)
def test_a_challenger_that_does_not_rank_first_never_wins(
    rule: Rule, challenger: Standing, incumbent: Standing
) -> None:
    verdict = decide(rule, challenger, incumbent)
    larger = challenger.violation == incumbent.violation and challenger.value > incumbent.value
    assert verdict is not ACCEPT or challenger.violation < incumbent.violation or larger


@given(st.sampled_from(RULES), standings, st.none() | standings)
@settings(max_examples=100, deadline=None)
def test_who_misses_a_constraint_is_never_the_best(
    rule: Rule, challenger: Standing, incumbent: Standing | None
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
def test_constraints_come_before_the_fitness(challenger: Standing, incumbent: Standing, expected: Verdict) -> None:
    assert decide(EXACT, challenger, incumbent) is expected


def test_a_smaller_violation_needs_no_certificate() -> None:
    """It is the fitness that is certified."""
    assert decide(CERTIFIED, Standing(-9.0), Standing(9.0, certified=True, violation=0.1)) is ACCEPT


@pytest.mark.parametrize(("judgings", "expected"), [(1, PENDING), (2, ACCEPT)])
def test_a_smaller_violation_may_be_luck_in_a_noisy_task(judgings: int, expected: Verdict) -> None:
    assert decide(NOISY, Standing(1.0, judgings), Standing(1.0, violation=0.1)) is expected


@given(st.sampled_from(RULES), standings, standings)
@settings(max_examples=100, deadline=None)
def test_what_is_pending_lacks_a_measurement(rule: Rule, challenger: Standing, incumbent: Standing) -> None:
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
def test_who_lacks_a_measurement(rule: Rule, side: Standing, challenges: bool, expected: bool) -> None:
    assert lacks(rule, side, challenges=challenges) is expected


@pytest.mark.parametrize("floor", [None, 0.0])
def test_a_seed_without_noise_does_not_switch_the_rule_off(floor: float | None) -> None:
    """The seed may score a constant while better programs are noisy, and say so themselves."""
    rule = Rule(deterministic=False, certifies=False, z=2.0, sigmas=5.0, noise_floor=floor)
    assert decide(rule, once(1.0, 10.0), once(0.9, 10.0)) is PENDING
