"""How many candidates a second pass from proposal to settled record, and whether the last ones are as fast as the first.

A trivial evaluator through the real judge and candidate processes, `tune_literals`, two judge slots, a real log, the best isolation of
the machine."""

import argparse
import tempfile
import time
from pathlib import Path

from figures import report

from evolve import engine, plugins
from evolve import task as tasks
from evolve.campaign import Campaign
from evolve.config import settings_from
from evolve.evaluation import LocalExecutor
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Settled

WINDOW = 1000
WANTED = {"programs_per_second": ">= 140", "last_over_first": ">= 0.9"}
_TASK = """\
schema = 1
evaluator = "evaluator.py"
program = { files = ["seed.py"], entry = "seed" }
deterministic = true
"""
_SEED = """\
def point():
    return [3.25, -1.5, 0.75, 2.125, -4.5, 6.25, -0.375, 1.875]
"""
_EVALUATOR = """\
from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(-sum(value * value for value in candidate.call("point")))
"""
_FILES = {"task.toml": _TASK, "seed.py": _SEED, "evaluator.py": _EVALUATOR, "README.md": "Bring all numbers to zero.\n"}


class Clock:
    """Notes when each evaluated proposal has settled."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """A proposal more."""
        if event.record.origin.kind == "proposal":
            self.times.append(time.perf_counter())

    def turned(self, campaign: Campaign) -> None:
        """Nothing is shown."""


def measure(folder: Path, programs: int, workers: int, means: Means) -> dict[str, float]:
    """The figures of one campaign of so many programs, which are confined by `means`."""
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    task, clock = tasks.load(folder), Clock()
    settings = settings_from(
        # Alone: `mutate_ast` makes programs longer and longer, and what grows with them is no cost of the engine.
        {"task": str(folder), "budget": [f"{programs}programs"], "workers": workers, "operators": ["tune_literals"]}
    )
    executor = LocalExecutor(task, workers, means=means)
    try:
        executor.describe()  # starts the workers
        with Campaign.create(settings, task, plugins.load(), folder, "throughput") as campaign:
            engine.run(campaign, executor, clock)
    finally:
        executor.close()
    times, window = clock.times, min(WINDOW, len(clock.times) // 2)
    first, last = times[window] - times[0], times[-1] - times[-1 - window]
    return {
        "programs_per_second": (len(times) - 1) / (times[-1] - times[0]),
        "last_over_first": first / last,
        "programs": len(times),
        "workers": workers,
    }


def main() -> None:
    """Runs the benchmark and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="without a sandbox, to see what it costs")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    means = PLAIN if given.plain else probe().means
    with tempfile.TemporaryDirectory(prefix="evolve-throughput-") as folder:
        figures = measure(Path(folder), given.programs, given.workers, means)
        report("throughput", figures, WANTED, given.json, {"isolation": means.line})


if __name__ == "__main__":
    main()
