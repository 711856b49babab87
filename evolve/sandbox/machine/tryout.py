"""A dozen cases of the corpus in a real box: whether the means hold what their level promises, on this machine and now.

Each of them is quick, and harmless where it succeeds. Invariant: nothing that was made for them is left."""

import sys
from dataclasses import replace

from evolve.sandbox.box import Box
from evolve.sandbox.corpus.all import CASES
from evolve.sandbox.corpus.case import Case
from evolve.sandbox.corpus.runner import RedTeam
from evolve.sandbox.means import Means
from evolve.types import Level, Limits, SandboxError

NAMES = (
    "leak.secret_file",
    "leak.env",
    "fs.write_grader",
    "fs.chmod_outside",
    "kill.sibling",
    "trace.mem",
    "net.tcp",
    "net.vsock",
    "ns.userns",
    "priv.nnp",
    "kern.io_uring",
    "ipc.sysv",
)
"""One for each thing that a level from `standard` on promises."""
QUICK = tuple(case for case in CASES if case.name in NAMES)
ANSWER = Case("probe.answer", "answer", "def attack(told):\n    return 42\n", must="answer", answer="42")
"""A program that means no harm."""


def failure(means: Means, python: str = sys.executable) -> str:
    """Why these means are not had for candidates in the interpreter `python`; empty where they hold what their level promises.
    A cause and no remedy."""

    def box(limits: Limits) -> Box:
        # The interpreter may have nothing but the standard library.
        return Box(replace(limits, preload=()), python, means=means)

    try:
        with RedTeam(box) as team:
            return _first_failure(team, means.level)
    except SandboxError as error:
        cause, _, _ = str(error).partition(". Do: ")
        return f"the box does not start: {cause}"


def _first_failure(team: RedTeam, level: Level) -> str:
    promised = [case for case in QUICK if level.reaches(Level.STANDARD) and level not in case.exempt]
    for case in (ANSWER, *promised):
        result = team.attack(case)
        if result.verdict == "breach":
            return f"the case {case.name} ({case.tries}) is not held: {result.why}"
    return ""
