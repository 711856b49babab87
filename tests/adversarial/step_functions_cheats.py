"""Cheats of `step_functions`: numbers at the edge of what floats can say, and time that is not told."""

from cheat import Cheat

from evolve.types import Outcome

OK, INVALID = frozenset({Outcome.OK}), frozenset({Outcome.INVALID})
FORM = "answers are parsed strictly: exact types, shapes, finite numbers"
REPAIR = "answers are repaired before they count, and then nothing is tolerated"
CLOCK = "the judge reads the processor time of all processes of the program"
QUICK = {"limit": 0.05}
CONSTANT = 2.0 / 3.0
FLAT = {"seed.py": "def construct(kind, n, limit, seed, start):\n    return [0.5] * n\n"}
BURN = "import os, time\nend = time.process_time() + 6 * limit\nwhile time.process_time() < end: pass\n"
THREADS = """import os, time
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        end = time.process_time() + 3 * limit
        while time.process_time() < end: pass
        os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
"""


def cheat(name: str, trick: str, rule: str, body: str, outcomes: frozenset[Outcome] = INVALID) -> Cheat:
    """A program whose `construct` does this; where it is OK it is no better than a constant."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    files = {"seed.py": f"def construct(kind, n, limit, seed, start):\n{lines}"}
    most = CONSTANT if outcomes == OK else None
    return Cheat("step_functions", name, trick, rule, files, outcomes, most, twin=FLAT, parameters=QUICK)


CHEATS = (
    cheat("negative steps", "steps that cancel, so that their integral vanishes", REPAIR, "return [1.0] + [-1.0 / n] * (n - 1)", OK),
    cheat("denormal", "steps at the end of what floats can say", REPAIR, "return [1.0] + [5e-324] * (n - 1)", OK),
    cheat("huge", "steps whose squares no float holds", REPAIR, "return [1e308] * n", OK),
    cheat("vanishing", "steps that add up to nothing", FORM, "return [0.0] * n"),
    cheat("more steps", "more steps than were asked for", FORM, "return [0.5] * (2 * n)"),
    cheat("truth values", "truth values for numbers", FORM, "return [True] * n"),
    cheat("NaN", "hides in NaN, which no comparison finds", FORM, "return [float('nan')] * n"),
    cheat("claimed ratio", "returns the ratio that it would like", "a claimed score is never read", "return {'steps': [0.5] * n, 'ratio': 0.97}"),
    cheat("over time", "uses more processor time than it may", CLOCK, BURN + "return [0.5] * n", frozenset({Outcome.TIMED_OUT})),
    cheat("helpers", "lets helper processes use the time", CLOCK, THREADS + "return [0.5] * n", frozenset({Outcome.TIMED_OUT})),
    cheat(
        "stopped clock",
        "patches the clock by which it would be told to stop",
        CLOCK,
        "import time\ntime.process_time = time.perf_counter = lambda: 0.0\nwork = 0\nfor _ in range(10_000_000): work += 1\nreturn [0.5] * n",
        frozenset({Outcome.TIMED_OUT}),
    ),
)  # fmt: skip
