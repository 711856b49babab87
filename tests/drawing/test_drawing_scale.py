"""From values to places."""

import pytest

from evolve.drawing.scale import Scale, log_span, span


def test_places_are_in_proportion_and_stay_on_the_paper() -> None:
    scale = Scale(0.0, 10.0, 100.0, 200.0)
    assert [scale.place(value) for value in (-5.0, 5.0, 10.0, 99.0)] == [100.0, 150.0, 200.0, 200.0]


def test_each_power_of_ten_takes_the_same_room_and_zero_stands_at_the_beginning() -> None:
    scale = Scale(1.0, 100.0, 0.0, 200.0, log=True)
    assert pytest.approx([0.0, 0.0, 100.0, 200.0]) == [scale.place(value) for value in (0.0, 1.0, 10.0, 100.0)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], (0.0, 1.0)), ([0.0], (-1.0, 1.0)), ([2.0, 4.0], (1.0, 5.0)), ([1000.0], (999.0, 1001.0))],
)
def test_an_axis_has_a_width(values: list[float], expected: tuple[float, float]) -> None:
    assert expected == span(values, 0.5)


@pytest.mark.parametrize(
    ("values", "expected"), [([], (1.0, 10.0)), ([0.0, 5.0], (2.5, 10.0)), ([0.0, 2.0, 8.0], (2.0, 8.0))]
)
def test_a_logarithmic_axis_begins_above_zero(values: list[float], expected: tuple[float, float]) -> None:
    assert expected == log_span(values)
