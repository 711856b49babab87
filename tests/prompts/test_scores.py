"""Scores have the digits that tell them apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.prompts.scores import Scores, count_digits, format_number
from evolve.types import Fitness

values = st.lists(st.floats(-1e12, 1e12), max_size=12)


@pytest.mark.parametrize(
    ("scores", "digits", "texts"),
    [
        ([2.6358, 2.6449], 12, ["2.636", "2.645"]),
        ([2.63586276, 2.63598308], 12, ["2.6359", "2.636"]),
        ([2.6358627, 2.6358628], 12, ["2.6358627", "2.6358628"]),
        ([2.6358627, 2.6358628], 6, ["2.636", "2.636"]),
        ([1.0, 1.0, 1.0], 6, ["1", "1", "1"]),
        ([0.5], 2, ["0.5"]),
        ([123456.0], 4, ["1.235e+05"]),
        ([-0.0, 0.0], 3, ["0", "0"]),
        ([7.0], 0, ["7"]),
        ([], 6, []),
    ],
)
def test_scores_have_as_many_digits_as_they_need(scores: list[float], digits: int, texts: list[str]) -> None:
    """Four at least where the task has them, the task's at most."""
    shown = count_digits(scores, digits)
    assert texts == [format_number(score, shown) for score in scores]


@given(values, st.integers(0, 15))
def test_what_differs_within_the_tasks_digits_has_different_texts(scores: list[float], most: int) -> None:
    """And no digit is shown beyond them."""
    digits = count_digits(scores, most)
    assert digits <= max(1, most)
    assert len({format_number(score, digits) for score in scores}) == len(
        {format_number(score, max(1, most)) for score in scores}
    )


@given(values, st.randoms())
def test_digits_do_not_depend_on_the_order(scores: list[float], random: "st.DataObject") -> None:
    """Equal prompts have equal scores."""
    shuffled = list(scores)
    random.shuffle(shuffled)
    assert count_digits(scores, 9) == count_digits(shuffled, 9)


@pytest.mark.parametrize(
    ("direction", "new", "old", "told"),
    [
        ("max", 2.5, 2.4, "+0.1, better"),
        ("max", 2.4, 2.5, "-0.1, worse"),
        ("min", -4.9, -5.0, "-0.1, better"),
        ("min", -5.0, -4.9, "+0.1, worse"),
        ("max", 1.0000000001, 1.0, "no change"),
        ("min", 3.0, 3.0, "no change"),
    ],
)
def test_a_change_has_the_sign_that_the_user_sees(direction: str, new: float, old: float, told: str) -> None:
    """And says whether it is good."""
    scores = Scores(Fitness("score", "max" if direction == "max" else "min", 6), 6)
    assert told == scores.format_change(new, old)


@pytest.mark.parametrize(
    ("direction", "new", "error", "told"),
    [
        ("max", 2.503, 0.002, "+0.003, within the noise"),
        ("min", 2.503, 0.002, "-0.003, within the noise"),
        ("max", 2.496, 0.002, "-0.004, worse"),
        ("max", 2.504, 0.002, "+0.004, better"),
        ("max", 2.5, 0.002, "no change"),
    ],
)
def test_a_change_of_fewer_than_two_standard_errors_is_noise(
    direction: str, new: float, error: float, told: str
) -> None:
    """Neither better nor worse: nobody can know."""
    scores = Scores(Fitness("score", "max" if direction == "max" else "min", 6), 6)
    assert told == scores.format_change(new, 2.5, error * (1 - 1e-12))


def test_a_score_is_in_the_users_direction_with_its_error() -> None:
    """The engine's larger one is the user's smaller one."""
    scores = Scores.of(Fitness("length", "min", 8), [-4.98712, -4.98713])
    assert (scores.format(-4.98712, 0.00123), scores.format(-4.98712, 0.0)) == ("4.98712 ± 0.0012", "4.98712")
