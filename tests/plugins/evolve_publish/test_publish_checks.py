"""Facts about when a value that was found again is the one that was claimed."""

import pytest

from evolve.types import Fitness
from evolve_publish.checks import (
    AGREES,
    CANNOT_BE_TOLD,
    DIFFERS,
    ClaimCheck,
    Verification,
    check_equal,
    compare_exact,
    compare_noisy,
    compare_with_seed,
    worst_verdict,
)
from evolve_publish.claims import ValueClaim

MAX, MIN = Fitness("gain", "max"), Fitness("loss", "min")
NOISY = ValueClaim(10.0, standard_error=0.1, count=5, low=9.7, high=10.3)


@pytest.mark.parametrize(
    ("claimed", "found", "elsewhere", "verdict"),
    [
        (1.0, 1.0, "", "agrees"),
        (1.0, 1.0 + 1e-15, "", "differs"),
        (1.0, 1.0 + 1e-10, "numpy is another", "agrees"),
        (1.0, 1.0 + 1e-8, "numpy is another", "differs"),
        (0.0, 1e-13, "numpy is another", "agrees"),
        (1.0, None, "numpy is another", "differs"),
        (None, None, "", "agrees"),
    ],
)
def test_deterministic_values_are_the_same_but_for_floats_elsewhere(claimed, found, elsewhere, verdict):
    assert compare_exact("score", claimed, found, elsewhere=elsewhere).verdict == verdict


@pytest.mark.parametrize(
    ("fitness", "found", "elsewhere", "verdict"),
    [
        (MAX, [10.1, 9.9, 10.0], "", "agrees"),
        (MAX, [8.1, 7.9, 8.0], "", "differs"),
        (MAX, [12.1, 11.9, 12.0], "", "agrees"),
        (MIN, [12.1, 11.9, 12.0], "", "differs"),
        (MIN, [8.1, 7.9, 8.0], "", "agrees"),
        (MAX, [8.1, 7.9, 8.0], "another machine", "cannot be told"),
        (MAX, [10.0, 10.0, 10.0], "another machine", "agrees"),
    ],
)
def test_noisy_values_agree_within_chance_or_where_they_are_better(fitness, found, elsewhere, verdict):
    """In the task's own direction; on another hardware class a worse one tells nothing."""
    assert compare_noisy("score", NOISY, found, fitness, elsewhere=elsewhere).verdict == verdict


def test_a_claim_without_an_error_is_as_noisy_as_what_is_found():
    assert compare_noisy("score", ValueClaim(10.0), [10.4, 9.6, 10.1], MAX).verdict == "agrees"
    assert compare_noisy("score", ValueClaim(10.0), [8.4, 7.6, 8.1], MAX).verdict == "differs"


def test_nobody_is_believed_for_being_vague():
    vague = ValueClaim(20.0, standard_error=100.0, count=5)
    assert compare_noisy("score", vague, [10.1, 9.9, 10.0, 10.05, 9.95], MAX).verdict == "differs"


@pytest.mark.parametrize(
    ("gains", "elsewhere", "verdict"),
    [
        ([0.0], "", "agrees"),
        ([-1.0], "", "differs"),
        ([-0.1, 0.2, 0.1], "", "agrees"),
        ([-0.1, -0.3, 0.2], "", "agrees"),
        ([-1.0, -1.1, -0.9], "", "differs"),
        ([-1.0, -1.1, -0.9], "another machine", "cannot be told"),
    ],
)
def test_a_program_is_no_worse_than_the_seed_within_chance(gains, elsewhere, verdict):
    assert compare_with_seed("case", gains, MAX, elsewhere=elsewhere).verdict == verdict


@pytest.mark.parametrize(
    ("fitness", "gain", "found"),
    [
        (MAX, 2.5, "+2.5 to the seed"),
        (MIN, 2.5, "-2.5 to the seed"),
        (MIN, 0.0, "+0 to the seed"),
    ],
)
def test_what_is_gained_on_a_case_is_told_in_the_task_s_own_direction(fitness, gain, found):
    """Of a task that minimises, a better program is below the seed."""
    assert compare_with_seed("case", [gain], fitness).found == found


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ((AGREES, AGREES), AGREES),
        ((AGREES, CANNOT_BE_TOLD), CANNOT_BE_TOLD),
        ((CANNOT_BE_TOLD, DIFFERS, AGREES), DIFFERS),
        ((), CANNOT_BE_TOLD),
    ],
)
def test_one_difference_is_a_difference_and_nothing_is_no_agreement(verdicts, whole):
    assert worst_verdict(verdicts) == whole


def test_what_does_not_matter_decides_nothing():
    checks = (ClaimCheck("files", AGREES), ClaimCheck("run again", CANNOT_BE_TOLD, matters=False))
    assert Verification("number/2", "number", "0", checks).verdict == AGREES


def test_a_reason_stands_with_a_difference_alone():
    assert check_equal("value", "1", "1", "why").why == ""
    assert check_equal("value", "1", "2", "why") == ClaimCheck("value", DIFFERS, "1", "2", "why")
