"""Requests of people to a campaign, taken from its inbox by the engine or by a command, and the work that waits while a run is paused.

Requests are taken in the order in which they were put, each once; one is answered and removed only when its effect is durable. Work that
was withdrawn for a pause is started again when it ends, or is a step of the next run; nothing is lost, for all of it is in the log."""

import time
from collections.abc import MutableMapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from evolve.campaign import Campaign
from evolve.campaign.inbox import (
    PERSON,
    Add,
    Answer,
    Configure,
    Hint,
    Inbox,
    Letter,
    Pause,
    Quarantine,
    Release,
    Request,
    Stop,
    Unpause,
)
from evolve.campaign.retuning import retune
from evolve.campaign.rulings import best_record, rule
from evolve.engine.drafts import Draft
from evolve.engine.importing import Known, imported
from evolve.engine.jobs import Work
from evolve.engine.metering import Answered
from evolve.types import Asked, ConfigError, EvolveError, Lesson, LessonWritten, Paused, ProgramId

INTERVAL = 1.0
"""Seconds between two looks into the inbox."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal thread is done with a step."""

    asked: Asked
    future: Future[Sequence[Draft]]


@dataclass(frozen=True, slots=True)
class Judged:
    """The executor is done with a job."""

    work: Work
    future: Future[bytes]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A person or the system asks to stop."""


Done = Proposed | Answered | Judged | Interrupt
"""All that may come into the inbox of a run."""


class PausedWork:
    """Work that waits while a campaign is paused: proposals that are made, and steps and jobs that nothing had begun. Main thread."""

    def __init__(self) -> None:
        self.on = False
        self._withdrawn: set[int | str] = set()
        self._waiting: list[Proposed | Judged] = []

    def withdraw(self, what: int | str) -> None:
        """Notes that a step or a job was called back; it may be carried out all the same."""
        self._withdrawn.add(what)

    def was_withdrawn(self, done: Proposed | Judged) -> bool:
        """Returns whether it was called back, and in time; to be asked once."""
        name = done.asked.step if isinstance(done, Proposed) else done.work.job.id
        found = name in self._withdrawn and done.future.cancelled()
        self._withdrawn.discard(name)
        return found

    def add(self, done: Proposed | Judged) -> None:
        """Keeps it until the pause ends."""
        self._waiting.append(done)

    def take(self) -> Sequence[Proposed | Judged]:
        """Takes all that waits."""
        found, self._waiting = self._waiting, []
        return found


class Requests:
    """Requests to one campaign, for the process `process` that writes its log. `running`: an engine that can be paused; `stopped`: somebody
    asked that it ends. `signatures` are those of all programs that are known or under way. Main thread."""

    def __init__(
        self, campaign: Campaign, signatures: MutableMapping[str, ProgramId], process: int, *, running: bool = False
    ) -> None:
        self._campaign = campaign
        self._signatures = signatures
        self._process = process
        self._inbox = Inbox(campaign.log.path)
        self._answers: list[tuple[Letter, Answer]] = []
        self._asked: list[Asked] = []
        self._last = -INTERVAL
        self.running = running
        self.stopped = False

    def due(self, now: float) -> bool:
        """Returns whether it is time for another look; `now` is a time of `time.monotonic`."""
        return now - self._last >= INTERVAL

    def take(self, *, adding: bool) -> Sequence[Asked]:
        """Carries out the requests, and returns the steps to start. Without `adding`, a program that is to be added stays where it is, and
        all that comes after it. Inside a transaction."""
        self._last = time.monotonic()
        self._asked = []
        for letter in self._inbox.letters():
            if isinstance(letter.request.wish, Add) and not adding:
                break
            self._answers.append((letter, self._carry_out(letter.request)))
        return self._asked

    def answer(self) -> None:
        """Answers the requests that were carried out, when their effects are durable."""
        for letter, answer in self._answers:
            self._inbox.answer(letter, answer)
        self._answers.clear()

    def _carry_out(self, request: Request) -> Answer:
        """Carries out a request, or says why not."""
        if request.id in self._campaign.state.requests:
            return self._answer_again(request)
        try:
            return self._do(request)
        except Known as error:
            return Answer(request.id, accepted=False, told=str(error), records=(error.record,) if error.record else ())
        except EvolveError as error:
            return Answer(request.id, accepted=False, told=str(error))

    def _answer_again(self, request: Request) -> Answer:
        """Answers a request that was carried out by a process which ended before it could say so."""
        state = self._campaign.state
        return Answer(request.id, accepted=True, told="done", step=state.requests[request.id], best=best_record(state))

    def _do(self, request: Request) -> Answer:
        campaign, wish = self._campaign, request.wish
        match wish:
            case Quarantine() | Release():
                return rule(campaign, wish, request.id)
            case Hint():
                return self._write_hint(wish, request.id)
            case Add():
                asked = imported(campaign, wish, request.id, self._signatures)
                self._asked.append(asked)
                return Answer(request.id, accepted=True, told=f"asked as step {asked.step}", step=asked.step)
            case Stop():
                return self._stop(wish, request.id)
            case Pause() | Unpause():
                return self._pause(wish, request.id)
            case Configure():
                return self._configure(wish, request.id)

    def _write_hint(self, wish: Hint, request: str) -> Answer:
        text = wish.text.strip()
        if not text:
            raise ConfigError("a hint is a text, got an empty one. Do: write what the search should know")
        self._campaign.write(LessonWritten(Lesson(text, PERSON), request))
        return Answer(request, accepted=True, told=f"written down as lesson {len(self._campaign.state.lessons)}")

    def _stop(self, wish: Stop, request: str) -> Answer:
        self._check_meant(wish, "stop")
        self.stopped = True
        return Answer(request, accepted=True, told="it ends as soon as what is being judged is done")

    def _pause(self, wish: Pause | Unpause, request: str) -> Answer:
        pauses = isinstance(wish, Pause)
        self._check_meant(wish, "pause" if pauses else "go on")
        if self.stopped or not self.running:
            raise ConfigError("the run is ending, so that there is nothing to pause. Do: nothing")
        if self._campaign.state.paused == pauses:
            return Answer(request, accepted=True, told="it is paused already" if pauses else "it is not paused")
        self._campaign.write(Paused(pauses, request))
        if pauses:
            return Answer(request, accepted=True, told="nothing new is started; what is being judged settles")
        return Answer(request, accepted=True, told="it goes on")

    def _check_meant(self, wish: Stop | Pause | Unpause, what: str) -> None:
        """Raises `ConfigError` where the run that is meant has ended, for the next one is not meant."""
        if wish.process != self._process:
            raise ConfigError(
                f"the run that was to {what} (process {wish.process}) has ended. Do: nothing, or {what} the one that runs now"
                if what != "go on"
                else f"the run that was to go on (process {wish.process}) has ended. Do: evolve run --continue"
            )

    def _configure(self, wish: Configure, request: str) -> Answer:
        campaign = self._campaign
        changes = retune(
            campaign.name,
            campaign.settings,
            wish.assignments,
            campaign.task,
            campaign.plugins,
            running=self.running,
        )
        if not changes:
            return Answer(request, accepted=True, told="that is what it has already")
        campaign.retune(changes, request)
        return Answer(request, accepted=True, told=f"changed: {', '.join(wish.assignments)}")
