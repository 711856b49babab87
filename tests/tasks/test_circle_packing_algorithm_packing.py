"""Facts about the judge's geometry of `circle_packing_algorithm`."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import circles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_files import judging_files

packing = judging_files("circle_packing_algorithm").packing
elsewhere = judging_files("circle_packing").packing
PACKINGS = json.loads((Path(__file__).parents[1] / "data" / "circle_packings.json").read_text("utf-8"))
coordinate = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5, 0.1, 0.2, 5e-324, 1 - 2**-53])


def overlaps(found: Any) -> list[str]:
    """By brute force in fractions."""
    points = [(Fraction(x, packing.SCALE), Fraction(y, packing.SCALE)) for x, y in found.centres]
    return circles.overlaps(points, [Fraction(radius, packing.SCALE) for radius in found.radii])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=10))
def test_no_circles_overlap_and_the_sum_is_that_of_circle_packing(centres: list[tuple[float, float]]) -> None:
    """Whatever the centres: the other task's linear program and its own repair are the oracle, up to what the solver tolerates."""
    found = packing.packed(centres)
    assert overlaps(found) == []
    assert float(found.total) == pytest.approx(elsewhere.packed(centres).total, abs=2e-9)


@pytest.mark.parametrize("name", PACKINGS)
def test_good_packings_have_their_known_sum_and_walls(name: str) -> None:
    """Found by sequential linear programming from random starts."""
    centres = [(x, y) for x, y in PACKINGS[name]["centres"]]
    found = packing.packed(centres)
    assert overlaps(found) == []
    assert float(found.total) == pytest.approx(PACKINGS[name]["total"], abs=1e-12)
    assert found.at_walls == elsewhere.contacts(elsewhere.packed(centres)).at_walls


def test_the_grid_has_its_known_sum() -> None:
    """2.5 + (sqrt(2) - 1) / 10."""
    assert float(packing.packed(circles.SEED).total) == pytest.approx(circles.SEED_TOTAL, abs=1e-14)


def test_equal_centres_leave_no_room() -> None:
    """Both circles have radius 0, and touch nothing."""
    found = packing.packed([(0.5, 0.5), (0.5, 0.5)])
    assert (found.total, found.at_walls) == (0, 0)


def test_one_circle_fills_the_square() -> None:
    """There are no pairs then."""
    assert float(packing.packed([(0.5, 0.5)]).total) == pytest.approx(0.5, abs=1e-14)


@pytest.mark.parametrize(
    "answer",
    [
        [[0.25, 0.5], [1, 0]],
        np.array([[0.25, 0.5], [1.0, 0.0]]),
        [np.array([0.25, 0.5]), [1, 0]],
        [[0.25, 0.5], [1.5, -(10**400)]],
    ],
)
def test_pairs_of_numbers_are_centres(answer: object) -> None:
    """What lies outside the square is moved to its border."""
    assert packing.centres_from(answer, 2) == ((0.25, 0.5), (1.0, 0.0))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "pack\\(\\) must return a list of 2 pairs \\[x, y\\], got a NoneType"),
        ([], "got 0 of them"),
        ([[0.5, 0.5]] * 3, "got 3 of them"),
        ({"0": [0.5, 0.5]}, "got a dict"),
        ("ab", "got a str"),
        (np.zeros((3, 2)), "got an array of shape \\(3, 2\\)"),
        (np.zeros(()), "got an array of shape \\(\\)"),
        (np.zeros(2), "got an array of shape \\(2,\\)"),
        (np.zeros((1 << 39, 0), np.int8), "got an array of shape \\(549755813888, 0\\)"),
        (np.zeros((2, 1 << 39, 0), np.int8), "got an array of shape \\(2, 549755813888, 0\\)"),
        ([[0.1, 0.1], np.zeros((1 << 39, 0), np.int8)], "centre 1 must be a pair \\[x, y\\], got an array of shape"),
        ([[0.5, 0.5], [0.5]], "centre 1 must be a pair"),
        ([[0.5, 0.5, 0.1], [0.5, 0.5, 0.1]], "centre 0 must be a pair"),
        ([[0.5, 0.5], [0.5, math.nan]], "coordinate of centre 1 must be a finite number"),
        ([[0.5, 0.5], [math.inf, 0.5]], "coordinate of centre 1 must be a finite number"),
        ([[0.5, True], [0.5, 0.5]], "coordinate of centre 0 must be a finite number, got a bool"),
        ([[0.5, "0.5"], [0.5, 0.5]], "coordinate of centre 0 must be a finite number, got a str"),
        (np.ones((2, 2), bool), "got a bool"),
        (np.ones((2, 2), complex), "got a complex"),
    ],
)
def test_anything_else_is_refused(answer: object, message: str) -> None:
    """With what it is."""
    with pytest.raises(ValueError, match=message):
        packing.centres_from(answer, 2)
