"""Takes what persons ask of a campaign out of its inbox: the engine while it runs, a command where no engine does.

Invariant: requests are taken in the order in which they were put, each once; one is answered and removed only when what came of it is
durable. Main thread."""

import time
from collections.abc import MutableMapping, Sequence

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
from evolve.campaign.retuning import retuned
from evolve.campaign.rulings import best_record, rule
from evolve.engine.importing import Known, imported
from evolve.types import Asked, ConfigError, EvolveError, Lesson, LessonWritten, Paused, ProgramId

INTERVAL = 1.0
"""Seconds between two looks into the inbox."""


class Requests:
    """The requests of one campaign, for the process `process` that writes its log; `running`: an engine that can be paused. `stopped`: somebody
    asked that it ends. `signatures` are those of all programs that are known or under way."""

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
        """Whether it is time for another look; `now` is a time of `time.monotonic`."""
        return now - self._last >= INTERVAL

    def take(self, *, adding: bool) -> Sequence[Asked]:
        """Does what is asked, and returns the steps to start. Without `adding`, a program that is to be added stays where it is, and
        all that comes after it. Inside a transaction."""
        self._last = time.monotonic()
        self._asked = []
        for letter in self._inbox.letters():
            if isinstance(letter.request.wish, Add) and not adding:
                break
            self._answers.append((letter, self._answered(letter.request)))
        return self._asked

    def answer(self) -> None:
        """Tells who asked what came of it, when that is durable."""
        for letter, answer in self._answers:
            self._inbox.answer(letter, answer)
        self._answers.clear()

    def _answered(self, request: Request) -> Answer:
        """Does what is asked, or says why not."""
        if request.id in self._campaign.state.requests:
            return self._done_before(request)
        try:
            return self._done(request)
        except Known as error:
            return Answer(request.id, accepted=False, told=str(error), records=(error.record,) if error.record else ())
        except EvolveError as error:
            return Answer(request.id, accepted=False, told=str(error))

    def _done_before(self, request: Request) -> Answer:
        """It was done, and the process that did it ended before it could say so."""
        state = self._campaign.state
        return Answer(request.id, accepted=True, told="done", step=state.requests[request.id], best=best_record(state))

    def _done(self, request: Request) -> Answer:
        campaign, wish = self._campaign, request.wish
        match wish:
            case Quarantine() | Release():
                return rule(campaign, wish, request.id)
            case Hint():
                return self._written(wish, request.id)
            case Add():
                asked = imported(campaign, wish, request.id, self._signatures)
                self._asked.append(asked)
                return Answer(request.id, accepted=True, told=f"asked as step {asked.step}", step=asked.step)
            case Stop():
                return self._stopped(wish, request.id)
            case Pause() | Unpause():
                return self._paused(wish, request.id)
            case Configure():
                return self._configured(wish, request.id)

    def _written(self, wish: Hint, request: str) -> Answer:
        text = wish.text.strip()
        if not text:
            raise ConfigError("a hint is a text, got an empty one. Do: write what the search should know")
        self._campaign.write(LessonWritten(Lesson(text, PERSON), request))
        return Answer(request, accepted=True, told=f"written down as lesson {len(self._campaign.state.lessons)}")

    def _stopped(self, wish: Stop, request: str) -> Answer:
        self._check_meant(wish, "stop")
        self.stopped = True
        return Answer(request, accepted=True, told="it ends as soon as what is being judged is done")

    def _paused(self, wish: Pause | Unpause, request: str) -> Answer:
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
        """A run that has ended since cannot be stopped or paused, and the next one is not meant."""
        if wish.process != self._process:
            raise ConfigError(
                f"the run that was to {what} (process {wish.process}) has ended. Do: nothing, or {what} the one that runs now"
                if what != "go on"
                else f"the run that was to go on (process {wish.process}) has ended. Do: evolve run --continue"
            )

    def _configured(self, wish: Configure, request: str) -> Answer:
        campaign = self._campaign
        changes = retuned(
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
