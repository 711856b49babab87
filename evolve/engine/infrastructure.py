"""Failures of the machinery, which are never a program's: what is tried again, when the seed is judged as a canary, when to give up.

Invariant: a failure is blamed on the machine as long as the seed fails too, and the campaign waits for it; where the seed passes, it goes on."""

import time
from collections.abc import Callable

from evolve.campaign.cases import CANARY
from evolve.engine.jobs import Work
from evolve.types import Measure, Outcome, ProgramId

IN_A_ROW = 3
"""Failures in a row after which the seed is judged again."""
HOPELESS = 3
"""Canaries in a row that pass while nothing else does: the evaluator fails on everything but the seed."""
TRIES = 2
"""How often a job is judged before its failure counts."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
"""Seconds between two canaries: twice as long after each that fails."""


class Infrastructure:
    """What one run of a campaign knows of its machinery. `patience` in seconds: how long it waits for judges that fail on the seed,
    too. Main thread."""

    def __init__(self, seed: ProgramId, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seed = seed
        self._patience = patience
        self._clock = clock
        self._in_a_row = 0
        self._passed = 0
        self._under_way = False
        self._since: float | None = None
        self._wait = _FIRST_WAIT
        self._next = 0.0

    def wait(self, seconds: float) -> None:
        """Judges that fail are waited for so long from now on."""
        self._patience = seconds

    @property
    def in_doubt(self) -> bool:
        """Nothing but a canary is asked for."""
        return self._in_a_row >= IN_A_ROW

    @property
    def hopeless(self) -> bool:
        """Going on is useless."""
        late = self._since is not None and self._clock() - self._since >= self._patience
        return self._passed >= HOPELESS or (late and not self._under_way)

    @property
    def seconds_left(self) -> float | None:
        """How long until the next canary; None where none is waited for."""
        return max(0.0, self._next - self._clock()) if self.in_doubt and not self._under_way else None

    def may_retry(self, work: Work) -> bool:
        """Whether a job that the machinery failed is to be judged once more. A canary is not: it has its own turn."""
        return work.tries + 1 < TRIES and work.origin.case != CANARY

    def canary(self) -> Measure | None:
        """The seed, when it is time to judge it again."""
        if not self.in_doubt or self._under_way or self._clock() < self._next:
            return None
        self._under_way = True
        return Measure(1, self._seed, why="judges that fail", case=CANARY)

    def record_outcome(self, work: Work, outcome: Outcome) -> None:
        """Something was judged, and this is how it ended."""
        failed = outcome is Outcome.INTERNAL
        if work.origin.case == CANARY:
            self._record_canary(failed)
        elif failed:
            self._in_a_row += 1
        else:
            self._in_a_row = self._passed = 0

    def _record_canary(self, failed: bool) -> None:
        now, self._under_way = self._clock(), False
        if not failed:
            self._in_a_row, self._since, self._wait, self._next = 0, None, _FIRST_WAIT, 0.0
            self._passed += 1
            return
        self._since = now if self._since is None else self._since
        self._next = now + self._wait
        self._wait = min(2 * self._wait, _LONGEST_WAIT)
