"""What is shown beside a text that is not there."""

from evolve.edits.matching import find_nearest

LINES = ["a = 1", "", "def f(x):", "y = x + 1", "return y", "", "def g(x):", "return x"]


def test_equal_lines_count_most() -> None:
    """At the place where most of them fit."""
    assert find_nearest(["def f(x):", "y = x + 2", "return y"], LINES) == (2, 5)


def test_else_the_line_that_is_most_alike() -> None:
    """And nothing, where nothing is like it."""
    assert find_nearest(["def gg(x)"], LINES) == (6, 8)
    assert find_nearest(["%%%%%%%%%%%%%%%%%"], LINES) is None
    assert find_nearest([], LINES) is None
