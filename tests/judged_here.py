"""Judges programs in the test's own process, as one judge process does: in a box, with another one beside it for programs that the evaluator trusts.

Invariant: both boxes are gone at the end of the block; the second is made for the first who asks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from evolve.evaluation import Job, Report
from evolve.evaluation.cascade import evaluate_job, prepare
from evolve.protocols import Evaluator
from evolve.sandbox.box import Box
from evolve.types import Parameters, Task, Trial

Judged = Callable[..., Report]


@contextmanager
def judging(task: Task, evaluator: Evaluator) -> Iterator[Judged]:
    """Judges files in place of the seed's: `evaluated(files, seed, **parameters)`."""
    bench, boxes = prepare(task, evaluator), list[Box]()
    with ExitStack() as stack:

        def made() -> Box:
            box = Box(task.limits, context=task.context)
            stack.callback(box.close)
            boxes.append(box)
            return box

        def opening(box: Box) -> Any:
            return lambda program, seconds, job="run": box.open(program, task.entry, seconds, job)

        def beside() -> Any:
            return opening(boxes[1] if len(boxes) > 1 else made())

        first = opening(made())

        def evaluated(files: Mapping[str, str], seed: int = 0, **parameters: Any) -> Report:
            job = Job("1.0", "evaluate", Trial(seed, parameters=Parameters(parameters)), files)
            return evaluate_job(job, bench, first, neighbour=beside)

        yield evaluated
