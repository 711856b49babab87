"""Progress of a campaign: the clock of its runs, and what its calls and records have spent."""

import time
from dataclasses import replace

from evolve.types import REJUDGED, Call, Outcome, Progress, Record


class Clock:
    """Seconds that a campaign has run, over all its runs; `active` before this one. No second passes while it rests. Main thread."""

    def __init__(self, active: float = 0.0) -> None:
        self._started = time.monotonic() - active
        self._resting_since: float | None = None

    @property
    def seconds(self) -> float:
        """Until now, or until it rests."""
        now = time.monotonic() if self._resting_since is None else self._resting_since
        return now - self._started

    def rest(self) -> None:
        """Stops the clock: the campaign is paused, and nothing is under way. Again, if it rests already."""
        if self._resting_since is None:
            self._resting_since = time.monotonic()

    def wake(self) -> None:
        """Lets the clock go on, if it rests."""
        if self._resting_since is not None:
            self._started += time.monotonic() - self._resting_since
            self._resting_since = None


def add_call(progress: Progress, call: Call) -> Progress:
    """Returns the progress after one more call, answered or failed."""
    return replace(
        progress,
        calls=progress.calls + 1,
        tokens=progress.tokens + call.prompt_tokens + call.completion_tokens,
        money=progress.money + call.cost,
        gpu_seconds=progress.gpu_seconds + call.gpu_seconds,
    )


def add_record(progress: Progress, record: Record) -> Progress:
    """Returns the progress after one more record."""
    seconds, kind = record.evaluation.seconds, record.origin.kind
    screened = record.evaluation.outcome is Outcome.SCREENED
    rejudged = not screened and kind != "proposal" and record.origin.why == REJUDGED
    measured = kind == "measurement" and not (screened or rejudged)
    # A proposal that was screened, or that the machinery failed, was not evaluated and is no program of the budget.
    counts = kind == "proposal" and record.evaluation.outcome not in (Outcome.SCREENED, Outcome.INTERNAL)
    return replace(
        progress,
        records=progress.records + 1,
        screened=progress.screened + screened,
        programs=progress.programs + counts,
        rejudged=progress.rejudged + rejudged,
        measurements=progress.measurements + measured,
        judge_seconds=progress.judge_seconds + seconds,
        measure_seconds=progress.measure_seconds + (seconds if measured else 0.0),
    )
