"""Requests of people to a campaign, taken from its inbox by the engine or by a command.

Requests are taken in the order in which they were put, each once; one is answered and removed only when its effect is durable. A program that
a person brings passes the same rules as one that an operator proposes."""

import math
import time
from collections.abc import Collection, MutableMapping, Sequence

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
    Request,
    Ruling,
    RunControl,
)
from evolve.campaign.settings import retune
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
    RecordId,
    Ruled,
)

INTERVAL = 1.0
"""Seconds between two looks into the inbox."""
_NAMED = 10
"""Records that an answer about rulings names."""
_DONE = {"quarantine": "quarantined", "release": "released"}
_BEFORE = {"quarantine": "quarantined already", "release": "not quarantined"}


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
                # What comes after it may be about it.
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
        # Its process ended between the log and the inbox.
        if request.id in self._campaign.state.requests:
            return self._answer_again(request)
        try:
            return self._do(request)
        except EvolveError as error:
            return Answer(request.id, accepted=False, told=str(error))

    def _answer_again(self, request: Request) -> Answer:
        """Answers a request that was carried out by a process which ended before it could say so."""
        state = self._campaign.state
        return Answer(request.id, accepted=True, told="done", step=state.requests[request.id], best=best_record(state))

    def _do(self, request: Request) -> Answer:
        campaign, wish = self._campaign, request.wish
        match wish:
            case Ruling():
                return rule(campaign, wish, request.id)
            case Hint():
                return self._write_hint(wish, request.id)
            case Add():
                asked = import_program(campaign, wish, request.id, self._signatures)
                self._asked.append(asked)
                return Answer(request.id, accepted=True, told=f"asked as step {asked.step}", step=asked.step)
            case RunControl():
                return self._control(wish, request.id)
            case Configure():
                return self._configure(wish, request.id)

    def _write_hint(self, wish: Hint, request: str) -> Answer:
        text = wish.text.strip()
        if not text:
            raise ConfigError("a hint is a text, got an empty one. Try: write what the search should know")
        self._campaign.write(LessonWritten(Lesson(text, PERSON), request))
        return Answer(request, accepted=True, told=f"written down as lesson {len(self._campaign.state.lessons)}")

    def _control(self, wish: RunControl, request: str) -> Answer:
        verb = {"stop": "stop", "pause": "pause", "unpause": "go on"}[wish.what]
        if wish.process != self._process:
            # A request that its run did not live to take must not end or pause the next one.
            remedy = "evolve run --continue" if wish.what == "unpause" else f"nothing, or {verb} the one that runs now"
            raise ConfigError(f"the run that was to {verb} (process {wish.process}) has ended. Try: {remedy}")
        if wish.what == "stop":
            self.stopped = True
            return Answer(request, accepted=True, told="it ends as soon as what is being evaluated is done")
        return self._pause(request, on=wish.what == "pause")

    def _pause(self, request: str, *, on: bool) -> Answer:
        if self.stopped or not self.running:
            raise ConfigError("the run is ending, so that there is nothing to pause. Try: nothing")
        if self._campaign.state.paused == on:
            return Answer(request, accepted=True, told="it is paused already" if on else "it is not paused")
        self._campaign.write(Paused(on, request))
        told = "nothing new is started; what is being evaluated settles" if on else "it goes on"
        return Answer(request, accepted=True, told=told)

    def _configure(self, wish: Configure, request: str) -> Answer:
        campaign = self._campaign
        name, settings, task = campaign.name, campaign.settings, campaign.task
        changes = retune(name, settings, wish.assignments, task, campaign.plugins, running=self.running)
        if not changes:
            return Answer(request, accepted=True, told="that is what it has already")
        campaign.retune(changes, request)
        return Answer(request, accepted=True, told=f"changed: {', '.join(wish.assignments)}")


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
    raise ConfigError(f"the program is known: {alike} {which}. Try: add another one")


def _least_filled(state: State) -> int:
    islands = range(state.archive.settings.islands)
    return min(islands, key=lambda number: (state.archive.stats(number).elites, number))


def rule(campaign: Campaign, wish: Ruling, request: str) -> Answer:
    """Writes the rulings that a person asked for, and says what they changed; raises `ConfigError`. Inside a transaction."""
    state, former, what = campaign.state, best_record(campaign.state), wish.what
    family = _family(state, program_of(campaign, wish.record), descendants=wish.descendants)
    changed = [program for program in family if (program in state.quarantined) != (what == "quarantine")]
    if what == "quarantine":
        _check_something_is_left(campaign, changed)
    for program in changed:
        campaign.write(Ruled(what, program, PERSON, wish.why, request))
    first = state.columns.first_records()
    records = tuple(first[program] for program in changed)
    best = state.archive.best
    return Answer(
        request,
        accepted=True,
        told=_format_answer(campaign.name, wish, records),
        records=records,
        former=former,
        best=best_record(state),
        fitness=None if best is None else campaign.task.fitness.shown((best.reported or best.estimate).mean),
    )


def best_record(state: State) -> RecordId:
    """Returns the record of the best program; 0 where there is none."""
    best = state.archive.best
    return 0 if best is None else best.record


def program_of(campaign: Campaign, record: RecordId) -> ProgramId:
    """Returns the program of a record; raises `ConfigError` where there is none."""
    programs = campaign.state.columns.programs
    if not 1 <= record <= len(programs):
        raise ConfigError(
            f"campaign {campaign.name!r} has no record {record}: it has {len(programs)}. "
            f"Try: `evolve program list {campaign.name} --all` shows them"
        )
    program = programs[record - 1]
    if program is None:
        raise ConfigError(
            f"{campaign.name}/{record} has no program: its proposal was screened. Try: `evolve program list` shows those that have one"
        )
    return program


def _family(state: State, program: ProgramId, *, descendants: bool) -> Sequence[ProgramId]:
    """Returns the program, and all that have it or one of the others among their parents, in the order of their records."""
    family = {program: None}
    if descendants:
        programs = state.columns.programs
        # Parents settle before their children, so that one pass finds all generations.
        for child, parents in zip(programs, state.columns.parents, strict=True):
            if child is not None and any(programs[parent - 1] in family for parent in parents):
                family[child] = None
    return list(family)


def _check_something_is_left(campaign: Campaign, leaving: Collection[ProgramId]) -> None:
    columns, quarantined = campaign.state.columns, campaign.state.quarantined
    out = {*leaving, *quarantined}
    values = zip(columns.programs[columns.since :], columns.fitness[columns.since :], strict=True)
    if leaving and all(program in out or math.isnan(fitness) for program, fitness in values):
        raise ConfigError(
            f"nothing would be left in campaign {campaign.name!r} that could be a parent. "
            f"Try: add another program first (evolve program add FILE --campaign {campaign.name})"
        )


def _format_answer(name: str, wish: Ruling, records: Sequence[RecordId]) -> str:
    if not records:
        more = ", and so is all that came of it" if wish.descendants else ""
        return f"{name}/{wish.record} is {_BEFORE[wish.what]}{more}"
    more = f" and {len(records) - _NAMED:,} more" if len(records) > _NAMED else ""
    return f"{_DONE[wish.what]}: {', '.join(f'{name}/{record}' for record in records[:_NAMED])}{more}"
