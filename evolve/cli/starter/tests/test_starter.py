"""The operator keeps its promises, and swaps numbers."""

import pytest
from evolve import Program
from evolve.testing import check_operator, rehearse_proposal
from evolve.types import EditError

from evolve_starter import Swap

PROGRAMS = [
    Program({"seed.py": "x = 1\ny = 2.5\n"}),
    Program({"seed.py": "def f():\n    return [3, 4, 5]\n", "more.py": "z = 6\n"}),
]


def test_it_keeps_the_promises_of_an_operator() -> None:
    """evolve's own suite: equal inputs give equal children, a child differs from its parent."""
    check_operator(lambda: Swap({}), PROGRAMS)


def test_it_swaps_two_numbers() -> None:
    """Nothing else changes."""
    (child,) = rehearse_proposal(Swap({}), PROGRAMS[0])
    assert child.program == Program({"seed.py": "x = 2.5\ny = 1\n"})


def test_without_two_numbers_there_is_nothing_to_change() -> None:
    """It is no failure of the plugin."""
    with pytest.raises(EditError, match="no two different numbers"):
        rehearse_proposal(Swap({"suffix": ".c"}), PROGRAMS[0])
