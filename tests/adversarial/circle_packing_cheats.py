"""Cheats of `circle_packing`: the answer stands in the program, so that all tricks are in what it answers."""

from cheat import Cheat

from evolve.types import Outcome

SEED = 2.541421356237310
"""The seed's sum of radii, rounded up."""
OK = frozenset({Outcome.OK})
INVALID = frozenset({Outcome.INVALID})
FORM = "answers are parsed strictly: exact types, shapes, finite numbers"
REPAIR = "answers are repaired before they count, and then nothing is tolerated"
APART = "judge and program are two processes"
GRID = "[[x / 10, y / 10] for y in range(1, 10, 2) for x in range(1, 10, 2)]"


def program(body: str, before: str = "") -> dict[str, str]:
    """A program whose `centres` does this."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return {"seed.py": f"{before}\n\ndef centres():\n{lines}"}


def cheat(name: str, trick: str, rule: str, files: dict[str, str], outcomes: frozenset[Outcome] = INVALID) -> Cheat:
    """One that has at most the seed's score where it is OK."""
    return Cheat("circle_packing", name, trick, rule, files, outcomes, SEED if outcomes == OK else None)


CHEATS = (
    cheat("own radii", "names larger radii than there is room for", FORM, program("return [[0.5, 0.5, 0.5]] * 26")),
    cheat(
        "claimed sum",
        "returns the sum that it would like beside its centres",
        "a claimed score is never read",
        program(f"return {{'centres': {GRID} + [[0.2, 0.2]], 'sum': 2.9}}"),
    ),
    cheat("NaN", "hides in NaN, which no comparison finds", FORM, program("return [[float('nan'), 0.5]] * 26")),
    cheat("infinity", "a coordinate without a bound", FORM, program("return [[float('inf'), 0.5]] * 26")),
    cheat("no centres", "an empty answer, about which nothing is wrong", FORM, program("return []")),
    cheat(
        "empty array",
        "an array of no numbers and of any length, to exhaust the judge",
        FORM,
        program("import numpy as np\nreturn np.empty((1 << 40, 0))"),
    ),
    cheat("truth values", "truth values for numbers", FORM, program("return [[True, False]] * 26")),
    cheat("outside", "a larger square", REPAIR, program(f"return [[9 * x, 9 * y] for x, y in {GRID}] + [[9, 4]]"), OK),
    cheat("one point", "all circles in one place", REPAIR, program("return [[0.5, 0.5]] * 26"), OK),
    cheat("denormal", "distances that vanish in rounding", REPAIR, program("return [[5e-324 * n, 1e-300] for n in range(26)]"), OK),
    cheat(
        "own comparison",
        "numbers that claim to be smaller than all others",
        "subclasses arrive as the plain values that they hold",
        program(
            f"return [[Small(x), Small(y)] for x, y in {GRID}] + [[Small(0.2), Small(0.2)]]",
            "class Small(float):\n    __lt__ = __le__ = __eq__ = __gt__ = __ge__ = lambda self, other: True\n"
            "    __hash__ = float.__hash__\n",
        ),
        OK,
    ),
    cheat(
        "patched libraries",
        "replaces what the judge would compute with",
        APART,
        program(
            f"return {GRID} + [[0.2, 0.2]]",
            "import json\nimport math\nimport sys\n\nimport numpy\n\n"
            "math.fsum = numpy.min = numpy.hypot = json.dumps = json.loads = lambda *a, **k: 100.0\n"
            "sys.modules['packing'] = sys.modules['highspy'] = math\n",
        ),
        OK,
    ),
)  # fmt: skip
