"""Numbers of a report."""

import pytest

from evolve.pages.numbers import money, signed, time


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (signed(0.123456789, 6), "+0.1235"),
        (signed(-0.0000001, 3), "+0"),
        (signed(None, 3), "-"),
        (money(0.0), "0.00 usd"),
        (money(0.0123), "0.012 usd"),
        (money(1234.5), "1,234.50 usd"),
        (time(0.0123), "12.3 ms"),
        (time(125.0), "2 min 5 s"),
    ],
)
def test_a_number_has_the_digits_that_matter(told, expected):
    assert told == expected
