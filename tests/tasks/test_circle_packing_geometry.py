"""Facts about the judge's geometry of `circle_packing`."""

import math
from fractions import Fraction

import circles
import numpy as np
import packing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SQUARE = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]]


class Sly(float):
    """A number that compares as it likes."""

    def __lt__(self, other: object) -> bool:
        return True


def test_a_list_of_pairs_becomes_points() -> None:
    """Tuples, arrays and whole numbers are as good."""
    expected = ((0.25, 0.5), (1.0, 0.0))
    for answer in (
        [[0.25, 0.5], [1, 0]],
        ((0.25, 0.5), (1.0, 0.0)),
        np.array(expected),
        [np.array([0.25, 0.5]), [1, 0]],
    ):
        assert packing.centres_from(answer, 2) == expected
    assert packing.centres_from(np.array([[0, 1], [1, 1]], dtype=np.uint8), 2) == ((0.0, 1.0), (1.0, 1.0))


def test_points_outside_the_square_are_moved_to_its_border() -> None:
    """However far away they are."""
    answer = [[-0.5, 2], [1e300, -1e300], [10**400, -(10**400)], [5e-324, -5e-324]]
    assert packing.centres_from(answer, 4) == ((0.0, 1.0), (1.0, 0.0), (1.0, 0.0), (5e-324, 0.0))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "centres() must return a list of 2 pairs [x, y], got NoneType"),
        ("[[0, 0], [1, 1]]", "got str of length 16"),
        ({"0": [0, 0]}, "got dict of length 1"),
        pytest.param(10**5000, "got int", id="a whole number too long to print"),
        (2.5, "got float 2.5"),
        ([], "centres() must return 2 pairs [x, y], got 0"),
        ([[0.1, 0.1]], "centres() must return 2 pairs [x, y], got 1"),
        ([[0.1, 0.1]] * 3, "centres() must return 2 pairs [x, y], got 3"),
        (np.zeros((0, 2)), "got an array of shape (0, 2)"),
        (np.array(3.0), "got an array of shape ()"),
        (np.zeros((1 << 39, 0), np.int8), "got an array of shape (549755813888, 0)"),
        (np.zeros((2, 1 << 39, 0), np.int8), "got an array of shape (2, 549755813888, 0)"),
        (
            [[0.1, 0.1], np.zeros((1 << 39, 0), np.int8)],
            "centre 1 must be a pair [x, y], got an array of shape (549755813888, 0)",
        ),
        (
            [[np.zeros((1 << 39, 0)), 0.1], [0.1, 0.1]],
            "a coordinate of centre 0 must be a number, got an array of shape",
        ),
        ([[0.1, 0.1], [0.1]], "centre 1 must be a pair [x, y], got list of length 1"),
        ([[0.1, 0.1, 0.1], [0.1, 0.1]], "centre 0 must be a pair [x, y], got list of length 3"),
        ([0.1, 0.2], "centre 0 must be a pair [x, y], got float 0.1"),
        (["ab", "cd"], "centre 0 must be a pair [x, y], got str of length 2"),
        ([[[0.1], 0.2], [0.1, 0.2]], "a coordinate of centre 0 must be a number, got list of length 1"),
        ([[[[[]]], {}], [0.1, 0.2]], "a coordinate of centre 0 must be a number"),
        ([[0.1, 0.2], [True, 0.2]], "a coordinate of centre 1 must be a number, got bool True"),
        ([[0.1, 0.2], ["0.1", 0.2]], "a coordinate of centre 1 must be a number, got str of length 3"),
        ([[0.1, 0.2], [0.1, None]], "a coordinate of centre 1 must be a number, got NoneType"),
        ([[0.1, 0.2], [0.1, 1j]], "a coordinate of centre 1 must be a number, got complex 1j"),
        ([[0.1, 0.2], [0.1, Sly(0.5)]], "a coordinate of centre 1 must be a number, got Sly"),
        ([[0.1, 0.2], [0.1, np.float64(0.5)]], "a coordinate of centre 1 must be a number, got float64"),
        ([[0.1, 0.2], [0.1, math.nan]], "a coordinate of centre 1 must be finite, got nan"),
        ([[0.1, math.inf], [0.1, 0.2]], "a coordinate of centre 0 must be finite, got inf"),
        ([[-math.inf, 0.1], [0.1, 0.2]], "a coordinate of centre 0 must be finite, got -inf"),
        (np.full((2, 2), math.nan), "a coordinate of centre 0 must be finite, got nan"),
        (np.array([[0, 1], [1, 1]], dtype=bool), "a coordinate of centre 0 must be a number, got bool False"),
        (np.array([[0, 1], [1, 1]], dtype=complex), "a coordinate of centre 0 must be a number, got complex"),
    ],
)
def test_an_answer_of_another_form_is_refused(answer: object, message: str) -> None:
    """With what was got, and where."""
    with pytest.raises(ValueError) as caught:
        packing.centres_from(answer, 2)
    assert message in str(caught.value)


def test_four_circles_fill_the_quarters() -> None:
    """The radii are the best ones, but for the margin."""
    packed = packing.packed([tuple(point) for point in SQUARE])
    assert packed.radii == pytest.approx([0.25] * 4, abs=1e-14)
    assert packing.contacts(packed).pairs == ((0, 1), (0, 2), (1, 3), (2, 3))
    assert packing.contacts(packed).sides == ((0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 3))
    assert (packing.contacts(packed).at_walls, packed.radius_cv) == (4, 0.0)


def test_the_seed_has_its_known_value() -> None:
    """25 circles of radius 0.1, and one in a gap."""
    packed = packing.packed(circles.SEED)
    assert packed.total == pytest.approx(circles.SEED_TOTAL, abs=1e-13)
    assert packing.contacts(packed).at_walls == 16
    assert packed.radius_cv == pytest.approx(0.11524779946, abs=1e-9)


def test_one_circle_fills_the_square_and_all_in_one_corner_have_no_radius() -> None:
    """The smallest and the worst packing."""
    assert packing.packed([(0.5, 0.5)]).radii == pytest.approx([0.5], abs=1e-14)
    corner = packing.packed([(0.0, 1.0)] * 3)
    assert (corner.radii, corner.total, corner.radius_cv) == ((0.0, 0.0, 0.0), 0.0, 0.0)
    assert packing.contacts(corner) == packing.Contacts((), ())


@pytest.mark.parametrize(
    "centres",
    [
        [(0.5, 0.5)] * 26,
        [(0.5, 0.5), (0.5, 0.5), (0.25, 0.25)],
        [(5e-324, 5e-324), (1e-310, 0.5), (0.5, 1.0)],
        [(0.5, 0.5), (0.5 + 1e-16, 0.5), (0.5, 0.5 + 2e-16)],
        [(1e-9 * index, 1e-9 * index * index) for index in range(26)],
        [(0.5 + 1e-11 * index, 0.5 - 1e-11 * index) for index in range(26)],
    ],
)
def test_degenerate_centres_still_give_a_packing(centres: list[tuple[float, float]]) -> None:
    """Equal points, denormal and nearly equal ones."""
    packed = packing.packed(centres)
    exact = [(Fraction(x), Fraction(y)) for x, y in packed.centres]
    assert circles.overlaps(exact, [Fraction(radius) for radius in packed.radii]) == []


coordinate = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5, 0.1, 0.2, 5e-324, 1 - 2**-53])


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=12))
def test_what_is_packed_never_overlaps(centres: list[tuple[float, float]]) -> None:
    """Floats are compared as the fractions that they are, so the score in floating point is never too high."""
    packed = packing.packed(centres)
    exact = [(Fraction(x), Fraction(y)) for x, y in packed.centres]
    assert circles.overlaps(exact, [Fraction(radius) for radius in packed.radii]) == []


@pytest.mark.parametrize("seed", range(5))
def test_no_radius_can_be_better(seed: int) -> None:
    """By linear programming's duality each circle of positive radius touches something, or it could grow."""
    packed = packing.packed(circles.shaken(seed))
    touch = packing.contacts(packed)
    touching = {circle for pair in touch.pairs for circle in pair} | {circle for circle, _ in touch.sides}
    assert {index for index, radius in enumerate(packed.radii) if radius > packing.CONTACT} <= touching


def test_scores_do_not_depend_on_what_was_judged_before() -> None:
    """Equal centres have equal radii, to the last bit."""
    first = packing.packed(circles.shaken(1))
    packing.packed(circles.shaken(2))
    assert packing.packed(circles.shaken(1)) == first


@pytest.mark.parametrize("symmetry", range(8))
@pytest.mark.parametrize("seed", range(3))
def test_a_turned_mirrored_reordered_copy_has_the_same_fingerprint(seed: int, symmetry: int) -> None:
    """The square has eight symmetries."""
    centres = circles.shaken(seed)
    copy = circles.turned(centres, circles.SYMMETRIES[symmetry], seed + 10)
    assert packing.fingerprint(copy) == packing.fingerprint(centres)


def test_other_packings_have_other_fingerprints() -> None:
    """Ten packings with ten graphs of contacts."""
    prints = {packing.fingerprint(circles.shaken(seed)) for seed in range(10)}
    assert len(prints) == 10


def test_sides_that_meet_differ_from_sides_that_face_each_other() -> None:
    """The ring of sides is part of the graph: a row along one wall and two halves are told apart."""
    facing = packing.Contacts((), ((0, 0), (1, 2)))
    meeting = packing.Contacts((), ((0, 0), (1, 1)))
    also_meeting = packing.Contacts((), ((0, 3), (1, 0)))
    assert packing.graph_name(2, meeting) == packing.graph_name(2, also_meeting)
    assert packing.graph_name(2, facing) != packing.graph_name(2, meeting)


def test_a_preference_decides_between_equal_sums_and_costs_next_to_nothing() -> None:
    """Two circles in a row can share their distance as they like; the one farther from the middle gets it."""
    centres = ((0.4, 0.5), (0.5, 0.5))
    assert packing.packed(centres, preference=packing.PREFERENCE).radii == pytest.approx((0.1, 0.0), abs=1e-14)
    for seed in range(5):
        plain, preferred = (
            packing.packed(circles.shaken(seed), preference=weight).total for weight in (0.0, packing.PREFERENCE)
        )
        assert plain - 1e-5 <= preferred <= plain + 1e-13
