"""Charts have few points, whatever a campaign has."""

import pytest

from evolve.report import Point
from evolve.types import ConfigError
from evolve.web.drawn import axis, best_so_far, curve_chart, measured_again, thinned
from tests.written import Written, number_task, short_campaign


@pytest.mark.parametrize(("count", "most", "kept"), [(0, 5, 0), (5, 5, 5), (6, 5, 5), (100_000, 2_000, 2_000)])
def test_thinned_keeps_the_first_and_the_last(count, most, kept):
    values = list(range(count))
    found = thinned(values, most)
    assert len(found) == kept
    assert list(found[:1]) == values[:1]
    assert list(found[-1:]) == values[-1:]
    assert sorted(set(found)) == list(found)


def test_a_curve_is_drawn_against_what_was_spent():
    assert axis("") == "programs"
    assert axis("money") == "money"
    with pytest.raises(ConfigError, match="got 'fame'"):
        axis("fame")


def point(programs: int, fitness: float, *, confirmed: bool = False) -> Point:
    return Point(programs, programs, 2.0 * programs, 0, 0, 0.0, fitness, confirmed)


def test_the_last_point_is_now_and_no_measurement():
    points = (point(0, 5.0), point(3, 6.0, confirmed=True), point(9, 6.0, confirmed=True))
    assert best_so_far("a", points, "seconds").x == (0.0, 6.0, 18.0)
    assert measured_again(points, "programs", 10).x == (3.0,)


def test_the_chart_has_the_seed_and_the_anchors_as_levels(tmp_path):
    with short_campaign(tmp_path) as campaign:
        chart = curve_chart(campaign, "programs")
    assert [(level.name, level.value) for level in chart.levels] == [("Early", 3.0), ("Later 2025", 8.0), ("seed", 5.0)]
    assert (chart.series[0].y, chart.y) == ((5.0, 6.0, 6.5, 6.5), "nearness")


def test_the_best_of_a_noisy_task_is_a_level_with_its_limits(tmp_path):
    written = Written(tmp_path, number_task(deterministic=False, anchors=()))
    written.seed(5.0)
    for value in (5.2, 4.8, 5.1, 4.9):
        written.again(1, value)
    with written.campaign as campaign:
        chart = curve_chart(campaign, "programs")
    best = chart.levels[-1]
    assert best.low is not None
    assert best.high is not None
    assert best.low < best.value < best.high
    assert [one.marks for one in chart.series] == [False, True]
