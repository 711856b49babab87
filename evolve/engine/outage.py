"""Outage of the machine: internal failures of evaluations, for which no program is to blame.

After some of them in a row, the seed alone is evaluated (the canary). Where it fails too, the machine is at fault, and the run waits for it; where it passes,
the run goes on."""

import time
from collections.abc import Callable

from evolve.engine.jobs import Work
from evolve.types import Measure, Outcome, ProgramId, RecordId

CANARY = "canary"
"""Case of a `Measure` that evaluates the seed to tell a broken machine from a broken program."""
TRIES = 2
"""Evaluations of a job before its internal failure is recorded."""
IN_A_ROW = 3
"""Internal failures in a row after which nothing but the seed is evaluated."""
PASSES = 3
"""Canaries in a row that pass while every other evaluation fails, before the run ends."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
"""Seconds until the next canary; they double after each that fails."""


class Outage:
    """Internal failures of one run. `wait_seconds` is how long the run waits while the seed fails. Main thread."""

    def __init__(self, seed: ProgramId, wait_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seed = seed
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._passes = 0
        self._under_way = False
        self._end()

    def _end(self) -> None:
        self._failures = 0
        self._since: float | None = None
        self._next = 0.0
        self._wait = _FIRST_WAIT

    @property
    def is_suspected(self) -> bool:
        """True while nothing but the seed is to be evaluated."""
        return self._failures >= IN_A_ROW

    @property
    def verdict(self) -> str:
        """Why the run must end; empty while it may go on."""
        if self._passes >= PASSES:
            return f"the evaluator fails on everything but the seed, which passed {PASSES} times meanwhile"
        # A canary that is under way may still pass.
        if self._since is None or self._under_way or self._clock() - self._since < self._wait_seconds:
            return ""
        return "the evaluator fails on the seed too, and did so for as long as `outage.wait_seconds` allows"

    def may_retry(self, work: Work) -> bool:
        """Returns whether a job that failed is to be evaluated once more. A canary comes again by itself."""
        return work.tries + 1 < TRIES and work.origin.case != CANARY

    def canary(self, seed_record: RecordId) -> Measure | None:
        """Returns the evaluation of the seed when it is due; one is under way at a time."""
        if self._under_way or self._clock() < self._next:
            return None
        self._under_way = True
        return Measure(seed_record, self._seed, why="evaluations that fail", case=CANARY)

    def record(self, work: Work, outcome: Outcome) -> None:
        """Takes the outcome of an evaluation that is not tried again."""
        is_canary = work.origin.case == CANARY
        if is_canary:
            self._under_way = False
        if outcome is not Outcome.INTERNAL:
            self._passes = self._passes + 1 if is_canary else 0
            self._end()
        elif not is_canary:
            self._failures += 1
        elif self.is_suspected:
            # A canary that fails after another program has passed says nothing.
            now = self._clock()
            self._since = now if self._since is None else self._since
            self._next = now + self._wait
            self._wait = min(2 * self._wait, _LONGEST_WAIT)
