"""Interfaces that plugins implement, and the values that they are given. Signatures, threads and errors are the contract; see `docs/plugins.md`.

Invariant: nothing here holds state; the engine and every plugin meet in these types alone."""

import threading
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from numpy.random import Generator

from evolve.bounded_cache import BoundedCache
from evolve.types import (
    Asked,
    Child,
    ConfigError,
    Description,
    Evaluation,
    Event,
    Lesson,
    Limits,
    Measure,
    MissingPartError,
    Needs,
    Outcome,
    Program,
    ProgramId,
    Progress,
    Prompt,
    Propose,
    Record,
    RecordId,
    Reply,
    Section,
    Selection,
    Stage,
    Task,
    TrackedEnd,
    TrackedRecord,
    TrackedRun,
    Traits,
    Trial,
    Twin,
    Usage,
    Wait,
)

# Protocols are imported by everything; what implements them is named for its type alone.
if TYPE_CHECKING:
    from evolve.archive import Archive


class History(Protocol):
    """Queries over the settled records 1..len(history), in the order in which they settled. Any thread may ask.

    Columns (`fitness`, `violation`, `outcome`, `operator`, `parents`) answer from memory; `record` and `program` read the log."""

    def __len__(self) -> int: ...
    def fitness(self, record: RecordId) -> float | None:
        """The fitness as measured, larger is better; None for a failure."""

    def is_current(self, record: RecordId) -> bool:
        """Returns whether it settled under the present version of the task: scores of earlier versions cannot be compared with its score."""

    def violation(self, record: RecordId) -> float:
        """Returns how far it misses the task's constraints, as measured; 0 where it meets them, and for a failure."""

    def outcome(self, record: RecordId) -> Outcome: ...
    def operator(self, record: RecordId) -> str:
        """The operator's name; empty for seeds, measurements and imports."""

    def model(self, record: RecordId) -> str:
        """The name of the model that its operator called; empty where it called none."""

    def parents(self, record: RecordId) -> tuple[RecordId, ...]: ...
    def children(self, record: RecordId) -> Sequence[RecordId]:
        """The proposals that had it as a parent, in the order in which they settled, screened and failed ones too."""

    def failures(self, count: int) -> Sequence[RecordId]:
        """The last `count` proposals that failed when they were evaluated and that this version of the task has evaluated, the newest first."""

    def model_proposals(self, count: int) -> Sequence[RecordId]:
        """The last `count` proposals whose operator called a model, the newest first."""

    def best_on_case(self, case: str, quarantined: Set[ProgramId] = frozenset()) -> tuple[RecordId, float] | None:
        """The first record with the best result on one of the evaluator's cases (`Evaluation.cases`), larger is better, and that result,
        under this version of the task; without what is quarantined. None where no record has the case."""

    def cases(self, record: RecordId) -> Mapping[str, float]:
        """The results on the task's cases, larger is better, of those that its evaluation came to."""

    def program_id(self, record: RecordId) -> ProgramId | None: ...
    def extras(self, plugin: str, after: RecordId = 0) -> Sequence[tuple[RecordId, Any]]:
        """Returns what `plugin` stored with the records later than `after`, in their order; what an earlier version of the task evaluated
        is left out."""

    def record(self, record: RecordId) -> Record: ...
    def program(self, program: ProgramId) -> Program: ...
    def text(self, text: str) -> str:
        """A stored text (feedback, artifact, prompt, reply) by its id."""


class View(Protocol):
    """View of a campaign for a strategy that is asked; read-only."""

    @property
    def task(self) -> Task: ...
    @property
    def archive(self) -> "Archive": ...
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
        evaluated quickly, or in another language. They do not change after the seed has settled."""

    @property
    def models(self) -> Sequence[str]:
        """Names of the models that propose and still answer in this run, for `Selection.model`."""

    def traits(self, operator: str) -> Traits:
        """Returns what an operator needs of its selection."""

    @property
    def budget_used(self) -> float:
        """The spent share of the budget that ends first, 0 to 1."""


class Strategy(Protocol):
    """Decides what to do next and learns from what happened. Main thread; never blocks."""

    def ask(self, view: View, rng: Generator) -> Propose | Measure | Wait:
        """Returns the next action. Changes no state: the same view and rng give the same action."""

    def tell(self, event: Event) -> None:
        """The only place where state changes; replay calls it with the same events."""


class Caller(Protocol):
    """A model as an operator has it: each call is paid from the campaign's budget, and is an event of its log. Proposal thread; it blocks."""

    @property
    def name(self) -> str:
        """Name of the model in the campaign."""

    @property
    def context_tokens(self) -> int:
        """Bound of prompt and answer together."""

    @property
    def max_tokens(self) -> int:
        """Bound of an answer, its thinking included."""

    def complete(self, prompt: Prompt, samples: int = 1) -> Sequence[Reply]:
        """So many answers to one prompt. Raises `ModelError` where there was none at all; fewer than asked for are returned."""

    def embed(self, text: str) -> Sequence[float]:
        """The text's place in the space of an embedding model, as a vector of length 1. Raises `ModelError`."""


def no_model(purpose: str) -> Caller:
    """Raises `ConfigError`, for a campaign without a model."""
    raise ConfigError(
        f"a model is needed ({purpose}), and this campaign has none. Try: name one, such as --model gpt-5-mini, or --model mailbox:DIR"
    )


def no_evaluation(program: Program, stage: str = "") -> Evaluation:
    """Raises `MissingPartError`, where nothing can be evaluated."""
    raise MissingPartError(
        "an operator evaluates a program, and nothing here can. Try: run it in a campaign, or in a rehearsal of `evolve.testing`"
    )


class ConfinedProgram(Protocol):
    """A program in a process of its own, confined as candidates are."""

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None, **keywords: Any) -> Any:
        """Returns the answer of a function of its entry module, plain data. Raises `SessionFailed`."""


SessionOpener: TypeAlias = Callable[[Program, str, float, Limits, str], AbstractContextManager[ConfinedProgram]]


def no_session(
    program: Program, entry: str, seconds: float, limits: Limits, python: str
) -> AbstractContextManager[ConfinedProgram]:
    """Raises `MissingPartError`, where nothing confines a program."""
    raise MissingPartError(
        "an operator opens a session, and nothing here confines one. Try: run it in a campaign, or give a rehearsal of `evolve.testing` an `open_session`"
    )


@dataclass(frozen=True)
class Context:
    """Values that an operator may use. `history` and `lessons` end with what had settled and was written when the step was asked; `rng` belongs
    to the step; `deadline` is a time of `time.monotonic`. `model(purpose)` is what to call: for "propose" and "repair" the selection's model, for "reflect", "novelty", "embed" and the `purposes` of an operator's entry
    the one that the campaign's settings name, else the same; raises `ConfigError` where there is none. `templates` replace those of the engine's prompts, by name; `sections` are what plugins add to
    every prompt of this selection, and `prompt_tokens` is how long one may be. `quarantined` are the programs that were ruled out when the
    step was asked: nothing is told of them. `best` is the record of the best program then, 0 for none, and `rivals` how many steps on the same
    parent were under way. A prompt shows times where it is `timed`: in a `--deterministic` campaign they would make each run ask other questions. `derived` keeps what was made of the records that this task has evaluated.

    `evaluate(program, stage="")` evaluates a program now, by the whole cascade or one stage, and blocks until it has: a preview, which the budget pays for in time and `evaluations` and the log keeps, so that a
    step that runs again gets the same. The fitness is maximised and the feedback a text; there are no artifacts. A program that changes what it may not is `screened`, for nothing. It is no record, and a
    child is evaluated again whatever its preview said. Raises `EditError` where the run or the proposal's time ends.

    `open_session(program, entry, seconds, limits, python)` is a `with` block with a program of the operator's own, whose functions are called in the module `entry` by the interpreter `python` ("": the engine's): it is confined as candidates are, by `limits`, sees no
    task and no log, no network but what the limits grant, and is gone when the block is left, or after `seconds`. Raises `SandboxError` where the limits grant what this machine cannot confine."""

    task: Task
    history: History
    rng: Generator
    deadline: float
    cancelled: threading.Event
    lessons: Sequence[Lesson] = ()
    model: Callable[[str], Caller] = no_model
    templates: Mapping[str, str] = field(default_factory=dict)
    sections: Sequence[Section] = ()
    prompt_tokens: int = 24_000
    quarantined: Set[ProgramId] = frozenset()
    best: RecordId = 0
    rivals: int = 0
    timed: bool = True
    derived: BoundedCache = field(default_factory=BoundedCache)
    evaluate: Callable[..., Evaluation] = no_evaluation
    open_session: SessionOpener = no_session


class Operator(Protocol):
    """Makes children from a selection. Proposal thread; a deterministic function of selection, context and the replies that it gets. One
    that needs a model is called on many threads at once, and keeps no state."""

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """One child or more; raises `EditError` when it finds nothing to change, `ModelError` when no model answers."""


class Model(Protocol):
    """Completes prompts. Thread-safe. The engine bounds how many calls are in flight, waits for a model that is down, pays, and logs; a
    model does neither."""

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Checks that calls can succeed, at the cost of one small call at most: raises `ModelError` with the remedy where they cannot."""

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """Answers to the same prompt, at least one and at most one for each of `samples`; who gets fewer asks again for the rest. A sample's number
        counts the campaign's calls with equal prompts. The first reply carries the usage of the whole request, but for the tokens of the other answers.

        `deadline` is a time of `time.monotonic`. Soon after `cancelled` is set it raises `ModelError`, whatever a server does. Raises
        `ModelDown` where trying again later may help, `ModelGone` where it will not, and `ModelError` for a call that failed."""

    def close(self) -> None:
        """Ends what it started."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Thread-safe; errors as `Model` has them."""

    def embed(self, text: str, *, deadline: float, cancelled: threading.Event) -> tuple[Sequence[float], Usage]:
        """The vector, as it comes, and what it took."""


class Evaluator(Protocol):
    """A task's evaluator. Worker process, which never imports candidate code."""

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[[Any, Trial], Evaluation]]]:
        """The cascade in its order; a stage's function gets a `Candidate` and a `Trial`."""

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """Returns what it can do with an evaluation's artifacts: any of `certify` (an `Evaluation` with the exact value),
        `fingerprint` (a text that names the basin), `draw` (an SVG picture)."""


@runtime_checkable
class Twinned(Protocol):
    """An evaluator that brings programs of its own for `evolve task check`, since what an impostor of a program in C is, no check can make up."""

    def twins(self, task: Task) -> Sequence[Twin]:
        """Honest programs, which must pass as the seed does, and others, which must gain nothing. Engine's process; none of them is ever a candidate
        of a campaign, nor in a prompt."""


class Tracker(Protocol):
    """Tells somebody else of a campaign. All calls come on one thread of the tracker's own; whatever is raised ends the tracker and not the campaign, and
    neither is delayed by a call that takes long."""

    def campaign_begun(self, run: TrackedRun) -> None:
        """A run begins; nothing is told of the records that the campaign has already."""

    def record_settled(self, record: TrackedRecord) -> None:
        """A record has settled and is durable. Each is told at most once and in order; what was written right before the engine was killed is not told, and
        neither is what settled while too many records waited."""

    def campaign_ended(self, end: TrackedEnd) -> None:
        """The run has ended. Nothing more is told."""


class Executor(Protocol):
    """Runs the evaluations of one task. `job` and the result are canonical JSON in UTF-8: never a pickle. Any thread may call."""

    def describe(self) -> Description:
        """Waits for the first worker and returns its description. Raises `TaskError` where the evaluator does not load, and `SandboxError`
        where no worker starts."""

    def capacity(self, needs: Needs) -> int:
        """Returns how many such jobs can run at once; 0 means never, and is an error now instead of a wait for ever."""

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        """Queues a job under the id of its step and index. Its future ends with a report, or is cancelled; a failure of the machinery is a
        report with the outcome `internal`."""

    def cancel(self, job_id: str) -> None:
        """Cancels the future of a job that no worker has begun, before it returns; any other job ends as it would have."""

    def resize(self, slots: int) -> None:
        """Runs so many jobs side by side from now on; those under way end."""

    def close(self) -> None:
        """Ends every process that it started, and cancels what is open. May be called twice."""
