"""A comparison as one value."""

from dataclasses import replace

import pytest

from evolve.types import ConfigError, Fitness
from evolve_compare.comparison import compare_outcomes
from evolve_compare.fairness import ComparedArm
from tests.plugins.evolve_compare.example_outcomes import CONDITIONS, arm, failed, run

BETTER = arm("climb", [10.0 + seed for seed in range(8)])
WORSE = arm("best_of_n", [1.0 + seed / 2 for seed in range(8)])


def test_everything_of_two_arms_is_in_it():
    """Values, bands, the test against the baseline."""
    found = compare_outcomes([BETTER, WORSE])
    assert (found.task, found.per, found.end, found.baseline) == ("number", "programs", 100.0, "best_of_n")
    assert [line.arm for line in found.lines] == ["climb", "best_of_n"]
    assert found.lines[0].finals == (10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0)
    assert found.lines[0].final == 13.5
    assert [band.middle[-1] for band in found.bands] == [13.5, 2.75]
    assert [(duel.arm, duel.verdict) for duel in found.duels] == [("climb", "better")]
    assert found.improved


def test_equal_outcomes_have_equal_comparisons():
    """Draws included."""
    assert compare_outcomes([BETTER, WORSE]) == compare_outcomes([BETTER, WORSE])


def test_failed_campaigns_stay_in_every_figure():
    """Two of eight: they have no value, lose, and are told."""
    group = ComparedArm("climb", (*BETTER.outcomes[:6], failed(6, "climb"), failed(7, "climb")))
    found = compare_outcomes([group, WORSE])
    line = found.lines[0]
    assert (line.failed, line.finals[6:], len(line.campaigns)) == (2, (None, None), 8)
    assert found.notes == ("climb: failed, and counted as worse than all others: climb-s6, climb-s7",)


def test_a_baseline_that_there_is_not_is_an_error():
    """With what is meant."""
    with pytest.raises(ConfigError, match=r"there is no arm 'clim'\. Did you mean 'climb'"):
        compare_outcomes([BETTER, WORSE], "clim")
    assert compare_outcomes([BETTER, WORSE], "climb").duels[0].verdict == "worse"


def test_what_is_equal_is_what_the_budget_counts():
    """Seconds, where all campaigns have so many; programs where they differ; what is asked for comes first."""
    timed = [
        ComparedArm(one.name, tuple(run(0, (5, 1.0), counted="seconds") for _ in range(2))) for one in (BETTER, WORSE)
    ]
    assert (compare_outcomes(timed).per, compare_outcomes(timed).end) == (
        "seconds",
        50.0,
    )
    assert compare_outcomes([timed[0], WORSE]).per == "programs"
    assert compare_outcomes(timed, per="programs").per == "programs"


def compare_one(*outcomes):
    """A comparison of an arm with one whose campaigns failed, so that all figures follow from the first one."""
    fitness = outcomes[0].conditions.fitness
    rival = replace(failed(0, "b"), conditions=replace(CONDITIONS, fitness=fitness))
    return compare_outcomes([ComparedArm("a", outcomes), ComparedArm("b", (rival,))])


def band_at(found, place: float) -> tuple[float, float, float]:
    """The band of the first arm at an amount."""
    band = found.bands[0]
    index = band.places.index(place)
    return band.low[index], band.middle[index], band.high[index]


def test_a_band_is_the_middle_with_its_limits():
    """Four campaigns: the mean of the second and the third, between the least and the largest."""
    found = compare_one(*arm("a", [1.0, 2.0, 4.0, 9.0]).outcomes)
    assert band_at(found, 0.0) == (0.0, 0.0, 0.0)
    assert band_at(found, 50.0) == band_at(found, 100.0) == (1.0, 3.0, 9.0)


def minimised(*values: float):
    """Campaigns whose fitness is to be minimised, from 9 at the beginning."""
    conditions = replace(CONDITIONS, fitness=Fitness("excess", "min", 3))
    return [
        run(seed, (0, 9.0), (50, value), seed_value=9.0, conditions=conditions) for seed, value in enumerate(values)
    ]


def test_of_a_fitness_to_minimise_the_low_limit_is_below():
    """As the user reads it."""
    found = compare_one(*minimised(1.0, 2.0, 4.0, 8.0))
    assert band_at(found, 100.0) == (1.0, 3.0, 8.0)


def test_one_campaign_has_a_line_and_no_band():
    """There is nothing to draw from; an arm whose campaigns all failed has neither."""
    found = compare_one(run(0, (50, 3.0)))
    assert band_at(found, 100.0) == (3.0, 3.0, 3.0)
    assert found.bands[1].places == ()


def test_a_band_has_a_place_wherever_something_changes():
    """From the beginning to the end, and none after it; of very many some."""
    found = compare_one(run(0, (33, 1.0), (70, 2.0)), run(1, (200, 3.0), programs=200))
    places = found.bands[0].places
    assert (places[0], places[-1]) == (0.0, 100.0)
    assert {33.0, 70.0} <= set(places)
    many = compare_one(run(0, *((place, float(place)) for place in range(1000)), programs=1000))
    assert len(many.bands[0].places) <= 160
