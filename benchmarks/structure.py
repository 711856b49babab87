"""Whether structure is found where numbers cannot help, and what that costs where they can: `tune_literals` alone against both operators.

At an equal number of programs, several seeds, through the whole engine: a formula to be found, x * x + x * sin(x) from `1.0 * x`, or the
task that is named, such as `circle_packing`, which is numbers alone."""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evolve import loop, plugins
from evolve import task as tasks
from evolve.campaign import Campaign
from evolve.config import settings_from
from evolve.judge import LocalExecutor
from evolve.types import Settled

SETS = {"tune_literals": ["tune_literals"], "both": ["tune_literals", "mutate_ast"]}
_TASK = """\
schema = 1
evaluator = "evaluator.py"
program = { files = ["seed.py"], entry = "seed" }
deterministic = true

[fitness]
name = "error"
direction = "min"
"""
_SEED = """\
from math import sin


def formula(x):
    # EVOLVE-BLOCK-START
    return 1.0 * x
    # EVOLVE-BLOCK-END
"""
_EVALUATOR = """\
import math

from evolve import Candidate, Evaluation, Trial, evaluator

POINTS = [index / 10 - 3 for index in range(61)]


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    with candidate.session() as session:
        answers = [session.call("formula", x) for x in POINTS]
    if not all(type(value) in (int, float) and abs(value) < 1e9 for value in answers):
        return Evaluation.invalid("formula() must return a number")
    squares = [(value - (x * x + x * math.sin(x))) ** 2 for value, x in zip(answers, POINTS)]
    return Evaluation.ok(math.sqrt(math.fsum(squares) / len(squares)))
"""
_FILES = {"task.toml": _TASK, "seed.py": _SEED, "evaluator.py": _EVALUATOR, "README.md": "Find the formula.\n"}


class Best:
    """Remembers the best fitness, as the user reads it."""

    def __init__(self) -> None:
        self.fitness: float | None = None

    def settled(self, campaign: Campaign, event: Settled) -> None:
        """A record more."""
        best = campaign.state.archive.best
        self.fitness = None if best is None else campaign.task.fitness.shown(best.fitness)

    def turned(self, campaign: Campaign) -> None:
        """Nothing is shown."""


def measure(reference: str, operators: Sequence[str], seed: int, programs: int, judges: int) -> float:
    """The best fitness of one campaign."""
    task, best = tasks.load(reference), Best()
    values = {
        "task": reference,
        "budget": [f"{programs}programs"],
        "judges": judges,
        "seed": seed,
        "cache": False,
        "operators": {"names": list(operators)},
    }
    executor = LocalExecutor(task, judges)
    try:
        described = executor.describe()
        with (
            tempfile.TemporaryDirectory(prefix="evolve-structure-") as home,
            Campaign.create(settings_from(values), task, plugins.load(), Path(home), "structure") as campaign,
        ):
            loop.run(campaign, executor, described, best)
    finally:
        executor.close()
    assert best.fitness is not None, "the seed passes its own evaluator"
    return best.fitness


def compare(reference: str, seeds: int, programs: int, judges: int) -> None:
    """Prints the best of each campaign, by its operators."""
    for name, operators in SETS.items():
        found = []
        for seed in range(seeds):
            found.append(measure(reference, operators, seed, programs, judges))
            print(f"{name:14} seed {seed}  {found[-1]:.6g}", flush=True)
        print(f"{name:14} median  {statistics.median(found):.6g}", flush=True)


def main() -> None:
    """Runs the comparison on one task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", help="only this task instead of the formula")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--judges", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evolve-formula-") as folder:
        for name, text in _FILES.items():
            (Path(folder) / name).write_text(text)
        compare(given.task or folder, given.seeds, given.programs, given.judges)


if __name__ == "__main__":
    main()
