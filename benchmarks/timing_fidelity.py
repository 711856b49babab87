"""How far times of kernels can be trusted: equal programs against each other, and programs that are 3 % slower, while the other cores work.

Judged as the plugin `kernel` evaluates: new processes every few rounds, one core, times by processor time, the median over rounds of log ratios in both orders. `aa_spread` is the half-width of the
central 90 % of estimates of a program against itself, with the plugin's defaults. Then a race of at most 24 pairs is run of each of as many slowed and equal programs, and it is counted how often its
verdict is that they are slower. The program computes, and its data fit into the cache of a core; `--memory` takes the seed of `kernel_softmax` on 8 MB, whose time is that of the memory that all
cores share. Ends with exit code 1 where a figure is not what is wanted."""

import argparse
import contextlib
import math
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from figures import missed, report

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))

from evolve import Candidate, task
from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from evolve.statistics import Race
from evolve.types import Parameters, Task
from evolve.types import Program as Source
from evolve_kernel.compiled import CompiledBackend
from evolve_kernel.problem import KernelProblem, Shape, load
from evolve_kernel.rounds import Measured, Rounds
from evolve_kernel.settings import KernelSettings

WANTED = {"aa_spread": "<= 0.025", "detected": ">= 0.9", "false_alarms": "<= 3"}
ESTIMATES, RACES, MOST = 40, 60, 24
PAIRS = 2
"""Of a round: one in each order."""
_TASK = {
    "task.toml": """schema = 1
brief = "README.md"
program = { files = ["settle.c"], context = ["settle.h"], entry = "" }

[evaluator]
plugin = "kernel"
module = "problem.py"
function = "settle"
header = "settle.h"
""",
    "README.md": "Let each number settle.\n",
    "settle.h": "void settle(float *out, const float *in, long count);\n",
    "settle.c": """#include "settle.h"
enum { TIMES = 300 };
void settle(float *out, const float *in, long count)
{
    for (long i = 0; i < count; i++) {
        float x = in[i];
        for (int time = 0; time < TIMES; time++)
            x = 0.5f * x * x + 0.1f;
        out[i] = x;
    }
}
""",
    "problem.py": """import numpy as np

REGIMES = ("uniform",)
TOLERANCE = {"out": 1e-6}


def shapes(parameters):
    return [{"count": 8000}]


def arguments(shape):
    dims = (shape["count"],)
    return [("out", "out", dims, "float32"), ("in", "in", dims, "float32"), ("number", "count", shape["count"])]


def make_inputs(rng, shape, regime):
    return {"in": rng.random(shape["count"], dtype=np.float32)}


def oracle(inputs, shape):
    return {"out": np.full(shape["count"], 1 - 0.8**0.5)}


def work(shape):
    return 8 * shape["count"], 600 * shape["count"]
""",
}
_SLOWER = ("TIMES = 300", "TIMES = 309")
_ROWS = "const float *row = in + r * columns;"
_ROW_ENDS = "divide(out + r * columns, columns, sum);"
_EVERY, _NEVER = 33, 1 << 40


@dataclass(frozen=True)
class Subject:
    """A task with a shape, the program that is timed, and the same with 3 % more work."""

    task: Task
    shape: Shape
    equal: Source
    slower: Source


def computing(folder: Path) -> Subject:
    """Its own task, written to a folder: nothing but arithmetic."""
    for name, text in _TASK.items():
        (folder / name).write_text(text, "utf-8")
    about = task.load(folder)
    slower = {name: text.replace(*_SLOWER) for name, text in about.seed.files.items()}
    return Subject(about, {"count": 8000}, about.seed, Source(slower))


def moving() -> Subject:
    """Row softmax on 4 MB that are read and 4 MB that are written; the slower one computes one row of 33 twice."""
    about = task.load("kernel_softmax")
    (name, text), *others = [(name, text) for name, text in about.seed.files.items() if _ROWS in text]
    assert not others, "one file has the loop over rows"
    assert text.count(_ROW_ENDS) == 1, "the loop over rows ends once"

    def repeating(every: int) -> Source:
        begin = f"for (int again = r % {every}L == {every}L - 1; again >= 0; again--) {{ {_ROWS}"
        return Source({**about.seed.files, name: text.replace(_ROWS, begin).replace(_ROW_ENDS, f"{_ROW_ENDS} }}")})

    return Subject(about, {"rows": 1000, "columns": 1024}, repeating(_NEVER), repeating(_EVERY))


class Bench:
    """A judge's place: one core, two boxes, and the plugin's own parts."""

    def __init__(self, subject: Subject, core: int) -> None:
        about = subject.task
        self._boxes = [Box(about.limits, context=about.context, means=probe().means) for _ in range(2)]
        for box in self._boxes:
            box.pin([core])
        os.sched_setaffinity(0, {core})
        self._subject = subject
        self._problem: KernelProblem = load(Path(about.folder), "problem.py")
        self._settings = KernelSettings(**about.evaluator.settings)
        signature = self._problem.arguments(self._problem.shapes(Parameters(about.parameters))[0])
        self._backend = CompiledBackend(about, self._settings, signature)

    def measured(self, candidate: Source, anchor: Source, seed: int, **settings: float) -> Measured:
        """Rounds of one against the other, all that the settings allow unless the race is decided before."""
        chosen = self._settings.model_copy(update=settings)
        sides, calls = [], [tuple(self._problem.arguments(self._subject.shape))]
        for box, program in zip(self._boxes, (candidate, anchor), strict=True):
            handle = Candidate(program, self._opener(box), 600.0)
            sides.append(self._backend.build(handle, calls))
        rounds = Rounds(self._problem, chosen, [self._subject.shape], np.random.default_rng(seed))
        return rounds.measure(self._backend, *sides, race=True)

    @property
    def first(self) -> int:
        """Rounds before the first look."""
        return self._settings.first

    def _opener(self, box: Box) -> Callable[..., object]:
        return lambda program, seconds, job="run": box.open(program, self._subject.task.entry, seconds, job)

    def close(self) -> None:
        """Ends both boxes."""
        for box in self._boxes:
            box.close()


def work(core: int) -> None:
    """Keeps a core and a part of the memory's bandwidth busy until the process is ended."""
    os.sched_setaffinity(0, {core})
    values = np.random.default_rng(core).random(1 << 20)
    while True:
        np.sort(values)
        values[:] = values[::-1] * 0.999 + 0.001


@contextlib.contextmanager
def load_on(cores: Sequence[int]) -> Iterator[None]:
    """A process that works on each core."""
    working = [multiprocessing.get_context("spawn").Process(target=work, args=(core,), daemon=True) for core in cores]
    for process in working:
        process.start()
    try:
        yield
    finally:
        for process in working:
            process.kill()
            process.join()


def verdicts(bench: Bench, candidate: Source, anchor: Source, count: int, first_seed: int) -> list[tuple[str, int]]:
    """Of so many races, with the number of pairs that each took."""
    found = []
    for number in range(count):
        values = bench.measured(candidate, anchor, first_seed + number, rounds=MOST // PAIRS, floor=0.0).values
        race = Race(bench.first, MOST // PAIRS)
        for value in values:
            race.add(value)
        found.append((race.verdict, PAIRS * len(values)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--estimates", type=int, default=ESTIMATES, help="of a program against itself")
    parser.add_argument("--races", type=int, default=RACES, help="of slowed programs, and of equal ones")
    parser.add_argument("--memory", action="store_true", help="a program whose time is that of the memory")
    parser.add_argument("--quiet", action="store_true", help="leave the other cores alone")
    options = parser.parse_args()
    mine, *others = sorted(os.sched_getaffinity(0))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        subject = moving() if options.memory else computing(Path(folder))
        figures = measured(subject, options, mine, [] if options.quiet else others)
    figures["seconds"] = time.monotonic() - began
    wanted = {} if options.memory else {**WANTED, "false_alarms": f"<= {math.floor(options.races / 20)}"}
    notes = {"other cores": "left alone" if options.quiet or not others else "loaded"}
    report("timing_fidelity", figures, wanted, options.json, notes)
    return 1 if missed(figures, wanted) else 0


def measured(subject: Subject, options: argparse.Namespace, core: int, others: Sequence[int]) -> dict[str, float]:
    """The figures, while `others` work."""
    equal, slower = subject.equal, subject.slower
    with load_on(others), contextlib.closing(Bench(subject, core)) as bench:
        same = [bench.measured(equal, equal, seed) for seed in range(options.estimates)]
        found = verdicts(bench, slower, equal, options.races, 1000)
        nulls = verdicts(bench, equal, equal, options.races, 2000)
    estimates = [statistics.median(one.values) for one in same]
    low, high = np.quantile(estimates, [0.05, 0.95])
    return {
        "aa_spread": float(high - low) / 2,
        "aa_mean": statistics.fmean(estimates),
        "round_spread": statistics.median(statistics.stdev(one.values) for one in same),
        "detected": sum(verdict == "worse" for verdict, _ in found) / max(1, len(found)),
        "false_alarms": float(sum(verdict != "open" for verdict, _ in nulls)),
        "median_pairs": float(statistics.median(pairs for _, pairs in found)) if found else math.nan,
        "milliseconds": 1e3 * statistics.median(same[0].timings[0].theirs),
    }


if __name__ == "__main__":
    sys.exit(main())
