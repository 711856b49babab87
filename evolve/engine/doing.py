"""What is under way in a run: proposals and judgings, what is told of them when they are done, and what waits while the run is paused.

Invariant: what was withdrawn for a pause is started again when it ends, or is a step of the next run; nothing is lost, for all of it is in the log."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from evolve.engine.calling import Answered
from evolve.engine.drafts import Draft
from evolve.engine.jobs import Work
from evolve.types import Asked


@dataclass(frozen=True, slots=True)
class Proposed:
    """The proposal thread is done with a step."""

    asked: Asked
    future: "Future[Sequence[Draft]]"


@dataclass(frozen=True, slots=True)
class Judged:
    """The executor is done with a job."""

    work: Work
    future: "Future[bytes]"


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A person or the system asks to stop."""


Done = Proposed | Answered | Judged | Interrupt


class Held:
    """What waits while a campaign is paused: proposals that are made, and what no judge and no thread had begun. Main thread."""

    def __init__(self) -> None:
        self.on = False
        self._withdrawn: set[int | str] = set()
        self._waiting: list[Proposed | Judged] = []

    def withdraw(self, what: int | str) -> None:
        """The step, or the job, was called back; it may be that it is carried out all the same."""
        self._withdrawn.add(what)

    def was_withdrawn(self, done: Proposed | Judged) -> bool:
        """It was called back, and in time; asked once."""
        name = done.asked.step if isinstance(done, Proposed) else done.work.job.id
        found = name in self._withdrawn and done.future.cancelled()
        self._withdrawn.discard(name)
        return found

    def add(self, done: Proposed | Judged) -> None:
        """It waits."""
        self._waiting.append(done)

    def take(self) -> Sequence[Proposed | Judged]:
        """All that waits, which then does no more."""
        found, self._waiting = self._waiting, []
        return found
