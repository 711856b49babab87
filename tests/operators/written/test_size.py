"""The wanted size of a change."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_scenes import PROGRAM

from evolve.operators.written.size import changeable_lines, in_words, wanted_lines
from evolve.types import Program


@given(st.integers(0, 5_000), st.floats(0.0, 10.0), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_at_least_one_line_and_at_most_half_of_them(lines: int, exponent: float, seed: int) -> None:
    assert 1 <= wanted_lines(lines, exponent, np.random.default_rng(seed)) <= max(1, lines // 2)


def test_a_size_is_drawn_with_a_probability_in_proportion_to_its_power() -> None:
    rng, most = np.random.default_rng(3), 20
    counts = Counter(wanted_lines(2 * most, 1.5, rng) for _ in range(20_000))
    total = sum(k**-1.5 for k in range(1, most + 1))
    for size in (1, 2, 5, 10):
        assert counts[size] / 20_000 == pytest.approx(size**-1.5 / total, rel=0.15)


def test_with_exponent_zero_every_size_is_as_likely() -> None:
    rng = np.random.default_rng(3)
    counts = Counter(wanted_lines(20, 0.0, rng) for _ in range(10_000))
    assert set(counts) == set(range(1, 11))
    assert max(counts.values()) < 1.2 * min(counts.values())


def test_only_lines_that_may_change_count_and_empty_ones_do_not() -> None:
    assert changeable_lines(PROGRAM) == 3
    assert changeable_lines(Program({"a.py": "x = 1\n\ny = 2\n", "b.txt": "z"})) == 3


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (1, "Choose a change that touches one line, of 40 that may change."),
        (7, "Choose a change that touches about 7 lines, of 40 that may change."),
    ],
)
def test_the_wish_in_words(wanted: int, words: str) -> None:
    assert in_words(wanted, 40) == words
