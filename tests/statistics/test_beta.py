"""Facts about the incomplete beta function and what is made of it."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.statistics.beta import beta_quantile, binomial_at_most, incomplete_beta, student_quantile


@pytest.mark.parametrize(
    ("degrees", "level", "expected"),
    [
        (1, 0.95, 12.706204736),
        (3, 0.95, 3.182446305),
        (5, 0.99, 4.032142984),
        (9, 0.95, 2.262157163),
        (30, 0.95, 2.042272456),
        (100_000, 0.95, 1.959987708),
        (1, 0.997, math.tan(math.pi * 0.997 / 2)),
        (2, 0.997, 0.997 * math.sqrt(2 / (1 - 0.997**2))),
    ],
)
def test_students_t_has_the_quantiles_of_the_tables(degrees: int, level: float, expected: float) -> None:
    assert student_quantile(level, degrees) == pytest.approx(expected, rel=1e-9)


@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from([0.01, 0.25, 0.5, 0.9]))
@settings(max_examples=50, deadline=None)
def test_a_binomial_sum_is_the_sum_of_its_terms(trials: int, most: int, probability: float) -> None:
    chance = Fraction(probability)
    terms = (math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(min(most, trials) + 1))
    assert binomial_at_most(most, trials, probability) == pytest.approx(float(sum(terms)), abs=1e-12)


@given(st.floats(0.3, 2000), st.floats(0.3, 2000), st.floats(0.001, 0.999))
@settings(max_examples=50, deadline=None)
def test_the_quantile_is_where_the_function_reaches_the_probability(a: float, b: float, probability: float) -> None:
    """Between two neighbouring numbers."""
    found = beta_quantile(probability, a, b)
    assert incomplete_beta(math.nextafter(found, 0.0), a, b) <= probability + 1e-9
    assert incomplete_beta(found, a, b) >= probability - 1e-9


def test_outside_of_its_range_nothing_or_everything_lies_below() -> None:
    assert [incomplete_beta(x, 2.0, 3.0) for x in (-1.0, 0.0, 1.0, 2.0)] == [0.0, 0.0, 1.0, 1.0]
    assert [binomial_at_most(k, 5, 0.5) for k in (-1, 5, 6)] == [0.0, 1.0, 1.0]
