"""How a report writes numbers that `wording` does not.

Invariant: pure."""

from evolve.stop import duration


def signed(value: float | None, digits: int) -> str:
    """A difference with its sign, `-` where there is none."""
    return "-" if value is None else f"{round(value, digits) + 0.0:+.4g}"


def money(value: float) -> str:
    """US dollars with the digits that matter."""
    return f"{value:,.2f} usd" if value >= 0.1 or not value else f"{value:.2g} usd"


def time(seconds: float) -> str:
    """`2 min 3 s`; less than a second in milliseconds."""
    return duration(seconds) if seconds >= 1.0 else f"{seconds * 1000:.3g} ms"
