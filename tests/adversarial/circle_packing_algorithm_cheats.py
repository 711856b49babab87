"""Cheats of `circle_packing_algorithm`: tricks of a program that is called several times, with a limit of time."""

from cheat import Cheat

from evolve.types import Outcome

OK = frozenset({Outcome.OK})
FORM = "answers are parsed strictly: exact types, shapes, finite numbers"
FRESH = "each call has a process and a folder of its own"
POINTS = [[x / 10, y / 10] for y in range(1, 10, 2) for x in range(1, 10, 2)] + [[0.2, 0.2]]
GRID = {"seed.py": f"POINTS = {POINTS!r}\n\n\ndef pack(n, limit, seed):\n    return POINTS\n"}
"""A packing that stands in the program: honest with 26 circles."""
QUICK = {"limit": 0.2, "seeds": 2}
REMEMBERS = """
import os
import tempfile
from pathlib import Path

PLACES = ("left", os.path.expanduser("~/left"), tempfile.gettempdir() + "/left")
calls = []


def pack(n, limit, seed):
    met = [place for place in PLACES if Path(place).exists()]
    calls.append(seed)
    for place in PLACES:
        try:
            Path(place).write_text("1")
        except OSError:
            pass
    if met or len(calls) > 1:
        raise RuntimeError(f"an earlier call is known by {met or calls}")
    return GRID
"""
WORKS_ON = """
import os
import time


def pack(n, limit, seed):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    return GRID
"""


def grid(text: str) -> dict[str, str]:
    """A program with the grid as `GRID`."""
    return {"seed.py": f"GRID = {POINTS!r}\n{text}"}


def cheat(name: str, trick: str, rule: str, body: str, *outcomes: Outcome, **parameters: float) -> Cheat:
    """One whose `pack` does this."""
    source = f"def pack(n, limit, seed):\n    {body}\n"
    files = {"seed.py": source}
    return Cheat(
        "circle_packing_algorithm", name, trick, rule, files, frozenset(outcomes), parameters={**QUICK, **parameters}
    )


CHEATS = (
    cheat("own radii", "names radii of its own", FORM, "return [[0.5, 0.5, 9.0]] * n", Outcome.INVALID),
    cheat("fewer circles", "leaves circles out", FORM, "return [[0.5, 0.5]] * (n - 1)", Outcome.INVALID),
    cheat("a sum", "returns the score instead of an answer", "a claimed score is never read", "return 2.63", Outcome.INVALID),
    cheat(
        "hard cases",
        "fails on some seeds, so that they are left out of the mean",
        "a call that fails makes the program fail; none is left out",
        "raise ValueError(seed)",
        Outcome.CRASHED,
    ),
    cheat(
        "over time",
        "computes for longer than it may",
        "the judge's clock ends a call",
        "\n    while True: seed += 1",
        Outcome.TIMED_OUT,
    ),
    Cheat(
        "circle_packing_algorithm",
        "one size",
        "returns the answer to the one size of the search",
        "held-out cases have other sizes",
        GRID,
        frozenset({Outcome.INVALID}),
        parameters={**QUICK, "n": 29},
    ),
    Cheat(
        "circle_packing_algorithm",
        "remembers",
        "keeps what one call has found for the next, in its process and in files",
        FRESH,
        grid(REMEMBERS),
        OK,
        twin=GRID,
        parameters=QUICK,
    ),
    Cheat(
        "circle_packing_algorithm",
        "works on",
        "a helper process goes on when the answer was given",
        "all processes of a session end with it",
        grid(WORKS_ON),
        OK,
        twin=GRID,
        parameters=QUICK,
    ),
)  # fmt: skip
