"""Conformance suites for authors of strategies, operators and evaluators: what the engine relies on, as checks for a test.

Invariant: what passes here was seen to keep the promises of `evolve.protocols`: it is deterministic, `ask` changes no
state, a replay rebuilds it, and it names only what exists. A broken promise is an `AssertionError` that says which."""

import inspect
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.random import Generator

from evolve.archive import Archive, ArchiveSettings
from evolve.protocols import Context, Evaluator, Operator, Strategy
from evolve.types import (
    FAILURES,
    Action,
    Asked,
    Axis,
    Child,
    EditError,
    Evaluation,
    EvaluatorSource,
    Event,
    Lesson,
    MachineMeasured,
    Measure,
    Opened,
    Origin,
    Outcome,
    Program,
    ProgramId,
    Progress,
    Propose,
    Rearrange,
    Rearranged,
    Record,
    RecordId,
    Ruled,
    Selection,
    Settled,
    Stage,
    Task,
    Traits,
    Wait,
    canonical,
)

OPERATORS = ("first", "second", "third")
IN_FLIGHT = 3
OPTIMUM = 3.0
FUNCTIONS = frozenset({"certify", "fingerprint", "draw"})
"""What the engine may ask of an evaluator about the artifacts of an evaluation."""


class RehearsedHistory:
    """A `History` over records that are all held in memory."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.programs: dict[ProgramId, Program] = {}
        self.texts: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self.records)

    def record(self, record: RecordId) -> Record:
        assert 1 <= record <= len(self.records), f"a record of 1..{len(self.records)} is asked for, got {record}"
        return self.records[record - 1]

    def fitness(self, record: RecordId) -> float | None:
        return self.record(record).evaluation.fitness

    def violation(self, record: RecordId) -> float:
        return self.record(record).evaluation.violation

    def outcome(self, record: RecordId) -> Outcome:
        return self.record(record).evaluation.outcome

    def operator(self, record: RecordId) -> str:
        return self.record(record).origin.operator

    def parents(self, record: RecordId) -> tuple[RecordId, ...]:
        return self.record(record).origin.parents

    def children(self, record: RecordId) -> Sequence[RecordId]:
        made = (other for other in self.records if other.origin.kind == "proposal")
        return [other.id for other in made if record in other.origin.parents]

    def failures(self, count: int) -> Sequence[RecordId]:
        made = (other for other in reversed(self.records) if other.origin.kind == "proposal" and other.program)
        return [other.id for other in made if other.evaluation.outcome in FAILURES][:count]

    def program_id(self, record: RecordId) -> ProgramId | None:
        return self.record(record).program

    def extras(self, plugin: str, after: RecordId = 0) -> Sequence[tuple[RecordId, Any]]:
        return [(record.id, record.extras[plugin]) for record in self.records[after:] if plugin in record.extras]

    def program(self, program: ProgramId) -> Program:
        return self.programs[program]

    def text(self, text: str) -> str:
        if text not in self.texts:
            raise KeyError(f"this rehearsal stores no such text, got {text!r}")
        return self.texts[text]


class Rehearsal:
    """A campaign without processes and files, and the `View` of it: a program is one number, best at `OPTIMUM`.

    What happens depends on `seed` and on the actions alone. Everything that happened is in `events`, in order."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.events: list[Event] = []
        self.task = rehearsed_task()
        settings = ArchiveSettings(islands=3)
        self.archive = Archive(self.task.axes, settings, deterministic=True, certifies=False, bound=None)
        self.history = RehearsedHistory()
        self.lessons: Sequence[Lesson] = ()
        self.progress = Progress()
        self.pending: list[Asked] = []
        self.operators: Sequence[str] = OPERATORS
        self.needs: dict[str, Traits] = {}
        """What operators need of a selection, where it is not the usual."""
        self.budget_used = 0.0
        self._steps = 0

    def open(self) -> None:
        """The events of a new campaign, until its seed has settled."""
        self.events.append(Opened("rehearsal", self.task.name, self.task.version, "", {}))
        self.events.append(MachineMeasured("none", 0.0, "none"))
        self._settle(Origin("seed", 0), 0.0)

    def traits(self, operator: str) -> Traits:
        """What an operator needs of its selection."""
        return self.needs.get(operator, Traits())

    def rng(self, step: int, purpose: int = 0) -> Generator:
        """The stream of a step, as the engine makes it: it depends on seed, step and purpose alone."""
        return np.random.default_rng((self.seed, step, purpose))

    def start(self, action: Propose | Measure) -> None:
        """The action is decided upon."""
        self._steps += 1
        asked = Asked(self._steps, action, len(self.history))
        self.pending.append(asked)
        self.events.append(asked)

    def rearrange(self, action: Rearrange) -> None:
        """An island gets other programs."""
        self.archive.rearrange(action.island, action.records)
        self.events.append(Rearranged(action.island, action.records, action.why))

    def finish(self) -> None:
        """One of the pending steps ends, not always the oldest: proposals fail at times, and some are never judged."""
        rng = self.rng(len(self.history), 1)
        asked = self.pending.pop(int(rng.integers(len(self.pending))))
        match asked.action:
            case Measure(about=about):
                origin = Origin("measurement", asked.step, about=about)
                self._settle(origin, self._number(about))
            case Propose(selection=chosen):
                parents, inspirations = chosen.parents, chosen.inspirations
                origin = Origin("proposal", asked.step, 0, 1, chosen.island, chosen.operator, "", parents, inspirations)
                made = rng.random() < 0.9
                start = self._number(parents[0]) if parents else 0.0
                self._settle(origin, start + float(rng.normal()) if made else None, crashed=rng.random() < 0.1)

    def quarantine_best(self) -> ProgramId | None:
        """The best program is ruled out, and named; None while the best one is the seed."""
        best = self.archive.best
        if best is None or best.program == self.task.seed.id:
            return None
        ruling = Ruled("quarantine", best.program, "rehearsal")
        self.archive.rule(ruling)
        self.events.append(ruling)
        return best.program

    def _number(self, record: RecordId) -> float:
        program = self.history.program_id(record)
        return 0.0 if program is None else float(self.history.program(program).files["seed.py"].removeprefix("x = "))

    def _settle(self, origin: Origin, number: float | None, crashed: bool = False) -> None:
        program = None if number is None else _program(number)
        if number is None or program is None:
            evaluation = Evaluation.failed(Outcome.SCREENED, "nothing to judge")
        elif crashed:
            evaluation = Evaluation.failed(Outcome.CRASHED, "it crashed", seconds=0.1)
        else:
            evaluation = Evaluation.ok(-((number - OPTIMUM) ** 2), descriptors={"x": number})
        record = Record(len(self.history) + 1, origin, program.id if program else None, evaluation)
        self.history.records.append(record)
        if program:
            self.history.programs[program.id] = program
        self.events.append(Settled(record, self.archive.settle(record)))
        judged = origin.kind == "proposal" and evaluation.outcome is not Outcome.SCREENED
        self.progress = Progress(
            programs=self.progress.programs + judged, records=len(self.history), seconds=0.1 * len(self.history)
        )


def check_strategy(make: Callable[[Sequence[str]], Strategy], steps: int = 120) -> None:
    """Rehearses a campaign of `steps` actions, up to `IN_FLIGHT` at a time, with the strategy of `make(operators)`.

    Checked: the same view and generator give the same action, asking changes no state, a fresh strategy that is told
    the same events asks the same, only known records and operators are named, a quarantined program is left alone, an
    operator that `view.operators` lacks from the middle on is not used, and it never waits while nothing is pending."""
    rehearsal, strategy, told = Rehearsal(), make(OPERATORS), 0
    rehearsal.open()
    quarantined: ProgramId | None = None
    for step in range(1, steps + 1):
        for event in rehearsal.events[told:]:
            strategy.tell(event)
        told = len(rehearsal.events)
        action = _ask(strategy, rehearsal, step)
        if step % 10 == 0:
            replayed = _replayed(make, rehearsal.events).ask(rehearsal, rehearsal.rng(step))
            assert replayed == action, (
                f"a replay of the same events asks otherwise at step {step}: {replayed} != {action}"
            )
        _check_action(action, rehearsal, quarantined)
        _act(rehearsal, action)
        if quarantined is None and step >= steps // 2:
            quarantined = rehearsal.quarantine_best()
            rehearsal.operators = OPERATORS[:-1]


def _ask(strategy: Strategy, rehearsal: Rehearsal, step: int) -> Action:
    action = strategy.ask(rehearsal, rehearsal.rng(step))
    for other in range(3):
        strategy.ask(rehearsal, rehearsal.rng(step, 2 + other))
    again = strategy.ask(rehearsal, rehearsal.rng(step))
    assert again == action, f"the same view and generator give another action at step {step}: {again} != {action}"
    return action


def _replayed(make: Callable[[Sequence[str]], Strategy], events: Sequence[Event]) -> Strategy:
    strategy = make(OPERATORS)
    for event in events:
        strategy.tell(event)
    return strategy


def _act(rehearsal: Rehearsal, action: Action) -> None:
    if isinstance(action, Rearrange):
        rehearsal.rearrange(action)
    elif not isinstance(action, Wait):
        rehearsal.start(action)
    if isinstance(action, Wait) or len(rehearsal.pending) >= IN_FLIGHT:
        rehearsal.finish()


def _check_action(action: Action, rehearsal: Rehearsal, quarantined: ProgramId | None) -> None:
    known = range(1, len(rehearsal.history) + 1)
    match action:
        case Wait():
            assert rehearsal.pending, "it waits while nothing is pending: the campaign would stand still"
        case Measure(about=about, program=program):
            assert about in known, f"it measures record {about}, but there are {len(known)}"
            assert rehearsal.history.program_id(about) == program, f"record {about} does not hold the program {program}"
        case Rearrange(island=island, records=records):
            islands = rehearsal.archive.settings.islands
            assert 0 <= island < islands, f"it names island {island}, but there are {islands}"
            assert set(records) <= set(known), f"it arranges records {records}, but there are {len(known)}"
            assert len(set(records)) == len(records), f"it arranges a record twice: {records}"
            assert all(map(rehearsal.archive.accepts, records)), (
                f"it arranges records {records}, of which some failed or are quarantined"
            )
        case Propose(selection=selection):
            named = (*selection.parents, *selection.inspirations)
            unknown = [record for record in named if record not in known]
            assert not unknown, f"it names records {unknown}, but there are {len(known)}"
            assert selection.operator in rehearsal.operators, (
                f"it names the operator {selection.operator!r}, and may use {', '.join(rehearsal.operators)}"
            )
            islands = rehearsal.archive.settings.islands
            assert 0 <= selection.island < islands, f"it names island {selection.island}, but there are {islands}"
            programs = [rehearsal.history.program_id(record) for record in named]
            assert quarantined is None or quarantined not in programs, "it names a quarantined program"


def check_operator(make: Callable[[], Operator], programs: Sequence[Program]) -> None:
    """Lets the operators that `make()` returns propose children of each of `programs`.

    Checked: equal selections, histories and generators give equal children, also from an operator made afresh; a child
    differs from its parent; its extras are plain JSON; nothing but `EditError` is raised; at least one of `programs`
    has children."""
    fruitful = 0
    for number, program in enumerate(programs):
        first, second = (_children(make(), program, number) for _ in range(2))
        assert first == second, f"equal inputs give other children: {first} != {second}"
        fruitful += first is not None
        for child in first or ():
            assert child.program is None or child.program.files != program.files, "a child is equal to its parent"
            canonical(dict(child.extras))
    assert fruitful, f"none of the {len(programs)} programs has a child: every proposal ended with EditError"


def _children(operator: Operator, program: Program, number: int) -> Sequence[Child] | None:
    try:
        children = rehearse_proposal(operator, program, number)
    except EditError:
        return None
    assert children, "a proposal has a child, or ends with EditError"
    return children


def rehearse_proposal(operator: Operator, program: Program, seed: int = 0) -> Sequence[Child]:
    """What an operator proposes in a campaign that has nothing but `program`; raises what it raises."""
    history = RehearsedHistory()
    history.programs[program.id] = program
    history.records.append(Record(1, Origin("seed", 0), program.id, Evaluation.ok(1.0)))
    context = Context(rehearsed_task(program), history, np.random.default_rng(seed), math.inf, threading.Event())
    return list(operator.propose(Selection("checked", parents=(1,)), context))


def check_evaluator(make: Callable[[], Evaluator], task: Task | None = None) -> None:
    """Asks the evaluators that `make()` returns for what they have for `task` (without it, for a task of the rehearsal's).

    Checked: there are stages, with names of their own, limits above zero and no threshold on the last; every stage's function takes a
    candidate and a trial; it has no function but `certify`, `fingerprint` and `draw`, and `certify` where the task asks for it; an
    evaluator made afresh answers the same."""
    wanted = task or rehearsed_task()
    evaluator, again = make(), make()
    stages = [stage for stage, _ in evaluator.stages(wanted)]
    _check_stages(stages)
    functions = evaluator.functions(wanted)
    unknown = sorted(set(functions) - FUNCTIONS)
    assert not unknown, f"it has the functions {unknown}, of which the engine calls none"
    assert wanted.promotion != "certificate" or "certify" in functions, (
        "the task wants certificates, and it certifies nothing"
    )
    called = {stage.name: function for stage, function in evaluator.stages(wanted)} | dict(functions)
    for name, function in called.items():
        assert _takes_two(function), f"{name!r} is no function of two arguments, got {function!r}"
    for other in (evaluator, again):
        answer = [stage for stage, _ in other.stages(wanted)]
        assert answer == stages, f"the same task has other stages: {answer} != {stages}"
        assert set(other.functions(wanted)) == set(functions), "the same task has other functions"


def _check_stages(stages: Sequence[Stage]) -> None:
    names = [stage.name for stage in stages]
    assert stages, "it has no stage"
    assert all(names), "a stage has no name"
    assert len(set(names)) == len(names), f"two stages have one name: {names}"
    for stage in stages:
        assert 0 < stage.limit < math.inf, f"the limit of stage {stage.name!r} is {stage.limit} seconds"
    last = stages[-1]
    assert last.threshold is last.top is None, f"stage {last.name!r} is the last, and nothing reads its threshold"


def _takes_two(function: object) -> bool:
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    return True


class RehearsedCandidate:
    """Answers as a candidate does, without a process: `functions` are those of the program, called in this one."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], files: Mapping[str, str] | None = None) -> None:
        self.program = Program(files or {})
        self._functions = functions

    def call(self, function: str, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        """The answer of one function."""
        return self._functions[function](*arguments, **keywords)

    @contextmanager
    def session(self, seconds: float | None = None) -> Iterator["RehearsedCandidate"]:
        """Itself, for several calls."""
        yield self


def _program(number: float) -> Program:
    return Program({"seed.py": f"x = {number!r}"})


def rehearsed_task(seed: Program | None = None) -> Task:
    """The task of a rehearsal, with another seed program where one is given."""
    seed = seed or _program(0.0)
    return Task(
        name="rehearsal",
        folder="",
        version="1",
        brief="Find the best number.",
        seed=seed,
        entry="seed",
        evaluator=EvaluatorSource(path="evaluator.py"),
        deterministic=True,
        axes=(Axis("x", -4.0, 8.0, 6),),
    )
