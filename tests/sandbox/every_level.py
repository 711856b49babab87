"""A box at each level of isolation that this machine has, for tests of what must hold at all of them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from standard_box import MEANS, PYTHON, needs_standard

from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import NOTHING, PLAIN, Means
from evolve.types import Limits, Program

_BEST = probe().means
LEVELS = [
    pytest.param((NOTHING, sys.executable), id="none"),
    pytest.param((PLAIN, sys.executable), id="reduced"),
    pytest.param((MEANS, PYTHON), id="standard", marks=needs_standard),
    pytest.param(
        (_BEST, sys.executable),
        id="strict",
        marks=pytest.mark.skipif(not _BEST.namespaces, reason="there is no box of that level here"),
    ),
]


def needs_numpy(box: Box) -> None:
    """Skips where candidates have none: arrays in shared memory are numpy's."""
    program = Program(
        {"seed.py": "import importlib.util\ndef f(): return importlib.util.find_spec('numpy') is not None\n"}
    )
    with box.open(program, "seed", 20) as session:
        if not session.call("f"):
            pytest.skip("the Python of candidates at this level has no numpy here")


@contextmanager
def opened(level: tuple[Means, str]) -> Iterator[Box]:
    """The box, until it is left."""
    means, python = level
    box = Box(Limits(memory=1 << 30), python, means=means)
    try:
        yield box
    finally:
        box.close()
