"""What a campaign has spent so far, kept while it grows.

Invariant: the totals follow from the records and calls in the log, each counted once."""

from evolve.types import REJUDGED, Call, Outcome, Progress, Record


class Spent:
    """The running totals: `Progress` while it grows. A proposal that was screened, or that the machinery failed, was not judged and is no program of the budget."""

    __slots__ = (
        "calls",
        "gpu_seconds",
        "judge_seconds",
        "measure_seconds",
        "measurements",
        "money",
        "programs",
        "records",
        "rejudged",
        "screened",
        "tokens",
    )

    def __init__(self) -> None:
        self.records = self.programs = self.measurements = self.rejudged = self.screened = 0
        self.calls = self.tokens = 0
        self.judge_seconds = self.measure_seconds = self.money = self.gpu_seconds = 0.0

    def call(self, call: Call) -> None:
        """One call more, answered or failed: it costs what the log says of it."""
        self.calls += 1
        self.tokens += call.prompt_tokens + call.completion_tokens
        self.money += call.cost
        self.gpu_seconds += call.gpu_seconds

    def add(self, record: Record) -> None:
        """One record more."""
        seconds = record.evaluation.seconds
        self.records += 1
        self.judge_seconds += seconds
        if record.evaluation.outcome is Outcome.SCREENED:
            self.screened += 1
        elif record.origin.kind == "proposal":
            self.programs += record.evaluation.outcome is not Outcome.INTERNAL
        elif record.origin.why == REJUDGED:
            self.rejudged += 1
        elif record.origin.kind == "measurement":
            self.measurements += 1
            self.measure_seconds += seconds

    def progress(self, seconds: float) -> Progress:
        """The totals now, in a campaign that has run for so many seconds."""
        return Progress(
            seconds=seconds,
            programs=self.programs,
            records=self.records,
            measurements=self.measurements,
            rejudged=self.rejudged,
            screened=self.screened,
            judge_seconds=self.judge_seconds,
            measure_seconds=self.measure_seconds,
            calls=self.calls,
            tokens=self.tokens,
            money=self.money,
            gpu_seconds=self.gpu_seconds,
        )
