"""Whether the operators that a campaign has by default can change a task's seed at all.

Invariant: nothing is judged; a child that a campaign would not judge is none."""

import math
import threading
from collections.abc import Iterator

import numpy as np

from evolve import novelty
from evolve.config import StrategySection
from evolve.conformance.findings import Finding
from evolve.edits import changes
from evolve.plugins import Plugins
from evolve.protocols import Context
from evolve.testing import RehearsedHistory
from evolve.types import EditError, Evaluation, Origin, Program, Record, Selection, Task

TRIES = 20
"""Proposals of each operator before it is said to have none."""
TRIED = "what operators can change"


def changeable(task: Task, seed: Evaluation, plugins: Plugins) -> Finding:
    """Proposals from the default operators on the seed, with the seed's evaluation as the only record."""
    names = plugins.usable(plugins.operators_of(StrategySection().name, ()), task.seed, seed.seconds)
    able = [name for name in names if any(_is_new(task, child) for child in _proposed(task, seed, plugins, name))]
    if able:
        return Finding(TRIED, "passed", f"{', '.join(able)} can change the seed")
    return Finding(
        TRIED,
        "failed",
        f"none of {', '.join(names)} can change the seed",
        "give the seed numbers to tune or Python that may change, and look where its EVOLVE-BLOCK markers are",
    )


def _proposed(task: Task, seed: Evaluation, plugins: Plugins, name: str) -> Iterator[Program]:
    """The programs that an operator proposes, each time with other random numbers."""
    history = RehearsedHistory()
    history.programs[task.seed.id] = task.seed
    history.records.append(Record(1, Origin("seed", 0), task.seed.id, seed))
    operator = plugins.operator(name, {})
    for number in range(TRIES):
        context = Context(task, history, np.random.default_rng(number), math.inf, threading.Event())
        try:
            children = operator.propose(Selection(name, parents=(1,)), context)
        except EditError:
            continue
        yield from (child.program for child in children if child.program is not None)


def _is_new(task: Task, program: Program) -> bool:
    return not changes.refusal(task, program) and novelty.signature(program) != novelty.signature(task.seed)
