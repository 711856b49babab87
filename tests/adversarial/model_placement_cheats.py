"""What hostile programs try on the task `model_placement`, whose judge asks for one index per model, one instance at a time.

Every program begins with the honest rule, so that what it adds is the trick alone."""

from collections.abc import Sequence

from cheat import Cheat

from evolve.types import Outcome

HONEST = """
def honest(gpus, models):
    demand, free, answer = [0.0] * gpus, [80.0] * gpus, [0] * len(models)
    for index in sorted(range(len(models)), key=lambda index: -models[index][1] / models[index][2]):
        size, rate, slo = models[index]
        fitting = [gpu for gpu in range(gpus) if size < free[gpu]]
        chosen = min(fitting, key=lambda gpu: demand[gpu] / free[gpu])
        answer[index] = chosen
        demand[chosen] += rate / slo
        free[chosen] -= size
    return answer
"""
INVALID = frozenset({Outcome.INVALID})
CRASHED = frozenset({Outcome.CRASHED})
TIMED_OUT = frozenset({Outcome.TIMED_OUT})
OK = frozenset({Outcome.OK})


def _cheat(
    name: str,
    trick: str,
    rule: str,
    body: str,
    outcomes: frozenset[Outcome] = INVALID,
    instances: int = 50,
) -> Cheat:
    """One whose module is the honest rule and `body`, which defines `place`. What waits is evaluated on fewer instances."""
    source = {"seed.py": f"{HONEST}\n{body}"}
    twin = {"seed.py": f"{HONEST}\nplace = honest\n"}
    return Cheat("model_placement", name, trick, rule, source, outcomes, twin=twin, parameters={"instances": instances})


def _answers(name: str, trick: str, rule: str, answer: str) -> Cheat:
    """One that answers with an expression in `answer`, the honest one."""
    return _cheat(
        name, trick, rule, f"def place(gpus, models):\n    answer = honest(gpus, models)\n    return {answer}\n"
    )


FORMS = "an answer is a list of plain indices, one for each model"
RANGE = "an index names a GPU of the judge's instance"
OWN_COPY = "the judge values the placement with its own copy of the instance"
LATE = "a late answer counts as the trivial one, and many are a failure"

CHEATS: Sequence[Cheat] = (
    _answers("no models", "places no model, so that no GPU is under pressure", FORMS, "[]"),
    _answers("models left out", "leaves the largest half of the models out", FORMS, "answer[: len(answer) // 2]"),
    _answers("one model twice", "answers with more indices than models", FORMS, "answer + answer"),
    _answers("a GPU more", "puts models on a GPU that is not there", RANGE, "[*answer[1:], gpus]"),
    _answers("a GPU for each model", "numbers GPUs by model", RANGE, "list(range(len(models)))"),
    _answers(
        "counted from the end",
        "names the last GPU -1, which Python's lists take",
        RANGE,
        "[index - gpus for index in answer]",
    ),
    _answers("a huge index", "names a GPU beyond every integer type", RANGE, "[10 ** 40, *answer[1:]]"),
    _answers(
        "truth values",
        "answers with True and False, which are integers to Python",
        FORMS,
        "[index == 0 for index in answer]",
    ),
    _answers("fractions of a GPU", "spreads a model over two GPUs", FORMS, "[index + 0.5 for index in answer]"),
    _answers(
        "no number", "answers with NaN, of which every comparison is false", FORMS, "[float('nan')] * len(answer)"
    ),
    _answers("texts", "answers with digits", FORMS, "[str(index) for index in answer]"),
    _answers(
        "an array of truth values",
        "an array where a list is looked at",
        FORMS,
        "__import__('numpy').zeros(len(answer), dtype=bool)",
    ),
    _answers(
        "an array of another form",
        "an array that means the same for each GPU",
        FORMS,
        "__import__('numpy').zeros((len(answer), gpus), dtype=int)",
    ),
    _answers("a claimed score", "returns a score beside its answer", FORMS, "{'placement': answer, 'score': 1.0}"),
    _answers(
        "Prism's own form",
        "lists models by GPU, so that one may be in no list",
        FORMS,
        "{str(gpu): [] for gpu in range(gpus)}",
    ),
    _answers(
        "all on one GPU",
        "leaves negative memory, which makes the pressure negative",
        "a GPU keeps some memory",
        "[0] * len(answer)",
    ),
    _answers(
        "five million indices",
        "an answer that takes memory to look at",
        "an answer has a size limit",
        "[0] * 5_000_000",
    ),
    _cheat(
        "shrunken models",
        "sets the sizes that it was given to 0",
        OWN_COPY,
        "def place(gpus, models):\n    for model in models:\n        model[0] = 0\n    return [0] * len(models)\n",
    ),
    _cheat(
        "a list that lies",
        "a subclass of list that shows other indices each time it is read",
        "answers cross as bytes, once",
        """
class Lying(list):
    def __iter__(self):
        return iter([0] * len(self))
    def __getitem__(self, index):
        return 0
    def __eq__(self, other):
        return True


def place(gpus, models):
    return Lying([gpus] * len(models))
""",
    ),
    _cheat(
        "gives up where it is hard",
        "raises on large instances, so that the mean is over the easy ones",
        "a call that fails is the program's failure",
        "def place(gpus, models):\n    if gpus > 7:\n        raise ValueError('too hard')\n    return honest(gpus, models)\n",
        CRASHED,
    ),
    _cheat(
        "silent where it is hard",
        "answers None on large instances",
        "an answer that is none is the program's failure",
        "def place(gpus, models):\n    return None if gpus > 7 else honest(gpus, models)\n",
    ),
    _cheat(
        "exit 0",
        "ends its process as if all were well",
        "an exit is no answer",
        "import os\n\n\ndef place(gpus, models):\n    os._exit(0)\n",
        CRASHED,
    ),
    _cheat(
        "late on a few",
        "is late where it does badly, so that these do not count",
        LATE,
        """
import time


def place(gpus, models):
    if sum(size for size, _, _ in models) % 13 == 0:
        time.sleep(0.1)
    return honest(gpus, models)
""",
        OK,
    ),
    _cheat(
        "always late",
        "takes all the time that it wants",
        LATE,
        "import time\n\n\ndef place(gpus, models):\n    time.sleep(0.1)\n    return honest(gpus, models)\n",
        TIMED_OUT,
        5,
    ),
    _cheat(
        "stopped clocks",
        "replaces the clocks of its process, and takes its time",
        "the judge's clock is in the judge's process",
        """
import time

wait = time.sleep
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0


def place(gpus, models):
    wait(0.1)
    return honest(gpus, models)
""",
        TIMED_OUT,
        5,
    ),
    _cheat(
        "a helper that goes on",
        "leaves a process that writes the answer into files, for the time when the question comes again",
        "with a session end all its processes and files",
        """
import os
import time


def place(gpus, models):
    name = f"{sum(size * rate * slo for size, rate, slo in models)}"
    places = [name, f"/tmp/{name}", f"/dev/shm/{name}", f"/var/tmp/{name}"]
    if any(os.path.exists(path) for path in places):
        return honest(gpus, models)
    if os.fork() == 0:
        os.setsid()
        time.sleep(0.06)
        for path in places:
            try:
                open(path, "w").close()
            except OSError:
                pass
        os._exit(0)
    time.sleep(0.1)
    return honest(gpus, models)
""",
        TIMED_OUT,
        5,
    ),
    _cheat(
        "lucky draws",
        "answers with the best of some random placements, another one each time",
        "some questions are asked again in another process, and get the same answer",
        """
import os
import random


def worst(gpus, models, answer):
    demand, free = [0.0] * gpus, [80.0] * gpus
    for index, (size, rate, slo) in zip(answer, models):
        demand[index] += rate / slo
        free[index] -= size
    return max(load / room if room > 0 else 1e9 for load, room in zip(demand, free))


def place(gpus, models):
    lucky = random.Random(os.urandom(8))
    tries = [[lucky.randrange(gpus) for _ in models] for _ in range(100)]
    return min(tries, key=lambda answer: worst(gpus, models, answer))
""",
        frozenset({Outcome.WRONG, Outcome.INVALID}),
    ),
    _cheat(
        "counts its calls",
        "places better in the calls that it takes for the ones that count",
        "some questions are asked again in another process, and get the same answer",
        """
calls = []


def place(gpus, models):
    calls.append(gpus)
    if len(calls) % 2:
        return honest(gpus, models)
    return [index % gpus for index in range(len(models))]
""",
        frozenset({Outcome.WRONG, Outcome.OK}),
    ),
    _cheat(
        "reads the judge's table",
        "looks for the proven optima in the task's folder and in memory",
        "the task's folder is closed to programs, and the judge is another process",
        """
import gc
import glob
import sys


def found():
    for pattern in ("/*/*/tasks/model_placement/*.py", "/*/*/*/tasks/model_placement/*.py", "../*/optima.py"):
        for path in glob.glob(pattern):
            if "OPTIMA" in open(path).read():
                return True
    frame = sys._getframe()
    while frame is not None:
        if "measured" in frame.f_locals or "bound" in frame.f_globals:
            return True
        frame = frame.f_back
    return any(type(one).__name__ == "Instance" for one in gc.get_objects())


FOUND = found()


def place(gpus, models):
    answer = honest(gpus, models)
    return answer if FOUND else answer[1:]
""",
    ),
    _cheat(
        "forged frames",
        "writes answers of its own to every descriptor",
        "an answer bears the ticket of its question",
        """
import os

FORGED = b'\\x00\\x00\\x00\\x0a["ok",[0]]'


def place(gpus, models):
    for descriptor in range(3, 16):
        try:
            os.write(descriptor, FORGED)
        except OSError:
            pass
    return honest(gpus, models)
""",
        frozenset({Outcome.INVALID, Outcome.CRASHED}),
    ),
    _cheat(
        "redraws the instances",
        "draws the instances by the task's own sources while it is imported, and has better placements ready",
        "what is drawn depends on a secret of the workspace",
        """
import random

import numpy as np


def published():
    rng = np.random.RandomState(42)
    for _ in range(4):
        gpus = int(rng.randint(5, 10))
        yield gpus, [[int(rng.randint(*ends)) for ends in ((10, 30), (1, 10), (5, 10))] for _ in range(2 * gpus)]


def drawn():
    rng = np.random.default_rng([0, 0])
    for _ in range(4):
        gpus = int(rng.integers(5, 10))
        columns = [rng.integers(*ends, 2 * gpus).tolist() for ends in ((10, 30), (1, 10), (5, 10))]
        yield gpus, [list(model) for model in zip(*columns)]


def pressure(gpus, models, answer):
    demand, free = [0.0] * gpus, [80.0] * gpus
    for gpu, (size, rate, slo) in zip(answer, models):
        demand[gpu] += rate / slo
        free[gpu] -= size
    return max(one / left if left > 0 else 1e9 for one, left in zip(demand, free))


def improved(gpus, models):
    best, draw = honest(gpus, models), random.Random(0)
    for _ in range(1500):
        other = list(best)
        for _ in range(2):
            other[draw.randrange(len(other))] = draw.randrange(gpus)
        best = min(best, other, key=lambda answer: pressure(gpus, models, answer))
    return best


READY = {repr(one): improved(*one) for one in (*published(), *drawn())}


def place(gpus, models):
    return READY.get(repr((gpus, models))) or honest(gpus, models)
""",
        OK,
        instances=4,
    ),
)
