"""Levels with their letters."""

from evolve.drawing import Level
from evolve.drawing.levels import named, outside
from evolve.drawing.scale import Scale

UP = Scale(0.0, 10.0, 200.0, 0.0)


def test_the_highest_comes_first_and_letters_keep_apart() -> None:
    found = named([Level(5.0, "seed"), Level(5.1, "anchor"), Level(30.0, "bound")], UP)
    assert [each.told for each in found] == ["above: bound", "a: anchor", "b: seed"]
    assert [(each.letter, each.line, each.text) for each in found[1:]] == [("a", 98.0, 98.0), ("b", 100.0, 110.0)]


def test_letters_stay_on_the_paper() -> None:
    found = named([Level(0.0, "low"), Level(0.1, "higher")], UP)
    assert [each.text for each in found] == [188.0, 200.0]


def test_a_single_level_needs_no_letter() -> None:
    assert [(each.told, each.letter) for each in named([Level(5.0, "seed")], UP)] == [("seed", "")]


def test_a_level_that_would_press_the_points_flat_is_outside() -> None:
    assert [outside(value, [1.0, 2.0]) for value in (3.9, 4.1, -0.9)] == [False, True, False]
    assert not outside(1e9, [])
    assert not outside(1e9, [1.0, 1.0])
