"""A piece of a file, and a file that does without a piece of the old one."""

import pytest

from evolve.edits import EditFailed
from evolve.edits.parts import refuse_part

OLD = "import math\n\nRATE = 2\n\n\ndef step(x):\n    return math.sin(RATE * x)\n\n\ndef run(x):\n    return step(x)\n\n\ndef unused():\n    pass\n"


@pytest.mark.parametrize(
    ("new", "name"),
    [
        ("def step(x):\n    return x\n", "run"),
        ("def run(x):\n    return step(x)\n", "step"),
        ("def run(x):\n    return math.cos(x)\n", "math"),
        ("def run(x):\n    return RATE * x\n", "RATE"),
        ("print(run(3))\n", "run"),
    ],
)
def test_a_piece_lacks_what_it_uses_or_what_others_call(new: str, name: str) -> None:
    """The name is told."""
    with pytest.raises(EditFailed, match=rf"seed.py that was shown defines '{name}', and the new one (uses|does not)"):
        refuse_part(new, OLD, "seed.py")


@pytest.mark.parametrize(
    "new",
    [
        "def run(x):\n    return x\n",
        "from math import *\n\n\ndef run(x):\n    return RATE * x\n",
        "def run(RATE):\n    return [step for step in range(RATE)]\n",
        "run = abs\n",
        "def run(x:\n",
    ],
)
def test_a_text_that_does_without_the_rest_is_whole(new: str) -> None:
    """Functions that nobody called may go, and so may those that are not needed any more."""
    refuse_part(new, OLD, "seed.py")


def test_what_stays_around_a_block_may_be_used() -> None:
    """And other languages are not looked into."""
    refuse_part("def run(x):\n    return step(x)\n", OLD, "seed.py", around="def step(x):\n    return x\n")
    refuse_part("int step;", OLD, "seed.c")


def test_what_stays_around_a_block_needs_what_the_block_defines() -> None:
    """The name would be unknown there."""
    with pytest.raises(EditFailed, match="'step', and the new one does not"):
        refuse_part(
            "def run(x):\n    return x\n",
            "def step(x):\n    return x\n\n\ndef run(x):\n    return x\n",
            "seed.py",
            "step(1)\n",
        )


def test_how_a_file_is_used_is_no_file() -> None:
    """Though it binds the names that others call."""
    with pytest.raises(EditFailed, match=r"imports lib/seed.py itself"):
        refuse_part("from seed import run\nprint(run(1))\n", OLD, "lib/seed.py")
