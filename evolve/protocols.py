"""What plugins implement and what they are given. Signatures, threads and errors are the contract; see `docs/plugins.md`.

Invariant: nothing here holds state; the engine and every plugin meet in these types alone."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.random import Generator

from evolve.archive import Archive
from evolve.types import (
    Asked,
    Child,
    Evaluation,
    Event,
    Lesson,
    Measure,
    Needs,
    Outcome,
    Program,
    ProgramId,
    Progress,
    Propose,
    Rearrange,
    Record,
    RecordId,
    Selection,
    Stage,
    Task,
    Trial,
    Wait,
)


class History(Protocol):
    """Queries over the settled records 1..len(history), in the order in which they settled. Any thread may ask.

    Columns (`fitness`, `violation`, `outcome`, `operator`, `parents`) answer from memory; `record` and `program` read the log."""

    def __len__(self) -> int: ...
    def fitness(self, record: RecordId) -> float | None:
        """The fitness as measured, larger is better; None for a failure."""

    def violation(self, record: RecordId) -> float:
        """How far it misses the task's constraints, as measured; 0 where it meets them, and for a failure."""

    def outcome(self, record: RecordId) -> Outcome: ...
    def operator(self, record: RecordId) -> str:
        """The operator's name; empty for seeds, measurements and imports."""

    def parents(self, record: RecordId) -> tuple[RecordId, ...]: ...
    def program_id(self, record: RecordId) -> ProgramId | None: ...
    def extras(self, plugin: str, after: RecordId = 0) -> Sequence[tuple[RecordId, Any]]:
        """What `plugin` stored with the records later than `after`, in their order; what an earlier version of the task judged
        is left out."""

    def record(self, record: RecordId) -> Record: ...
    def program(self, program: ProgramId) -> Program: ...
    def text(self, text: str) -> str:
        """A stored text (feedback, artifact, prompt, reply) by its id."""


class View(Protocol):
    """What a strategy sees when it is asked; read-only."""

    @property
    def task(self) -> Task: ...
    @property
    def archive(self) -> Archive: ...
    @property
    def history(self) -> History: ...
    @property
    def lessons(self) -> Sequence[Lesson]: ...
    @property
    def progress(self) -> Progress: ...
    @property
    def pending(self) -> Sequence[Asked]:
        """Steps that were asked and have not settled."""

    @property
    def operators(self) -> Sequence[str]:
        """Names of the operators that may be used now: those of the campaign, but for some that are only meant for tasks that are
        judged quickly, or in another language. They do not change after the seed has settled."""

    @property
    def budget_used(self) -> float:
        """The spent share of the budget that ends first, 0 to 1."""


class Strategy(Protocol):
    """Decides what to do next and learns from what happened. Main thread; never blocks."""

    def ask(self, view: View, rng: Generator) -> Propose | Measure | Rearrange | Wait:
        """The next action. Changes no state: the same view and rng give the same action. What it rearranges is done at once, and then it
        is asked again; each island once, before it asks for something else or waits."""

    def tell(self, event: Event) -> None:
        """The only place where state changes; replay calls it with the same events."""


@dataclass(frozen=True)
class Context:
    """What an operator may use. `history` ends with the last record that had settled when the step was asked; `rng` belongs
    to the step; `deadline` is a time of `time.monotonic`."""

    task: Task
    history: History
    rng: Generator
    deadline: float
    cancelled: threading.Event


class Operator(Protocol):
    """Makes children from a selection. Proposal thread; a deterministic function of selection and context."""

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """One child or more; raises `EditError` when it finds nothing to change."""


class Evaluator(Protocol):
    """A task's judging code. Judge process, which never imports candidate code."""

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[[Any, Trial], Evaluation]]]:
        """The cascade in its order; a stage's function gets a `Candidate` and a `Trial`."""

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """What it can do with an evaluation's artifacts: any of `certify` (an `Evaluation` with the exact value),
        `fingerprint` (a text that names the basin), `draw` (an SVG picture)."""


class Executor(Protocol):
    """Where judging happens. `job` and the result are canonical JSON in UTF-8: never a pickle."""

    def capacity(self, needs: Needs) -> int:
        """How many such jobs can run at once; 0 means never, and is an error now instead of a wait for ever."""

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        """`job_id` is step and index, known from the log."""

    def attach(self, job_id: str) -> "Future[bytes] | None":
        """A job that survived a restart of the engine."""

    def cancel(self, job_id: str) -> None: ...
    def close(self) -> None:
        """Ends every process that it started."""
