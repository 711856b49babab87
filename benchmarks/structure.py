"""What `mutate_ast` is worth: whether structure is found where numbers cannot help, and what that costs where they can.

`--edits` measures the operator alone, on the engine's own files; else `tune_literals` alone is compared with both operators.
At an equal number of programs, several seeds, through the whole engine: a formula to be found, x * x + x * sin(x) from `1.0 * x`, or the
task that is named, such as `circle_packing`, which is numbers alone."""

import argparse
import math
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evolve import novelty, plugins
from evolve import task as tasks
from evolve.campaign import Campaign
from evolve.config import settings_from
from evolve.engine import RunRequest, open_run
from evolve.engine.isolation import WantedLevel
from evolve.operators.mutate_ast import MutateAst, MutateSettings
from evolve.operators.python_source import read
from evolve.protocols import Context
from evolve.testing import RehearsedHistory
from evolve.types import (
    EditError,
    Evaluation,
    EvaluatorSource,
    Level,
    Origin,
    Program,
    Record,
    Selection,
    Settled,
    Task,
)

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


def measure(reference: str, operators: Sequence[str], seed: int, programs: int, workers: int) -> float:
    """The best fitness of one campaign."""
    task, best = tasks.load(reference), Best()
    values = {
        "task": reference,
        "budget": [f"{programs}programs"],
        "workers": workers,
        "seed": seed,
        "operators": {"names": list(operators)},
    }
    wanted = WantedLevel(Level.REDUCED)
    with tempfile.TemporaryDirectory(prefix="evolve-structure-") as home:
        request = RunRequest(settings_from(values), task, plugins.load(), Path(home), "structure", wanted=wanted)
        with open_run(request) as run:
            run.search(best)
    assert best.fitness is not None, "the seed passes its own evaluator"
    return best.fitness


def compare(reference: str, seeds: int, programs: int, workers: int) -> None:
    """Prints the best of each campaign, by its operators."""
    for name, operators in SETS.items():
        found = []
        for seed in range(seeds):
            found.append(measure(reference, operators, seed, programs, workers))
            print(f"{name:14} seed {seed}  {found[-1]:.6g}", flush=True)
        print(f"{name:14} median  {statistics.median(found):.6g}", flush=True)


def edits(seeds: int) -> None:
    """Prints what becomes of children of the engine's own files, with another file as the inspiration: whether there is one, whether it
    compiles and differs in more than layout, and the time that it took."""
    files = [path.read_text("utf-8") for path in sorted((Path(__file__).parents[1] / "evolve").rglob("*.py"))]
    texts = [text for text in files if len(text) > 400]
    operator, seconds, fine, missing = MutateAst(MutateSettings()), list[float](), 0, 0
    for number, text in enumerate(texts):
        for seed in range(seeds):
            begun = time.perf_counter()
            made = _child(operator, text, texts[(7 * number + 1) % len(texts)], seed)
            seconds.append(time.perf_counter() - begun)
            missing += made is None
            fine += made is not None and _is_fine(made, text)
    milliseconds = 1000 * statistics.median(seconds)
    print(
        f"{len(texts)} files, {len(seconds)} proposals: {fine} fine, {missing} without a child, {milliseconds:.0f} ms in the median"
    )


def _child(operator: MutateAst, text: str, other: str, seed: int) -> str | None:
    history = RehearsedHistory()
    for number, each in enumerate((text, other), start=1):
        program = Program({"seed.py": each})
        history.programs[program.id] = program
        history.records.append(Record(number, Origin("seed", 0), program.id, Evaluation.ok(1.0)))
    task = Task("edits", "", "1", "", Program({"seed.py": text}), "seed", EvaluatorSource("evaluator.py"))
    context = Context(task, history, np.random.default_rng(seed), math.inf, threading.Event())
    try:
        (child,) = operator.propose(Selection("mutate_ast", parents=(1,), inspirations=(2,)), context)
    except EditError:
        return None
    return child.program.files["seed.py"] if child.program else None


def _is_fine(text: str, parent: str) -> bool:
    try:
        read(text, "child", ())
    except EditError:
        return False
    return novelty.signature(Program({"seed.py": text})) != novelty.signature(Program({"seed.py": parent}))


def main() -> None:
    """Runs the comparison on one task, or the edits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", help="only this task instead of the formula")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--edits", type=int, metavar="N", help="only make N children of each file of the engine")
    given = parser.parse_args()
    if given.edits:
        edits(given.edits)
        return
    with tempfile.TemporaryDirectory(prefix="evolve-formula-") as folder:
        for name, text in _FILES.items():
            (Path(folder) / name).write_text(text)
        compare(given.task or folder, given.seeds, given.programs, given.workers)


if __name__ == "__main__":
    main()
