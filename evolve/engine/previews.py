"""Evaluations that operators ask for while they propose: answered from the log, else carried out by the executor, and told to the log.

A preview is paid for and is no record: it has no place, no strategy chooses by it, and the child that comes of it is evaluated on its own. It is put into the inbox before its step's
proposal is, so that an operator that runs again finds it in the log."""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from dataclasses import dataclass, replace
from itertools import count

from evolve.campaign import Campaign
from evolve.edits import changes
from evolve.evaluation import Job, Report, decode_report, encode_job
from evolve.protocols import Executor
from evolve.types import Asked, EditError, Evaluation, Outcome, Previewed, Program, TextId

_LOOK_SECONDS = 0.5
"""Seconds between two looks whether the run ends."""


@dataclass(frozen=True, slots=True)
class PreviewEnded:
    """A preview that has ended: the event, and the texts that it names."""

    event: Previewed
    texts: Mapping[TextId, str]


class Previews:
    """Previews of one run. `make_job` takes the step, the program, the stage and the preview's index; `tell` takes what has ended, on any thread; `cancelled` ends all."""

    def __init__(
        self,
        campaign: Campaign,
        executor: Executor,
        make_job: Callable[[Asked, Program, str, int], Job],
        tell: Callable[[PreviewEnded], None],
        cancelled: threading.Event,
    ) -> None:
        self._task = campaign.task
        self._state = campaign.state
        self._executor = executor
        self._make_job = make_job
        self._tell = tell
        self._cancelled = cancelled

    def evaluator(self, asked: Asked, deadline: float) -> Callable[..., Evaluation]:
        """Returns the `Context.evaluate` of a step. Main thread; what it returns belongs to the proposal thread."""
        known = list(self._state.steps[asked.step].previews)
        numbers = count(len(known))

        def evaluate(program: Program, stage: str = "") -> Evaluation:
            if outside := changes.refusal(self._task, program):
                return Evaluation.failed(Outcome.SCREENED, outside, stage="screen")
            found = next((event for event in known if (event.program, event.stage) == (program.id, stage)), None)
            if found is not None:
                known.remove(found)
                feedback = found.evaluation.feedback
                text = self._state.reader.text(TextId(feedback)) if feedback else ""
                return replace(found.evaluation, feedback=text)
            index = next(numbers)
            report = self._run(self._make_job(asked, program, stage, index), deadline)
            evaluation, text = (
                replace(report.evaluation, artifacts={}),
                report.texts.get(TextId(report.evaluation.feedback), ""),
            )
            event = Previewed(asked.step, index, program.id, evaluation, stage)
            self._tell(PreviewEnded(event, {TextId(evaluation.feedback): text} if text else {}))
            return replace(evaluation, feedback=text)

        return evaluate

    def _run(self, job: Job, deadline: float) -> Report:
        """Evaluates; withdraws the job, and raises, where the run or the time of the proposal ends first."""
        future = self._executor.submit(job.id, encode_job(job))
        while not wait([future], _LOOK_SECONDS).done:
            if self._cancelled.is_set() or time.monotonic() > deadline:
                self._executor.cancel(job.id)
                raise EditError("a preview was given up: the run ended, or the time for the proposal")
        if future.cancelled():
            raise EditError("a preview was given up: the run ended")
        return decode_report(future.result())
