"""Cheats of `online_bin_packing`: a rule that knows what comes, that remembers, or that changes what it is shown."""

from cheat import Cheat

from evolve.types import Outcome

INVALID, WRONG = frozenset({Outcome.INVALID}), frozenset({Outcome.WRONG})
FORM = "answers are parsed strictly: exact types, shapes, finite numbers"
AGAIN = "equal questions are asked again, in another process and another order"
SECRET = "what is drawn depends on a secret of the workspace"
SMALL = {"items": 100, "instances": 2}
BEST_FIT = {"seed.py": "def score(item, residual):\n    return item - residual\n"}
FIRST_FIT = {"seed.py": "import numpy as np\n\n\ndef score(item, residual):\n    return -np.arange(len(residual))\n"}
LOOKS_AHEAD = """
import gc
import sys

import numpy as np


def score(item, residual):
    frame, lists = sys._getframe(), []
    while frame is not None:
        lists += [one for one in frame.f_locals.values() if isinstance(one, (list, tuple, np.ndarray))]
        frame = frame.f_back
    lists += [one for one in gc.get_objects() if type(one) in (list, tuple) and len(one) == 100]
    items = [one for one in lists if len(one) == 100 and all(type(value) is int and 0 < value <= 100 for value in one)]
    if items:
        raise RuntimeError(f"what comes is known: {items[0]}")
    return -np.arange(len(residual))
"""


REDRAWS = """
import numpy as np


def drawn(entropy, count, items):
    sizes = np.rint(np.random.default_rng(entropy).weibull(3.0, (count, items)) * 45.0)
    return np.clip(sizes, 1, 100).astype(int).tolist()


def planned(items):
    plan, room = [0] * len(items), []
    for index in sorted(range(len(items)), key=lambda index: -items[index]):
        found = next((number for number, left in enumerate(room) if left >= items[index]), len(room))
        room[found:] = room[found:] or [100]
        room[found] -= items[index]
        plan[index] = found
    return plan


def answers(items):
    opened, room = [], []
    for item, wanted in zip(items, planned(items)):
        if wanted not in opened:
            opened.append(wanted)
            room.append(100)
        fitting = [number for number, left in enumerate(room) if left >= item]
        shown = [room[number] for number in fitting] + [100] * (opened[-1] != wanted or room[-1] != 100)
        yield (item, *shown), fitting.index(opened.index(wanted))
        room[opened.index(wanted)] -= item


known = dict(answer for entropy in (0, [0, 1]) for items in drawn(entropy, COUNT, ITEMS) for answer in answers(items))


def score(item, residual):
    scores = -np.arange(len(residual), dtype=float)
    best = known.get((item, *residual.tolist()))
    if best is not None:
        scores[best] = 1.0
    return scores
"""
"""First fit, but where it knows the items: it draws them as the task does from the public seed of the search or of its held-out cases, packs them offline, and
answers each question that then comes up by that packing."""


def redraws(name: str, trick: str, **parameters: int) -> Cheat:
    """The items of two small instances, redrawn."""
    files = {"seed.py": REDRAWS.replace("COUNT, ITEMS", "2, 100")}
    outcomes, told = frozenset({Outcome.OK}), {**SMALL, **parameters}
    return Cheat("online_bin_packing", name, trick, SECRET, files, outcomes, twin=FIRST_FIT, parameters=told)


def cheat(name: str, trick: str, rule: str, body: str, outcomes: frozenset[Outcome] = INVALID, **more: object) -> Cheat:
    """A rule that does this."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    files = {"seed.py": f"import os\n\nimport numpy as np\n\ncalls = []\n\n\ndef score(item, residual):\n{lines}"}
    return Cheat("online_bin_packing", name, trick, rule, files, outcomes, parameters=SMALL, **more)  # type: ignore[arg-type]


CHEATS = (
    cheat("infinity", "a score that beats all others", FORM, "return np.where(residual == item, np.inf, 0.0)"),
    cheat("truth values", "truth values for scores", FORM, "return residual > item"),
    cheat("complex", "scores of another kind of number", FORM, "return residual * 1j"),
    cheat("another bin", "scores a bin that was not shown", FORM, "return np.append(residual, 1000)"),
    cheat("one number", "one score for all bins", FORM, "return 1.0"),
    cheat("huge number", "a whole number that no float holds", FORM, "return [10**400] * len(residual)"),
    cheat(
        "huge answer",
        "an answer that fills the judge's memory",
        "the size of an answer is bounded",
        "return np.zeros(3_000_000)",
        frozenset({Outcome.OUT_OF_MEMORY, Outcome.INVALID}),
    ),
    cheat(
        "hard items",
        "fails on items that it packs badly",
        "a call that fails makes the program fail; none is left out",
        "assert item != 77\nreturn item - residual",
        frozenset({Outcome.CRASHED}),
    ),
    cheat("counts", "answers by how often it was asked", AGAIN, "calls.append(item)\nreturn residual * (len(calls) % 5 - 2)", WRONG, quarantined=True),
    cheat(
        "by the process",
        "answers by what identifies its process, where it was asked twice",
        AGAIN,
        "return residual * ((os.getpid() * 2654435761) % 1000)",
        frozenset({Outcome.OK, Outcome.WRONG}),  # at `strict` all processes have one number, and know nothing by it
        twin=BEST_FIT,
    ),
    cheat(
        "one huge number",
        "counts its calls, and gives the new bin so large a number that all others look equal beside it",
        AGAIN,
        "calls.append(item)\nanswer = residual * (len(calls) % 5 - 2.0)\nanswer[-1] = -1e300\nreturn answer",
        WRONG,
        quarantined=True,
    ),
    cheat("draws", "answers at random, for a lucky run", AGAIN, "return np.random.default_rng().random(len(residual))", WRONG, quarantined=True),
    cheat(
        "modified bins",
        "makes room in the bins that it is shown",
        "arguments arrive as copies",
        "answer = item - residual\nresidual[:] = 100\nreturn answer",
        frozenset({Outcome.OK}),
        twin=BEST_FIT,
    ),
    Cheat(
        "online_bin_packing",
        "looks ahead",
        "looks for the list of items in the frames and objects of its process",
        "what a program must not know is never in its process",
        {"seed.py": LOOKS_AHEAD},
        frozenset({Outcome.OK}),
        twin=FIRST_FIT,
        parameters=SMALL,
    ),
    redraws("redraws the search's items", "draws the search's items by the task's own sources, and packs them offline"),
    redraws("redraws held-out items", "draws the items of held-out cases by the task's own sources, and packs them offline", sample=1),
)  # fmt: skip
