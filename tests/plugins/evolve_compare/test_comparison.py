"""A comparison as one value."""

from dataclasses import replace

import pytest

from evolve.types import ConfigError, Fitness
from evolve_compare.comparison import ComparisonQuestion, TargetValue, compare_arms, compare_outcomes
from evolve_compare.fairness import ComparedArm
from tests.plugins.evolve_compare.example_outcomes import CONDITIONS, arm, failed, run
from tests.written import short_campaign

BETTER = arm("climb", [10.0 + seed for seed in range(8)])
WORSE = arm("best_of_n", [1.0 + seed / 2 for seed in range(8)])


def test_everything_of_two_arms_is_in_it():
    """Values, bands, the test against the baseline."""
    found = compare_outcomes([BETTER, WORSE], ComparisonQuestion())
    assert (found.task, found.per, found.end, found.baseline) == ("number", "programs", 100.0, "best_of_n")
    assert [line.arm for line in found.lines] == ["climb", "best_of_n"]
    assert found.lines[0].finals == (10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0)
    assert found.lines[0].final == 13.5
    assert [band.middle[-1] for band in found.bands] == [13.5, 2.75]
    assert [(duel.arm, duel.verdict) for duel in found.duels] == [("climb", "better")]
    assert found.improved


def test_equal_questions_have_equal_answers():
    """Draws included; another seed draws otherwise."""
    assert compare_outcomes([BETTER, WORSE], ComparisonQuestion()) == compare_outcomes(
        [BETTER, WORSE], ComparisonQuestion()
    )
    assert compare_outcomes([BETTER, WORSE], ComparisonQuestion(seed=1)) != compare_outcomes(
        [BETTER, WORSE], ComparisonQuestion()
    )


def test_failed_campaigns_stay_in_every_figure():
    """Two of eight: they have no value, lose, and are told."""
    group = ComparedArm("climb", (*BETTER.outcomes[:6], failed(6, "climb"), failed(7, "climb")))
    found = compare_outcomes([group, WORSE], ComparisonQuestion())
    line = found.lines[0]
    assert (line.failed, line.finals[6:], len(line.campaigns)) == (2, (None, None), 8)
    assert {one.campaigns for one in found.reached} == {8}
    assert found.notes == ("climb: failed, and counted as worse than all others: climb-s6, climb-s7",)


def test_a_baseline_that_there_is_not_is_an_error():
    """With what is meant."""
    with pytest.raises(ConfigError, match=r"there is no arm 'clim'\. Did you mean 'climb'"):
        compare_outcomes([BETTER, WORSE], ComparisonQuestion(baseline="clim"))
    assert compare_outcomes([BETTER, WORSE], ComparisonQuestion(baseline="climb")).duels[0].verdict == "worse"


def test_what_is_equal_is_what_the_budget_counts():
    """Seconds, where all campaigns have so many; programs where they differ; what is asked for comes first."""
    timed = [
        ComparedArm(one.name, tuple(run(0, (5, 1.0), counted="seconds") for _ in range(2))) for one in (BETTER, WORSE)
    ]
    assert (compare_outcomes(timed, ComparisonQuestion()).per, compare_outcomes(timed, ComparisonQuestion()).end) == (
        "seconds",
        50.0,
    )
    assert compare_outcomes([timed[0], WORSE], ComparisonQuestion()).per == "programs"
    assert compare_outcomes(timed, ComparisonQuestion(per="programs")).per == "programs"


def test_open_campaigns_are_compared(tmp_path):
    """As the pages do; two of them conclude nothing."""
    with short_campaign(tmp_path, "first") as one, short_campaign(tmp_path, "second") as other:
        found = compare_arms({"a": [one], "b": [other]})
    assert [line.finals for line in found.lines] == [(6.5,), (6.5,)]
    assert [duel.verdict for duel in found.duels] == ["too few"]
    assert found.notes == ("a: its budget is not spent yet: first", "b: its budget is not spent yet: second")
    assert found.settings == {"a": {}, "b": {}}


def compare_one(*outcomes, **question):
    """A comparison of an arm with one whose campaigns failed, so that all figures follow from the first one."""
    fitness = outcomes[0].conditions.fitness
    rival = replace(failed(0, "b"), conditions=replace(CONDITIONS, fitness=fitness))
    return compare_outcomes([ComparedArm("a", outcomes), ComparedArm("b", (rival,))], ComparisonQuestion(**question))


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
    """As the user reads it; a target is reached from above."""
    found = compare_one(*minimised(1.0, 2.0, 4.0, 8.0), targets=(5.0,))
    assert band_at(found, 100.0) == (1.0, 3.0, 8.0)
    (reached,) = [one for one in found.reached if one.arm == "a" and one.target.value == 5.0]
    assert reached.reached == 3


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


def reach(*outcomes, **question):
    """The first arm's way to 5."""
    found = compare_one(*outcomes, targets=(5.0,), **question)
    return next(one for one in found.reached if one.arm == "a" and one.target.value == 5.0)


def test_the_middle_campaign_is_the_one_that_reached_a_target():
    """The first program that is as good counts, not a later one."""
    one = reach(run(0, (20, 5.0), (30, 9.0)), run(1, (40, 6.0)), run(2, (10, 4.0), (70, 5.0)))
    assert (one.reached, one.campaigns, one.median, one.low, one.high) == (3, 3, 40.0, 20.0, 70.0)


def test_a_campaign_that_never_reached_it_takes_longer_than_it_was_given():
    """Of four the larger one of the middle two is unknown, so that all that is known is that it is more."""
    one = reach(run(0, (20, 5.0)), run(1, (40, 6.0)), run(2, (10, 4.0)), failed(3))
    assert (one.reached, one.median, one.low, one.high) == (2, None, 20.0, None)


def test_limits_are_those_of_the_level_that_is_asked_for():
    """A lower one gives narrower limits."""
    outcomes = [run(seed, (10 * (seed + 1), 5.0)) for seed in range(9)]
    narrow, wide = reach(*outcomes, level=0.5), reach(*outcomes)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_value_after_the_end_does_not_count():
    """All have the same budget."""
    assert reach(run(0, (60, 5.0)), run(1, programs=50)).reached == 0


def test_targets_are_those_asked_for_anchors_and_values_of_campaigns():
    """An anchor that nobody reached is none, nor is a value that the seed program has; each value once."""
    conditions = replace(CONDITIONS, anchors=((2.5, "Somebody"), (9.0, "Else"), (0.0, "Early")))
    outcomes = [run(seed, (50, value), conditions=conditions) for seed, value in enumerate((1.0, 2.0, 3.0, 4.0))]
    found = compare_outcomes(
        [ComparedArm("a", tuple(outcomes)), ComparedArm("b", tuple(outcomes))], ComparisonQuestion(targets=(7.0,))
    )
    assert tuple(dict.fromkeys(one.target for one in found.reached)) == (
        TargetValue(2.5, "Somebody"),
        TargetValue(3.0, "half of all campaigns came to it"),
        TargetValue(4.0, "a tenth of all campaigns came to it"),
        TargetValue(7.0, "asked for"),
    )


def test_without_a_value_there_is_no_target():
    """All campaigns failed."""
    assert (
        compare_outcomes([ComparedArm("a", (failed(0),)), ComparedArm("b", (failed(0),))], ComparisonQuestion()).reached
        == ()
    )
