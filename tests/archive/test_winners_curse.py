"""Facts about campaigns in which the best of many noisy measurements is chosen: what is reported of it, and what it is truly worth."""

import functools
import statistics
from collections.abc import Sequence

import pytest
from climbing import Climb, Ending, usual

EVALUATIONS = 400
AS_LARGE_AS_A_STEP, A_FIFTH_OF_A_STEP = 1.0, 0.2


@functools.cache
def endings(noise: float, runs: int, *, naive: bool = False) -> Sequence[Ending]:
    """Of so many campaigns with seeds of their own."""
    return [Climb(seed, noise, usual, naive=naive).run(EVALUATIONS) for seed in range(runs)]


def gain(found: Sequence[Ending]) -> float:
    """What the best was truly worth, on average."""
    return statistics.fmean(one.true for one in found)


def reported(found: Sequence[Ending]) -> float:
    """What was said of it, where anything was."""
    return statistics.fmean(one.reported for one in found if one.reported is not None)


@pytest.mark.parametrize("runs", [12, pytest.param(500, marks=pytest.mark.slow)])
def test_little_more_is_reported_than_is_true(runs: int) -> None:
    found = endings(AS_LARGE_AS_A_STEP, runs)
    assert [one for one in found if one.reported is None] == []
    assert reported(found) <= 1.2 * gain(found)


@pytest.mark.parametrize("runs", [12, pytest.param(500, marks=pytest.mark.slow)])
def test_what_is_found_in_much_noise_is_better_than_without_measuring_again(runs: int) -> None:
    assert gain(endings(AS_LARGE_AS_A_STEP, runs)) >= gain(endings(AS_LARGE_AS_A_STEP, runs, naive=True))


@pytest.mark.parametrize(("runs", "least"), [(12, 0.7), pytest.param(500, 0.85, marks=pytest.mark.slow)])
def test_measuring_again_costs_little_where_there_is_little_noise(runs: int, least: float) -> None:
    assert gain(endings(A_FIFTH_OF_A_STEP, runs)) >= least * gain(endings(A_FIFTH_OF_A_STEP, runs, naive=True))


@pytest.mark.parametrize("noise", [AS_LARGE_AS_A_STEP, A_FIFTH_OF_A_STEP])
def test_measurements_take_a_fifth_of_all_and_the_last_ones_of_the_best(noise: float) -> None:
    assert max(one.measurements for one in endings(noise, 12)) <= 0.2 * EVALUATIONS + 1 + 20


def test_without_measuring_again_much_more_is_reported_than_is_true() -> None:
    """So the other facts are no matter of course."""
    found = endings(AS_LARGE_AS_A_STEP, 12, naive=True)
    assert reported(found) >= 1.25 * gain(found)
