"""Facts about races."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from evolve.statistics import Race, log_ratios
from evolve.statistics.racing import ERROR, spent_error

Noise = Callable[[Generator, int], np.ndarray]


def normal(rng: Generator, count: int) -> np.ndarray:
    """The usual noise, of one pair."""
    return rng.standard_normal(count)


def spiked(rng: Generator, count: int) -> np.ndarray:
    """One pair in ten is thirty times as far off."""
    return rng.standard_normal(count) * np.where(rng.random(count) < 0.1, 30.0, 1.0)


def long_tailed(rng: Generator, count: int) -> np.ndarray:
    """Without a variance."""
    return rng.standard_t(2, count)


def raced(values: np.ndarray, **options: float) -> Race:
    """A race that takes of these as many as it wants."""
    race, left = Race(**options), iter(values.tolist())
    while race.wanted:
        for _ in range(race.wanted):
            race.add(next(left))
    return race


def timed(rng: Generator, gain: float, noise: float) -> np.ndarray:
    """40 pairs of times, each of which has this noise by itself; the candidate takes so much less."""
    times = np.exp(noise * rng.standard_normal((2, 40)))
    return np.array(log_ratios(times[0].tolist(), (times[1] / (1 + gain)).tolist()))


def test_a_race_says_how_many_it_wants_until_its_next_look() -> None:
    race, wanted = Race(), []
    rng = np.random.default_rng(0)
    while race.wanted:
        wanted.append(race.wanted)
        for value in rng.choice([-1.0, 1.0], race.wanted):
            race.add(value)
    assert wanted == [4, 2, 3, 4, 6, 9, 12]
    assert (race.verdict, race.wanted, len(race.values)) == ("open", 0, 40)


def test_sixty_equal_programs_are_told_apart_three_times_at_most() -> None:
    rng = np.random.default_rng(11)
    assert sum(raced(timed(rng, 0.0, 0.011)).verdict != "open" for _ in range(60)) <= 3


def test_three_per_cent_are_found_at_a_noise_of_one_per_cent_within_24_pairs() -> None:
    rng = np.random.default_rng(12)
    races = [raced(timed(rng, 0.03, 0.011)) for _ in range(60)]
    assert sum(race.verdict == "better" and len(race.values) <= 24 for race in races) >= 54


def test_ten_per_cent_take_hardly_more_than_the_first_pairs() -> None:
    rng = np.random.default_rng(13)
    counts = [len(raced(timed(rng, 0.10, 0.011)).values) for _ in range(60)]
    assert np.mean(counts) < 6


@pytest.mark.parametrize("noise", [normal, spiked, long_tailed])
@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_looking_often_does_not_raise_the_error(noise: Noise, floor: float) -> None:
    """At 2 %, 8 of 400 are expected at most, and more than 18 of them hardly ever."""
    rng = np.random.default_rng(14)
    races = [raced(noise(rng, 40) + floor, floor=floor) for _ in range(400)]
    assert sum(race.verdict != "open" for race in races) <= 18


def test_a_gain_must_clear_the_floor() -> None:
    rng = np.random.default_rng(15)
    races = [raced(0.03 + 0.011 * normal(rng, 40), floor=0.05) for _ in range(60)]
    assert {race.verdict for race in races} <= {"equal", "open"}


def test_what_lies_within_the_floor_is_equal() -> None:
    rng = np.random.default_rng(16)
    races = [raced(0.001 * normal(rng, 40), floor=0.01) for _ in range(20)]
    assert {race.verdict for race in races} == {"equal"}
    assert max(len(race.values) for race in races) < 40


@given(st.lists(st.floats(-1, 1), min_size=40, max_size=40), st.sampled_from([0.0, 0.1]))
@settings(max_examples=40, deadline=None)
def test_where_the_sides_change_places_the_verdict_is_turned_over(values: list[float], floor: float) -> None:
    turned = {"better": "worse", "worse": "better", "equal": "equal", "open": "open"}
    one, other = raced(np.array(values), floor=floor), raced(-np.array(values), floor=floor)
    assert (turned[one.verdict], len(one.values)) == (other.verdict, len(other.values))


def test_what_is_spent_adds_up_to_the_error() -> None:
    looks = (4, 6, 9, 13, 19, 28, 40)
    assert sum(spent_error(looks, look) for look in looks) == pytest.approx(ERROR)


def test_a_race_that_has_ended_takes_no_more() -> None:
    race = raced(np.arange(1.0, 41.0) / 1e3 + 1.0)
    assert race.verdict == "better"
    with pytest.raises(ValueError, match="the race has ended after 4 values"):
        race.add(-1.0)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_no_log_ratio(value: float) -> None:
    race = Race()
    with pytest.raises(ValueError, match="a log ratio is finite"):
        race.add(value)
    assert race.values == ()


@pytest.mark.parametrize(
    "options",
    [
        {"first": 1},
        {"first": 5, "most": 4},
        {"floor": -0.1},
        {"floor": math.inf},
    ],
)
def test_a_race_that_could_not_be_run_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="race"):
        Race(**options)
