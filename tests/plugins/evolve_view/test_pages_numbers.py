"""Numbers of a report."""

import pytest

from evolve_view.chapters import format_money
from evolve_view.verdicts import format_signed, format_time


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (format_signed(0.123456789, 6), "+0.1235"),
        (format_signed(-0.0000001, 3), "+0"),
        (format_signed(None, 3), "-"),
        (format_money(0.0), "0.00 usd"),
        (format_money(0.0123), "0.012 usd"),
        (format_money(1234.5), "1,234.50 usd"),
        (format_time(0.0123), "12.3 ms"),
        (format_time(125.0), "2 min 5 s"),
    ],
)
def test_a_number_has_the_digits_that_matter(told, expected):
    assert told == expected
