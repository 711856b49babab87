"""Takes what persons ask of a campaign out of its inbox: the engine while it runs, a command where no engine does.

Invariant: requests are taken in the order in which they were put, each once; one is answered and removed only when what came of it is
durable. Main thread."""

import time
from collections.abc import MutableMapping, Sequence

from evolve.campaign import Campaign
from evolve.campaign.inbox import Inbox, Letter
from evolve.campaign.requests import PERSON, Add, Answer, Hint, Quarantine, Release, Request, Stop
from evolve.campaign.rulings import best_record, rule
from evolve.loop.importing import Known, imported
from evolve.types import Asked, ConfigError, Lesson, LessonWritten, ProgramId, StoreError

INTERVAL = 1.0
"""Seconds between two looks into the inbox."""


class Requests:
    """The requests of one campaign, for the process `process` that writes its log. `stopped`: somebody asked that it ends.
    `signatures` are those of all programs that are known or under way."""

    def __init__(self, campaign: Campaign, signatures: MutableMapping[str, ProgramId], process: int) -> None:
        self._campaign = campaign
        self._signatures = signatures
        self._process = process
        self._inbox = Inbox(campaign.log.path)
        self._answers: list[tuple[Letter, Answer]] = []
        self._asked: list[Asked] = []
        self._last = -INTERVAL
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
        if request.id in self._campaign.state.requests:
            return self._done_before(request)
        try:
            return self._done(request)
        except Known as error:
            return Answer(request.id, accepted=False, told=str(error), records=(error.record,) if error.record else ())
        except (ConfigError, StoreError) as error:
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

    def _written(self, wish: Hint, request: str) -> Answer:
        text = wish.text.strip()
        if not text:
            raise ConfigError("a hint is a text, got an empty one. Do: write what the search should know")
        self._campaign.write(LessonWritten(Lesson(text, PERSON), request))
        return Answer(request, accepted=True, told=f"written down as lesson {len(self._campaign.state.lessons)}")

    def _stopped(self, wish: Stop, request: str) -> Answer:
        """A run that has ended since cannot be stopped, and the next one is not meant."""
        if wish.process != self._process:
            raise ConfigError(
                f"the run that was to stop (process {wish.process}) has ended. Do: nothing, or stop the one that runs now"
            )
        self.stopped = True
        return Answer(request, accepted=True, told="it ends as soon as what is being judged is done")
