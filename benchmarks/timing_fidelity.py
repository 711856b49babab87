"""How far times of kernels can be trusted: equal programs against each other, and programs that are 3 % slower, while the other cores work.

The program is the seed of `kernel_softmax` on one shape, judged as the plugin `kernel` judges: new processes every few rounds, one core, times by processor time, the median of log
ratios of pairs. `aa_spread` is the half-width of the central 90 % of estimates of a program against itself, with the plugin's defaults. Then a race of at most 24 pairs is run of each of as many slowed
and equal programs, and it is counted how often its verdict is that they are slower. Ends with exit code 1 where a figure is not what is wanted."""

import argparse
import contextlib
import math
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from figures import missed, report

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))

from evolve import Candidate, task
from evolve.sandbox import Box
from evolve.sandbox.machine.probe import probe
from evolve.statistics import Race
from evolve.types import Parameters, Task
from evolve.types import Program as Source
from evolve_kernel.compiled import CompiledBackend
from evolve_kernel.problem import Problem, load
from evolve_kernel.rounds import Measured, Program, Rounds
from evolve_kernel.settings import KernelSettings

WANTED = {"aa_spread": "<= 0.025", "detected": ">= 0.9", "false_alarms": "<= 3"}
SHAPE = {"rows": 1000, "columns": 1024}
ESTIMATES, RACES, MOST = 40, 60, 24
EVERY = 33
"""Every such row is computed twice in a slowed program: 3 % more work."""
_LOOP = "const float *row = in + r * columns;"
_NEVER = 1 << 40


def slowed(seed: Source, every: int) -> Source:
    """The seed that computes each `every`th row twice; with a number of rows that there never are, it is the same code without the work."""
    (name, text), *others = [(name, text) for name, text in seed.files.items() if _LOOP in text]
    assert not others, "one file has the loop over rows"
    changed = text.replace(_LOOP, f"for (int again = r % {every}L == {every}L - 1; again >= 0; again--) {{ {_LOOP}")
    end = "divide(out + r * columns, columns, sum);"
    assert changed.count(end) == 1, "the loop over rows ends with the division"
    return Source({**seed.files, name: changed.replace(end, f"{end} }}")})


class Bench:
    """A judge's place: one core, two boxes, and the plugin's own parts."""

    def __init__(self, about: Task, core: int) -> None:
        self._boxes = [Box(about.limits, context=about.context, means=probe().means) for _ in range(2)]
        for box in self._boxes:
            box.pin([core])
        os.sched_setaffinity(0, {core})
        self._task = about
        self._problem: Problem = load(Path(about.folder), "problem.py")
        self._settings = KernelSettings(**about.evaluator.settings)
        signature = self._problem.arguments(self._problem.shapes(Parameters(about.parameters))[0])
        self._backend = CompiledBackend(about, self._settings, signature)

    def measured(self, candidate: Source, anchor: Source, seed: int, **settings: float) -> Measured:
        """Rounds of one against the other, all that the settings allow unless the race is decided before."""
        chosen = self._settings.model_copy(update=settings)
        sides = []
        for box, program in zip(self._boxes, (candidate, anchor), strict=True):
            handle = Candidate(program, self._opener(box), 600.0)
            sides.append(Program(handle, self._backend.build(handle)))
        rounds = Rounds(self._problem, chosen, [SHAPE], np.random.default_rng(seed))
        return rounds.measured(self._backend, *sides, race=True)

    def _opener(self, box: Box) -> Callable[..., object]:
        return lambda program, seconds, job="run": box.open(program, self._task.entry, seconds, job)

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
        values = bench.measured(candidate, anchor, first_seed + number, rounds=MOST, floor=0.0).values
        race = Race(4, MOST)
        for value in values:
            race.add(value)
        found.append((race.verdict, len(values)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--estimates", type=int, default=ESTIMATES, help="of a program against itself")
    parser.add_argument("--races", type=int, default=RACES, help="of slowed programs, and of equal ones")
    parser.add_argument("--quiet", action="store_true", help="leave the other cores alone")
    options = parser.parse_args()
    about = task.load("kernel_softmax")
    mine, *others = sorted(os.sched_getaffinity(0))
    equal, slower = slowed(about.seed, _NEVER), slowed(about.seed, EVERY)
    began = time.monotonic()
    with load_on([] if options.quiet else others), contextlib.closing(Bench(about, mine)) as bench:
        same = [bench.measured(equal, equal, seed) for seed in range(options.estimates)]
        estimates = [statistics.median(one.values) for one in same]
        low, high = np.quantile(estimates, [0.05, 0.95])
        found = verdicts(bench, slower, equal, options.races, 1000)
        nulls = verdicts(bench, equal, equal, options.races, 2000)
    figures = {
        "aa_spread": float(high - low) / 2,
        "aa_mean": statistics.fmean(estimates),
        "pair_spread": statistics.median(statistics.stdev(one.values) for one in same),
        "detected": sum(verdict == "worse" for verdict, _ in found) / len(found),
        "false_alarms": float(sum(verdict != "open" for verdict, _ in nulls)),
        "median_pairs": float(statistics.median(pairs for _, pairs in found)),
        "milliseconds": 1e3 * statistics.median(same[0].timings[0].theirs),
        "seconds": time.monotonic() - began,
    }
    wanted = {**WANTED, "false_alarms": f"<= {math.floor(options.races / 20)}"}
    report(
        "timing_fidelity",
        figures,
        wanted,
        options.json,
        {"other cores": "left alone" if options.quiet or not others else "loaded"},
    )
    return 1 if missed(figures, wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
