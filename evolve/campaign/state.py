"""Fold of a campaign's events, in their order, into everything that it knows.

Live and replayed events pass the same `settle` and `absorb`, so a replayed state equals the live one."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from evolve.bounded_cache import BoundedCache
from evolve.campaign.folds import (
    REFLECTION,
    Calls,
    Cases,
    LevelsReached,
    Refusals,
    add_call,
    add_preview,
    add_record,
    is_note,
)
from evolve.campaign.history import Columns, Past, Reader, without_result
from evolve.campaign.settings import WHILE_RUNNING, make_archive
from evolve.config import Settings
from evolve.types import (
    NOBODYS_FAULT,
    Asked,
    Call,
    Event,
    Import,
    Insertion,
    Lesson,
    LessonWritten,
    MachineMeasured,
    Measure,
    Opened,
    Outcome,
    Paused,
    Placement,
    Previewed,
    ProgramId,
    Progress,
    Propose,
    Record,
    RecordId,
    Replied,
    Ruled,
    SettingsChanged,
    Settled,
    Task,
    TaskChanged,
)

BOUND = "bound"
"""Author of the quarantine of a program that is beyond the proven bound."""
INTEGRITY = "integrity"
"""Author of the quarantine of a program that the evaluator has tagged."""
FOUND = frozenset({BOUND, INTEGRITY})
"""Authors whose rulings rest on the findings of one version of the task, and are void under the next one."""
NOT_FOLDED = WHILE_RUNNING | {"judges"}
"""Settings that the fold does not depend on; older logs call the workers `judges`."""
NOISE = "noise floor"
"""Why the seed of a noisy task is measured again."""


@dataclass(slots=True)
class Step:
    """A step that was asked and has not settled as a whole: `settled` holds the indices of the children that have, `replies` what models
    have answered, by the call's index, `previews` what its operator has had evaluated. `quarantined` are the programs that were ruled out when it was asked, `best` the record of
    the best program then (0: none), `rivals` the number of other steps on the same parent that know of the same proposals of models."""

    asked: Asked
    quarantined: frozenset[ProgramId] = frozenset()
    best: RecordId = 0
    rivals: int = 0
    settled: set[int] = field(default_factory=set)
    replies: dict[int, Call] = field(default_factory=dict)
    previews: list[Previewed] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first record that the archive treats differently than the log says it did."""

    record: RecordId
    stored: Placement
    computed: Placement

    def __str__(self) -> str:
        return f"record {self.record}: the log says {self.stored}, this version of the code says {self.computed}"


class State:
    """Archive, history, progress, lessons and unfinished steps. `tell` gets every event after the state has taken it."""

    def __init__(
        self,
        task: Task,
        settings: Settings,
        reader: Reader,
        tell: Callable[[Event], None],
    ) -> None:
        self.columns = Columns()
        self.reader = reader
        self.lessons: list[Lesson] = []
        self.calls = Calls()
        self.records_to_learn = 0
        """Number of records to learn from: all but those of reflections."""
        self.records_learnt = 0
        """Value of `records_to_learn` when lessons were asked for last."""
        self.hurried: set[ProgramId] = set()
        """Programs that timed out under a shorter limit than their stage's, and were not evaluated otherwise."""
        self.quarantined: dict[ProgramId, Ruled] = {}
        self._ruled_out: frozenset[ProgramId] = frozenset()
        self.requests: dict[str, int] = {}
        """The ids of what persons asked for and was done, with the step that it led to; 0 where there is none."""
        self.paused = False
        """A person wants nothing to be started."""
        self.former: list[RecordId] = []
        """Result of `elites` before `TaskChanged`."""
        self.evaluated: set[ProgramId] = set()
        """Programs that were evaluated since `TaskChanged`; empty before the first."""
        self._spent = Progress()
        self.seconds = 0.0
        """Seconds that the campaign had run at the last event, over all its runs."""
        self.steps: dict[int, Step] = {}
        self.last_step = 0
        self.difference: Difference | None = None
        self.machine: MachineMeasured | None = None
        self.reached = LevelsReached()
        """The levels of isolation of its runs."""
        self.seed_values: list[float] = []
        self.noise_values: list[float] = []
        """The part of `seed_values` that was measured on the present hardware class."""
        self._settings = settings
        self._tell = tell
        self._begin_task(task)

    def _begin_task(self, task: Task) -> None:
        """Begins with an empty archive, and no evaluated seed."""
        self.task = task
        self.archive = make_archive(task, self._settings)
        self.carries = bool(task.carry) and self._settings.carry
        self.cases = Cases(task, carries=self.carries)
        self.claimed: set[ProgramId] = set()
        """Programs with a score that nobody but they themselves have computed."""
        self.seed_record: RecordId = 0
        """The record of the task's seed; 0 while it has not settled."""
        self.seed_seconds: float | None = None
        """Seconds of the evaluation of that record."""
        self.seed_values.clear()
        self.noise_values.clear()
        self.derived = BoundedCache()
        """Cache of values derived from records, as this version of the task has evaluated them."""
        self.refusals = Refusals()

    @property
    def progress(self) -> Progress:
        """Progress up to the last event."""
        return self.progress_at(self.seconds)

    def progress_at(self, seconds: float) -> Progress:
        """Returns the progress of a campaign that has run for so many seconds."""
        return replace(self._spent, seconds=seconds)

    @property
    def history(self) -> Past:
        """Records that have settled until now."""
        return self.past(len(self.columns.programs))

    def past(self, length: int) -> Past:
        """Returns the first `length` records."""
        return Past(self.columns, self.reader, length)

    @property
    def noise_floor(self) -> float | None:
        """Spread of equal measurements on this machine, in the fitness's unit; None until it is known."""
        return self.machine.noise_floor if self.machine else None

    def settle(self, record: Record) -> Settled:
        """Takes a record, in a run and in a replay: the archive gives it its place, unless it was evaluated on a case; returns the event that says so."""
        if record.origin.case:
            event = Settled(record, Placement(Insertion.NOT_ADDED, record.origin.island))
        else:
            event = Settled(record, self.archive.settle(record))
        self.absorb(event)
        return event

    def replay(self, event: Event) -> None:
        """Takes a replayed step: the same, and the first difference to what is stored is kept."""
        if not isinstance(event, Settled):
            self.absorb(event)
            return
        computed = self.settle(event.record)
        if computed.placement != event.placement and self.difference is None:
            self.difference = Difference(event.record.id, event.placement, computed.placement)

    def absorb(self, event: Event) -> None:
        """Takes an event; a settled record has passed the archive already."""
        match event:
            case Settled():
                self._record(event.record, event.placement.insertion)
            case Asked():
                self._ask(event)
            case Opened(machines=inherited):
                self.reached = LevelsReached(inherited)
            case TaskChanged():
                self._change_task(self.reader.task(event.definition))
            case MachineMeasured():
                self._arrive(event)
            case Ruled():
                self._rule(event)
            case LessonWritten() | Paused() | SettingsChanged():
                self._steer(event)
            case Replied():
                self._reply(event)
            case Previewed():
                self._preview(event)
            case _:
                pass
        # The strategy learns last: what it asks of the archive is then the state after the event.
        self._tell(replace(event, record=without_result(event.record)) if isinstance(event, Settled) else event)

    def _arrive(self, machine: MachineMeasured) -> None:
        if self.machine is not None and self.machine.hardware != machine.hardware:
            # Noise and scores that depend on the machine are not those of another one.
            self.noise_values.clear()
            if not self.task.deterministic:
                self.cases.move(self.machine.hardware, machine.hardware)
                self.columns.moved = len(self.columns.programs)
        self.machine = machine
        self.reached.add(machine.isolation)
        self.archive.move_to_machine(machine)

    def _ask(self, event: Asked) -> None:
        self.steps[event.step] = self._begin_step(event)
        self.last_step = event.step
        self.calls.begin(event)
        match event.action:
            case Measure(case=""):
                self.archive.mark_asked(event.action)
            case Propose(selection=selection) if selection.operator == REFLECTION:
                self.records_learnt = self.records_to_learn
            case Propose(selection=selection):
                self.refusals.ask(selection.operator, event.step)
            case Import():
                self._note_request(event.action.request, event.step)

    def _begin_step(self, event: Asked) -> Step:
        """Returns the step with what its prompt says of this moment; a later run builds the same prompt from it."""
        if not isinstance(event.action, Propose) or not event.action.selection.model:
            return Step(event, self._ruled_out)
        best, parents = self.archive.best, event.action.selection.parents[:1]
        # Only what knows of the same proposals would be asked in the same words.
        proposed = self.columns.proposed
        equal = (
            step.asked.action
            for step in self.steps.values()
            if bisect_right(proposed, step.asked.after) == bisect_right(proposed, event.after)
        )
        rivals = sum(isinstance(each, Propose) and each.selection.parents[:1] == parents for each in equal)
        return Step(event, self._ruled_out, 0 if best is None else best.record, rivals)

    def _reply(self, event: Replied) -> None:
        call = event.call
        self._spent = add_call(self._spent, call)
        self.calls.add(event)
        step = self.steps.get(event.step)
        # A step that is not finished may run again, and is then answered from here.
        if step is not None and event.index >= 0:
            step.replies[event.index] = call

    def _preview(self, event: Previewed) -> None:
        self._spent = add_preview(self._spent, event.evaluation)
        if (step := self.steps.get(event.step)) is not None:
            step.previews.append(event)

    def _note_request(self, request: str, step: int = 0) -> None:
        """Notes the person's request that an event came of; an empty id means that there was none."""
        if request:
            self.requests[request] = step

    def _steer(self, event: LessonWritten | Paused | SettingsChanged) -> None:
        if isinstance(event, LessonWritten):
            self.lessons.append(event.lesson)
        elif isinstance(event, Paused):
            self.paused = event.paused
        elif not event.changes.keys() <= NOT_FOLDED:
            # Operators that were refused may propose something new under other settings.
            self.refusals = Refusals()
        self._note_request(event.request)

    def _rule(self, ruling: Ruled) -> None:
        self.archive.rule(ruling)
        self._note_request(ruling.request)
        match ruling.what:
            case "quarantine":
                self.quarantined[ruling.about] = ruling
                self.refusals = Refusals()
            case "release":
                self.quarantined.pop(ruling.about, None)
                self.refusals = Refusals()
        self._ruled_out = frozenset(self.quarantined)

    def _change_task(self, task: Task) -> None:
        """Begins anew with another version of the task. Steps that had not settled are given up: they were asked of the archive that was."""
        self.former = self.elites()
        self.steps.clear()
        self.evaluated.clear()
        self.columns.since = len(self.columns.programs)
        self.columns.cases.clear()
        self._begin_task(task)
        # What a rule found with the old evaluator's values is void; what a person has decided stays.
        self.quarantined = {about: ruling for about, ruling in self.quarantined.items() if ruling.by not in FOUND}
        self._ruled_out = frozenset(self.quarantined)
        for ruling in self.quarantined.values():
            self.archive.rule(ruling)
        if self.machine is not None:
            self.machine = replace(self.machine, noise_floor=None)
            self.archive.move_to_machine(self.machine)

    def elites(self) -> list[RecordId]:
        """Returns the first record of every elite and of the Pareto front, the best first; then the former elites that this version of the task has not evaluated, or has
        refused: the next one may know better."""
        programs, since = self.columns.programs, self.columns.since
        holders = [*self.archive.elites(), *self.archive.front()]
        held = sorted(holders, key=lambda elite: (elite.violation, -elite.fitness, elite.record))
        values = zip(programs[since:], self.columns.fitness[since:], strict=True)
        known = {elite.program for elite in held} | {program for program, fitness in values if not math.isnan(fitness)}
        left = [record for record in self.former if programs[record - 1] not in known]
        first = self.columns.first_records()
        return [*dict.fromkeys(first[elite.program] for elite in held), *left]

    def _note_evaluation(self, program: ProgramId, record: Record) -> None:
        """Takes what an evaluation says of its program, beside what the archive makes of it."""
        evaluation = record.evaluation
        if evaluation.limit:
            self.hurried.add(program)
        else:
            self.hurried.discard(program)
        if evaluation.fitness is not None and evaluation.trust == "claimed":
            self.claimed.add(program)
        if self.columns.since and evaluation.outcome not in NOBODYS_FAULT and not record.origin.case:
            self.evaluated.add(program)

    def _record(self, record: Record, insertion: Insertion) -> None:
        self._spent = add_record(self._spent, record, len(self.task.cases))
        self.columns.append(record, insertion, self._spent)
        # Lessons about lessons would keep the model busy with itself.
        self.records_to_learn += not is_note(record.origin)
        self.last_step = max(self.last_step, record.origin.step)
        if record.origin.kind == "seed" and record.evaluation.outcome is not Outcome.INTERNAL:
            self.seed_record, self.seed_seconds = record.id, record.evaluation.seconds
        if record.origin.case:
            self.cases.settle(record)
        elif (
            record.program == self.task.seed.id
            and record.evaluation.fitness is not None
            and not record.evaluation.certified
        ):
            self.seed_values.append(record.evaluation.fitness)
            self.noise_values.append(record.evaluation.fitness)
        if record.program is not None:
            self._note_evaluation(record.program, record)
        step = self.steps.get(record.origin.step)
        called = step is not None and bool(step.replies)
        # A note that no model was called for costs nothing, and must not be asked for without end.
        if record.origin.kind in ("proposal", "import", "note") and not (called and is_note(record.origin)):
            self.refusals.settle(record, called=called)
        # With another parent to choose, an operator that was refused may find something new.
        if insertion >= Insertion.IMPROVED:
            self.refusals.renew()
        if step is not None:
            step.settled.add(record.origin.index)
            if len(step.settled) == record.origin.count:
                del self.steps[record.origin.step]
                self.calls.end(record.origin.step)

    def open_steps(self) -> Sequence[Step]:
        """Steps to finish first, in their order."""
        return [self.steps[number] for number in sorted(self.steps)]
