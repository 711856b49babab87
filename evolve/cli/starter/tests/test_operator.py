"""The operator keeps its promises, and does what it says."""

import pytest
from evolve import Program
from evolve.testing import check_operator, rehearse_proposal
from evolve.types import EditError

from evolve_starter.operator import Swap

PROGRAMS = [
    Program({"seed.py": "x = 1\ny = 2.5\n"}),
    Program({"seed.py": "def f():\n    return [3, 4, 5]\n", "more.py": "z = 6\n"}),
    Program({"seed.py": "nothing = None\n"}),
]


@pytest.mark.parametrize("swaps", [1, 3])
def test_it_keeps_the_promises_of_an_operator(swaps: int) -> None:
    """evolve's own suite: equal inputs give equal children, a child differs from its parent."""
    check_operator(lambda: Swap({"swaps": swaps}), PROGRAMS)


def test_it_swaps_two_numbers() -> None:
    """And nothing else."""
    (child,) = rehearse_proposal(Swap({}), PROGRAMS[0])
    assert child.program == Program({"seed.py": "x = 2.5\ny = 1\n"})


def test_without_two_numbers_there_is_nothing_to_change() -> None:
    """Which is no failure of the plugin."""
    with pytest.raises(EditError, match="no two different numbers"):
        rehearse_proposal(Swap({}), PROGRAMS[2])
