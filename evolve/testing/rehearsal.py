"""A campaign without processes, files and models, for tests: its history, its view, and callers with a script of answers.

The course of a rehearsal depends on its seed and on its requests alone."""

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.random import Generator

from evolve.archive import Archive, ArchiveSettings
from evolve.protocols import Context, SessionOpener, no_model, no_session
from evolve.types import (
    FAILURES,
    REJUDGED,
    Asked,
    Axis,
    Evaluation,
    EvaluatorSource,
    Event,
    Lesson,
    MachineMeasured,
    Measure,
    ModelError,
    Opened,
    Origin,
    Outcome,
    Program,
    ProgramId,
    Progress,
    Prompt,
    Propose,
    Record,
    RecordId,
    Reply,
    Ruled,
    Selection,
    Settled,
    Task,
    TaskChanged,
    Traits,
    Usage,
    estimate_tokens,
)

OPERATORS = ("first", "second", "third")
MODELS = ("rehearsed", "other")
OPTIMUM = 3.0


class RehearsedHistory:
    """Implementation of `History` over records in memory."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.programs: dict[ProgramId, Program] = {}
        self.texts: dict[str, str] = {}
        self.since: RecordId = 0
        """The last record of an earlier version of the task."""

    def __len__(self) -> int:
        return len(self.records)

    def record(self, record: RecordId) -> Record:
        assert 1 <= record <= len(self.records), f"a record of 1..{len(self.records)} is asked for, got {record}"
        return self.records[record - 1]

    def fitness(self, record: RecordId) -> float | None:
        return self.record(record).evaluation.fitness

    def is_current(self, record: RecordId) -> bool:
        return self.record(record).id > self.since

    def violation(self, record: RecordId) -> float:
        return self.record(record).evaluation.violation

    def outcome(self, record: RecordId) -> Outcome:
        return self.record(record).evaluation.outcome

    def operator(self, record: RecordId) -> str:
        return self.record(record).origin.operator

    def model(self, record: RecordId) -> str:
        return self.record(record).origin.model

    def model_proposals(self, count: int) -> Sequence[RecordId]:
        return [record.id for record in reversed(self.records) if record.origin.model][:count]

    def best_on_case(self, case: str, quarantined: Set[ProgramId] = frozenset()) -> tuple[RecordId, float] | None:
        found = [
            (record.evaluation.cases[case], -record.id)
            for record in self.records[self.since :]
            if case in record.evaluation.cases and record.program not in quarantined
        ]
        return (-max(found)[1], max(found)[0]) if found else None

    def parents(self, record: RecordId) -> tuple[RecordId, ...]:
        return self.record(record).origin.parents

    def children(self, record: RecordId) -> Sequence[RecordId]:
        made = (other for other in self.records if other.origin.kind == "proposal")
        return [other.id for other in made if record in other.origin.parents]

    def failures(self, count: int) -> Sequence[RecordId]:
        made = (other for other in reversed(self.records) if other.origin.kind == "proposal" and other.program)
        return [other.id for other in made if other.evaluation.outcome in FAILURES][:count]

    def cases(self, record: RecordId) -> Mapping[str, float]:
        return self.record(record).evaluation.cases

    def program_id(self, record: RecordId) -> ProgramId | None:
        return self.record(record).program

    def add(self, program: Program, origin: Origin, evaluation: Evaluation) -> RecordId:
        """Adds a record, and returns its number."""
        self.programs[program.id] = program
        self.records.append(Record(len(self) + 1, origin, program.id, evaluation))
        return len(self)

    def extras(self, plugin: str, after: RecordId = 0) -> Sequence[tuple[RecordId, Any]]:
        return [(record.id, record.extras[plugin]) for record in self.records[after:] if plugin in record.extras]

    def program(self, program: ProgramId) -> Program:
        return self.programs[program]

    def text(self, text: str) -> str:
        if text not in self.texts:
            raise KeyError(f"this rehearsal stores no such text, got {text!r}")
        return self.texts[text]


class Rehearsal:
    """Campaign without processes and files, and the `View` of it: a program is one number, best at `OPTIMUM`.

    Its `events`, in order, depend on `seed` and on the actions alone."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.events: list[Event] = []
        self.task = rehearsed_task()
        """Task; where it is given cases, before `open`, a program has a result on each of them."""
        self.archive = _make_archive(self.task)
        self.history = RehearsedHistory()
        self.lessons: Sequence[Lesson] = ()
        self.progress = Progress()
        self.pending: list[Asked] = []
        self.operators: Sequence[str] = OPERATORS
        self.models: Sequence[str] = MODELS
        self.needs: dict[str, Traits] = {}
        """Needs of operators of a selection, where they are not the usual."""
        self.budget_used = 0.0
        self._steps = 0

    def open(self) -> None:
        """Writes the events of a new campaign, until its seed has settled."""
        self.events.append(Opened("rehearsal", self.task.name, self.task.version, "", {}))
        self.events.append(MachineMeasured("none", 0.0, "none"))
        self._settle(Origin("seed", 0), 0.0)

    def traits(self, operator: str) -> Traits:
        """Returns the needs of an operator of its selection."""
        return self.needs.get(operator, Traits())

    def rng(self, step: int, purpose: int = 0) -> Generator:
        """Returns the stream of a step, as the engine makes it: it depends on seed, step and purpose alone."""
        return np.random.default_rng((self.seed, step, purpose))

    def start(self, action: Propose | Measure) -> None:
        """Adds a step with this action."""
        self._steps += 1
        if isinstance(action, Propose) and self.traits(action.selection.operator).needs_model:
            action = Propose(replace(action.selection, model=action.selection.model or MODELS[0]))
        asked = Asked(self._steps, action, len(self.history))
        self.pending.append(asked)
        self.events.append(asked)

    def finish(self) -> None:
        """Ends one of the pending steps, not always the oldest: proposals fail at times, and some are never evaluated. A note says nothing."""
        rng = self.rng(len(self.history), 1)
        asked = self.pending.pop(int(rng.integers(len(self.pending))))
        match asked.action:
            case Measure(about=about):
                origin = Origin("measurement", asked.step, about=about)
                self._settle(origin, self._number(about))
            case Propose(selection=chosen):
                origin = _origin_of(asked.step, chosen)
                if self.traits(chosen.operator).makes_notes:
                    self._settle(replace(origin, kind="note"), None)
                    return
                start = self._number(chosen.parents[0]) if chosen.parents else 0.0
                for index in rng.permutation(chosen.samples):
                    child = replace(origin, index=int(index), count=chosen.samples)
                    made = rng.random() < 0.9
                    self._settle(child, start + float(rng.normal()) if made else None, crashed=rng.random() < 0.1)

    def rejudge(self) -> None:
        """Gives a newer version of the task: the steps under way are given up, and the seed and the elites are evaluated again."""
        programs = self.history.programs
        elites = {elite.program: elite.record for elite in self.archive.elites() if elite.program != self.task.seed.id}
        self.pending.clear()
        self.history.since = len(self.history)
        self.task = replace(self.task, version=f"{self.task.version} again")
        self.archive = _make_archive(self.task)
        self.events.append(TaskChanged(self.task.version, ""))
        self._settle(Origin("seed", 0), 0.0)
        for record in elites.values():
            self._steps += 1
            program = self.history.program_id(record)
            assert program in programs, "an elite has a program"
            self.events.append(Asked(self._steps, Measure(record, program, why=REJUDGED), len(self.history)))
            self._settle(Origin("measurement", self._steps, about=record, why=REJUDGED), self._number(record))

    def quarantine_best(self) -> ProgramId | None:
        """Rules the best program out, and returns it; None while the best one is the seed."""
        best = self.archive.best
        if best is None or best.program == self.task.seed.id:
            return None
        return self.quarantine(best.program)

    def quarantine(self, program: ProgramId) -> ProgramId:
        """Rules a program out, and returns it."""
        ruling = Ruled("quarantine", program, "rehearsal")
        self.archive.rule(ruling)
        self.events.append(ruling)
        return program

    def _number(self, record: RecordId) -> float:
        program = self.history.program_id(record)
        return 0.0 if program is None else float(self.history.program(program).files["seed.py"].removeprefix("x = "))

    def _settle(self, origin: Origin, number: float | None, crashed: bool = False) -> None:
        program = None if number is None else _program(number)
        if number is None or program is None:
            evaluation = Evaluation.failed(Outcome.SCREENED, "nothing to evaluate")
        elif crashed:
            evaluation = Evaluation.failed(Outcome.CRASHED, "it crashed", seconds=0.1)
        else:
            score = -((number - OPTIMUM) ** 2)
            # Each case has another program that is the best on it, and their mean is the score.
            middle = (len(self.task.cases) - 1) / 2
            cases = {case.name: score + (place - middle) * number for place, case in enumerate(self.task.cases)}
            evaluation = Evaluation.ok(score, descriptors={"x": number}, cases=cases)
        record = Record(len(self.history) + 1, origin, program.id if program else None, evaluation)
        self.history.records.append(record)
        if program:
            self.history.programs[program.id] = program
        self.events.append(Settled(record, self.archive.settle(record)))
        evaluated = origin.kind == "proposal" and evaluation.outcome is not Outcome.SCREENED
        self.progress = Progress(
            programs=self.progress.programs + evaluated, records=len(self.history), seconds=0.1 * len(self.history)
        )


def _origin_of(step: int, chosen: Selection) -> Origin:
    return Origin(
        "proposal",
        step,
        island=chosen.island,
        operator=chosen.operator,
        model=chosen.model,
        parents=chosen.parents,
        inspirations=chosen.inspirations,
        notes=chosen.notes,
    )


def _make_archive(task: Task) -> Archive:
    return Archive(task.axes, ArchiveSettings(islands=3), deterministic=True, certifies=False, bound=None)


Answer = str | Reply | ModelError


@dataclass(frozen=True, slots=True)
class Heard:
    """Request to a scripted model."""

    purpose: str
    prompt: Prompt
    samples: int


class ScriptedModel:
    """Model that answers with the texts of a script, one after the other, whatever it is asked; an error among them is raised, where it was the
    only answer to a prompt. When the script is at its end, every call fails. `heard` are its requests; its answers are numbered from 0, as `Reply.call`
    says. Not thread-safe."""

    def __init__(self, *script: Answer, context_tokens: int = 128_000, max_tokens: int = 16_384) -> None:
        self.context_tokens = context_tokens
        self.max_tokens = max_tokens
        self.heard: list[Heard] = []
        self._script = iter(script)
        self._numbers = count()

    def caller(self, purpose: str) -> "RehearsedCaller":
        """Returns the caller that `Context.model` gives an operator."""
        return RehearsedCaller(self, purpose)

    def answers(self, heard: Heard) -> Sequence[Reply]:
        """Returns the next answers of the script; raises the last error where there is no other."""
        self.heard.append(heard)
        found, failure = list[Reply](), ModelError("the script of this model is at its end")
        for _ in range(heard.samples):
            answer = next(self._script, failure)
            if isinstance(answer, ModelError):
                failure = answer
            else:
                reply = answer if isinstance(answer, Reply) else _reply(answer, heard.prompt)
                found.append(replace(reply, call=next(self._numbers)))
        if not found:
            raise failure
        return found


@dataclass(frozen=True, slots=True)
class RehearsedCaller:
    """Implementation of `Caller` with a scripted model, for one purpose."""

    model: ScriptedModel
    purpose: str
    name: str = "scripted"

    @property
    def context_tokens(self) -> int:
        """Returns the model's."""
        return self.model.context_tokens

    @property
    def max_tokens(self) -> int:
        """Returns the model's."""
        return self.model.max_tokens

    def complete(self, prompt: Prompt, samples: int = 1) -> Sequence[Reply]:
        """Returns what the script says next."""
        return self.model.answers(Heard(self.purpose, prompt, samples))

    def embed(self, text: str) -> Sequence[float]:
        """Returns a vector of length 1 that depends on the text alone; texts that differ lie anywhere."""
        vector = np.random.default_rng(list(text.encode("utf-8", "surrogatepass"))).normal(size=8)
        return [float(value) for value in vector / np.linalg.norm(vector)]


def _reply(text: str, prompt: Prompt) -> Reply:
    return Reply(text, finish="stop", usage=Usage(prompt.size, estimate_tokens(text), exact=True))


def rehearsed_step(
    program: Program,
    seed: int = 0,
    traits: Traits | None = None,
    model: ScriptedModel | None = None,
    evaluate: "Callable[..., Evaluation] | None" = None,
    open_session: SessionOpener = no_session,
) -> tuple[Selection, Context]:
    """Returns the selection and the context of an operator in a campaign that has nothing but `program`, and what its traits ask for: the same program with an empty line more
    as another parent, or `program` as a failure that was made of such a one. `evaluate` answers `Context.evaluate`; without it
    a program has a fitness between 0 and 2 that looks like chance, and is always the same; that of the parents is 1 and more."""
    history, traits = RehearsedHistory(), traits or Traits()
    parents: tuple[RecordId, ...] = (1,)
    if traits.takes_failures:
        history.texts["feedback"] = "ValueError: it failed in the rehearsal"
        history.add(_other(program), Origin("seed", 0), Evaluation.ok(1.0))
        crashed = Evaluation.failed(Outcome.CRASHED, "feedback", seconds=0.1)
        parents = (history.add(program, Origin("proposal", 1, operator="first", parents=(1,)), crashed),)
    else:
        history.add(program, Origin("seed", 0), Evaluation.ok(1.0))
    for number in range(2, traits.parents + 1):
        program = _other(program)
        origin = Origin("proposal", number, operator="first", parents=(1,))
        parents = (*parents, history.add(program, origin, Evaluation.ok(1.0 + number)))
    first = history.programs[next(iter(history.programs))]
    context = Context(
        rehearsed_task(first),
        history,
        np.random.default_rng(seed),
        math.inf,
        threading.Event(),
        model=no_model if model is None else model.caller,
        evaluate=evaluate or _evaluate_by_name,
        open_session=open_session,
    )
    return Selection("checked", parents=parents), context


def _evaluate_by_name(program: Program, stage: str = "") -> Evaluation:
    return Evaluation.ok(2 * int(program.id[:8], 16) / 16**8)


def _other(program: Program) -> Program:
    path, text = next(iter(program.files.items()))
    return Program({**program.files, path: f"{text}\n"})


class RehearsedCandidate:
    """Fake of a candidate, without a process: `functions` are those of the program, called in this one. What is timed, built or beside it needs a real
    one."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], files: Mapping[str, str] | None = None) -> None:
        self.program = Program(files or {})
        self._functions = functions

    def call(self, function: str, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        """Returns the answer of one function."""
        return self._functions[function](*arguments, **keywords)

    def map(self, function: str, calls: Sequence[Sequence[Any]], seconds: float | None = None) -> list[Any]:
        """Returns the answers of one function to many calls, each given by its arguments."""
        return [self._functions[function](*arguments) for arguments in calls]

    @contextmanager
    def session(self, seconds: float | None = None) -> Iterator["RehearsedCandidate"]:
        """Yields itself, for several calls."""
        yield self


def _program(number: float) -> Program:
    return Program({"seed.py": f"x = {number!r}"})


def rehearsed_task(seed: Program | None = None) -> Task:
    """Returns the task of a rehearsal, with another seed program where one is given."""
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
