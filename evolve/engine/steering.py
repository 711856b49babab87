"""Requests of people to a campaign, taken from its inbox by the engine or by a command.

Requests are taken in the order in which they were put, each once; one is answered and removed only when its effect is durable. A program that
a person brings passes the same rules as one that an operator proposes."""

import time
from collections.abc import MutableMapping, Sequence

from evolve import novelty
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
from evolve.campaign.rulings import best_record, program_of, rule
from evolve.campaign.state import State
from evolve.edits import changes
from evolve.types import (
    Asked,
    ConfigError,
    EvolveError,
    Import,
    Lesson,
    LessonWritten,
    Paused,
    PluginError,
    Program,
    ProgramId,
)

INTERVAL = 1.0
"""Seconds between two looks into the inbox."""


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
        except KnownProgram as error:
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
                asked = import_program(campaign, wish, request.id, self._signatures)
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
            raise ConfigError("a hint is a text, got an empty one. Try: write what the search should know")
        self._campaign.write(LessonWritten(Lesson(text, PERSON), request))
        return Answer(request, accepted=True, told=f"written down as lesson {len(self._campaign.state.lessons)}")

    def _stop(self, wish: Stop, request: str) -> Answer:
        self._check_meant(wish, "stop")
        self.stopped = True
        return Answer(request, accepted=True, told="it ends as soon as what is being evaluated is done")

    def _pause(self, wish: Pause | Unpause, request: str) -> Answer:
        pauses = isinstance(wish, Pause)
        self._check_meant(wish, "pause" if pauses else "go on")
        if self.stopped or not self.running:
            raise ConfigError("the run is ending, so that there is nothing to pause. Try: nothing")
        if self._campaign.state.paused == pauses:
            return Answer(request, accepted=True, told="it is paused already" if pauses else "it is not paused")
        self._campaign.write(Paused(pauses, request))
        if pauses:
            return Answer(request, accepted=True, told="nothing new is started; what is being evaluated settles")
        return Answer(request, accepted=True, told="it goes on")

    def _check_meant(self, wish: Stop | Pause | Unpause, what: str) -> None:
        """Raises `ConfigError` where the run that is meant has ended, for the next one is not meant."""
        if wish.process != self._process:
            raise ConfigError(
                f"the run that was to {what} (process {wish.process}) has ended. Try: nothing, or {what} the one that runs now"
                if what != "go on"
                else f"the run that was to go on (process {wish.process}) has ended. Try: evolve run --continue"
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


class KnownProgram(ConfigError):
    """Refusal of a program that the campaign has, as `record`; 0 while it is evaluated."""

    def __init__(self, message: str, record: int) -> None:
        super().__init__(message)
        self.record = record


def import_program(campaign: Campaign, wish: Add, request: str, signatures: MutableMapping[str, ProgramId]) -> Asked:
    """Writes the step that evaluates a person's program, and stores the program. Raises `ConfigError`.
    `signatures` are those of all programs that are known or under way. Inside a transaction."""
    state, program = campaign.state, Program(wish.files)
    parents = (wish.parent,) if wish.parent else ()
    family = [state.reader.program(program_of(campaign, parent)) for parent in parents]
    signature = novelty.signature(program)
    _check_new(campaign, program, signature, signatures)
    reason = changes.refusal(campaign.task, program)
    try:
        reason = reason or campaign.plugins.screen(campaign.task, program, family) or ""
    except PluginError as error:
        # A broken plugin is told to the person who asks, and ends no run.
        reason = str(error)
    if reason:
        raise ConfigError(f"the program may not be evaluated: {reason}. Try: mend it, and add it again")
    campaign.log.put_program(program, signature)
    signatures[signature] = program.id
    island = state.reader.settled(wish.parent).record.origin.island if wish.parent else _least_filled(state)
    action = Import(program.id, island, parents, wish.thought, request)
    asked = Asked(state.last_step + 1, action, after=len(state.columns.programs))
    campaign.write(asked)
    return asked


def _check_new(
    campaign: Campaign, program: Program, signature: str, signatures: MutableMapping[str, ProgramId]
) -> None:
    known = signatures.get(signature)
    if known is None:
        return
    record = campaign.state.columns.first_records().get(known, 0)
    alike = "it is" if known == program.id else "but for spacing and comments it is"
    which = f"{campaign.name}/{record}" if record else "one that is being evaluated"
    raise KnownProgram(f"the program is known: {alike} {which}. Try: add another one", record)


def _least_filled(state: State) -> int:
    islands = range(state.archive.settings.islands)
    return min(islands, key=lambda number: (state.archive.stats(number).elites, number))
