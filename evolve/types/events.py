"""Events of a campaign, the values that they carry, and the actions that a strategy may ask for.

The set of events is closed, and a campaign is a fold over them: everything that archive, strategy, budget and history know follows from these,
in their order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, Literal

from evolve.types.codec import tag_union_member
from evolve.types.evaluation import Evaluation
from evolve.types.program import Program, ProgramId, RecordId
from evolve.types.prompt import Finish, Role

__all__ = [
    "Action",
    "Asked",
    "Call",
    "Child",
    "Event",
    "DRAFT",
    "FROM_SCRATCH",
    "Import",
    "Insertion",
    "Lesson",
    "LessonWritten",
    "MachineMeasured",
    "Measure",
    "Opened",
    "Origin",
    "OriginKind",
    "Part",
    "Paused",
    "Placement",
    "Previewed",
    "Progress",
    "Propose",
    "REJUDGED",
    "STAGNATION",
    "Record",
    "RefusalCode",
    "Replied",
    "Ruled",
    "Selection",
    "SettingsChanged",
    "Settled",
    "Stamped",
    "TaskChanged",
    "Traits",
    "Wait",
]

OriginKind = Literal["seed", "proposal", "measurement", "import", "note"]


class Insertion(IntEnum):
    """Decision of the archive about a record. The order means something: a larger one is more."""

    NOT_ADDED = 0
    PENDING = 1
    IMPROVED = 2
    NEW = 3


@dataclass(frozen=True, slots=True)
class Placement:
    """An insertion and where: the island, and the cell's index in it (-1: none)."""

    insertion: Insertion
    island: int = 0
    cell: int = -1


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a record. `step` is the number of its `Asked`; `index` counts the children of the step, of which there
    are `count`; parents and inspirations are record ids; a measurement's `about` is the record that it measures, on
    `case` where that is not what the search sees. A `note` is what an operator without programs wrote about its parents, whose child it is
    not. `notes` are those of the selection. `call` is the index, in its step, of the model's call whose answer it was made of (`Replied.index`); of
    a repaired answer that of the repair; -1 where no model wrote it, or its operator does not say."""

    kind: OriginKind
    step: int
    index: int = 0
    count: int = 1
    island: int = 0
    operator: str = ""
    model: str = ""
    parents: tuple[RecordId, ...] = ()
    inspirations: tuple[RecordId, ...] = ()
    about: RecordId = 0
    why: str = ""
    case: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    call: int = -1


class RefusalCode(StrEnum):
    """Codes of the engine's reasons not to evaluate a child, to count by. An answer that cannot be applied has its `EditKind`, and an operator may
    have codes of its own."""

    MODEL_FAILED = "model_failed"
    """No model answered."""
    UNAFFORDABLE = "unaffordable"
    """The budget does not pay for the call."""
    NOTHING = "nothing"
    """The operator found nothing to change."""
    NO_PROGRAM = "no_program"
    """The child has no program, and its operator gave no code."""
    SYNTAX_ERROR = "syntax_error"
    """A changed Python file does not parse."""
    PLUGIN_FAILED = "plugin_failed"
    """A plugin broke."""
    OUTSIDE = "outside"
    """The program changes what it may not."""
    NO_OP = "no_op"
    """The program reads the same as a parent."""
    SCREENED = "screened"
    """A plugin's `screen_program` has a reason."""
    DUPLICATE = "duplicate"
    """The program reads the same as another one."""
    NEAR = "near"
    """The program is near to another one."""


@dataclass(frozen=True, slots=True)
class Record:
    """One settled proposal or measurement; `NAME/id` names it. Prompts, replies, feedback and artifacts are ids of stored texts;
    `thought`, an operator's one line or a model's hypothesis, is a text itself. `extras` are keyed by the name of the plugin that wrote them and alone
    reads them. `refusal` is the code of the reason for which a proposal was screened (a `RefusalCode`, an `EditKind`, or an operator's own), empty for others and in
    older logs; `resembles` is the program that a no-op or a duplicate equals and that a near one is near to."""

    id: RecordId
    origin: Origin
    program: ProgramId | None
    evaluation: Evaluation
    thought: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)
    refusal: str = ""
    resembles: ProgramId | None = None


@dataclass(frozen=True, slots=True)
class Child:
    """Child that an operator makes of a selection; without a program, `thought` says why there is none, and `refusal` in a code to count by, such as
    an `EditKind`. `lessons` are texts for the operators to come. `call` is that of the reply that it was made of (`Reply.call`); -1 where it comes of none alone."""

    program: Program | None
    thought: str = ""
    lessons: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
    call: int = -1
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Draw of a strategy for a proposal: record ids, the operator's name, and how many children are wanted. `model` names the one to
    call, where the operator needs one; empty: the campaign draws it. `why` is the strategy's reason, where it has one that is worth showing. `notes` are plain
    data from the strategy to the operator, such as a plan or a kind of edit; every record of the step has them in its origin."""

    operator: str
    island: int = 0
    parents: tuple[RecordId, ...] = ()
    inspirations: tuple[RecordId, ...] = ()
    model: str = ""
    samples: int = 1
    why: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Lesson:
    """An insight written during a campaign, by an operator or by a person."""

    text: str
    by: str
    about: RecordId = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A section of a prompt as the log holds it: who says it, what it is, and the id of its text."""

    role: Role
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One answer of a model, or a call that failed: then `error` says why, and there is no reply. `model` is its name in the campaign, `purpose` what it
    was called for: "propose", "repair", "reflect", "novelty", "embed", "check". `request` names the prompt and `sample` counts the calls of the campaign with equal ones.
    `reply` and `thinking` are ids of stored texts; `seconds` are those of the call, `cost` is in the campaign's currency, and `exact` says that tokens and cost are counted and not estimated. `retries` counts the requests that failed, by their causes."""

    model: str
    purpose: str = "propose"
    revision: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prompt: tuple[Part, ...] = ()
    request: str = ""
    sample: int = 0
    reply: str = ""
    thinking: str = ""
    finish: Finish = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    gpu_seconds: float = 0.0
    seconds: float = 0.0
    cost: float = 0.0
    exact: bool = False
    attempts: int = 1
    error: str = ""
    retries: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Traits:
    """Traits of an operator that a strategy must know. `needs_model`: it calls one; `parents`: how many records it wants to see as parents at
    least; `takes_failures`: its parent is a program that failed, and not an elite; `makes_notes`: its steps bring lessons and extras, and no program."""

    needs_model: bool = False
    parents: int = 1
    takes_failures: bool = False
    makes_notes: bool = False

    @property
    def takes_one_elite(self) -> bool:
        """True where it makes programs, and one that succeeded is enough as a parent."""
        return self.parents <= 1 and not self.takes_failures and not self.makes_notes


@tag_union_member
@dataclass(frozen=True, slots=True)
class Propose:
    """Asks the selection's operator for children, and evaluates them. A child must be better than its first parent on the weighted mean over the cases of the `gate`
    before it is evaluated on the task's others; else it ends as `below_threshold`, without a fitness and with its results on these cases. The parent's results are those of its
    record, and of several measurements the first. A gate of all cases stops nothing."""

    selection: Selection
    gate: tuple[str, ...] = ()


@tag_union_member
@dataclass(frozen=True, slots=True)
class Measure:
    """Evaluates the program of record `about` again: the whole cascade, or `stage` alone (`certify` is the task's own). With `case`, on
    something else than the search sees, a held-out case or `FROM_SCRATCH`: what is found there changes no estimate."""

    about: RecordId
    program: ProgramId
    stage: str = ""
    why: str = ""
    case: str = ""


DRAFT, STAGNATION = "draft", "stagnation"
"""Reasons of a selection: a child of the seed, before there is anything to build on; and a larger change, since nothing was found for long."""
REJUDGED = "newer version of the task"
"""Reason of evaluations after `TaskChanged`: a program enters the fresh archive as it entered the one before."""
FROM_SCRATCH = "from scratch"
"""Case of a program that is evaluated without what its parent left."""


@tag_union_member
@dataclass(frozen=True, slots=True)
class Import:
    """Evaluates a program that a person brought, for `island`. `request` names who asked, so that it is done once. No strategy asks
    for this."""

    program: ProgramId
    island: int = 0
    parents: tuple[RecordId, ...] = ()
    thought: str = ""
    request: str = ""


@tag_union_member
@dataclass(frozen=True, slots=True)
class Wait:
    """Asks again after the next settled record."""


Action = Propose | Measure | Wait


@tag_union_member
@dataclass(frozen=True, slots=True)
class Opened:
    """The first event of every campaign. `definition` is the id of the text that holds the whole task, so that a log can be
    replayed where the task's folder is gone. `forked_from` names the campaign whose records this one began with; its first `machines` `MachineMeasured` events tell of that campaign's runs.
    `versions` are those of evolve, Python, numpy and the packages of its plugins when it began; older logs lack the packages.
    `secret` decides what evaluators draw (`Trial.entropy`), and is empty in older logs, whose draws are public."""

    name: str
    task: str
    task_version: str
    definition: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str] = field(default_factory=dict)
    forked_from: str = ""
    machines: int = 0
    secret: str = ""


@tag_union_member
@dataclass(frozen=True, slots=True)
class TaskChanged:
    """Programs are evaluated by another version of the task from here on: earlier evaluations are history, and no program holds a
    place before it was evaluated again. `definition` is the id of the text that holds the whole task."""

    task_version: str
    definition: str


@tag_union_member
@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """The same campaign has other settings from here on; `changes` holds the new values by top-level key. `request` names the person's
    request, where there was one."""

    changes: Mapping[str, Any]
    request: str = ""


@tag_union_member
@dataclass(frozen=True, slots=True)
class Paused:
    """A person paused the run, or (`paused` is false) let it go on. `request` names the person's request, where there was one."""

    paused: bool
    request: str = ""


@tag_union_member
@dataclass(frozen=True, slots=True)
class MachineMeasured:
    """A run began on a machine, or its noise was measured: its hardware class, the noise floor of the fitness (None while it is not
    known), the isolation that is reached."""

    hardware: str
    noise_floor: float | None
    isolation: str


@tag_union_member
@dataclass(frozen=True, slots=True)
class Asked:
    """A step was decided. `after` is how many records had settled, `lessons` how many had been written: what its operator may know."""

    step: int
    action: Propose | Measure | Import
    after: int
    lessons: int = 0


@tag_union_member
@dataclass(frozen=True, slots=True)
class Replied:
    """A model answered call `index` of a step, or failed to. Index -1: it was given up, and answers nothing when the step runs again. Step 0: before any step, to see whether
    the model can be called."""

    step: int
    index: int
    call: Call


@tag_union_member
@dataclass(frozen=True, slots=True)
class Previewed:
    """An operator had a program evaluated while it proposed, by the whole cascade or by `stage` alone. It is no record: the program has no place, and is not kept. `index` counts the
    previews of the step; the feedback is the id of a stored text."""

    step: int
    index: int
    program: ProgramId
    evaluation: Evaluation
    stage: str = ""


@tag_union_member
@dataclass(frozen=True, slots=True)
class Settled:
    """A proposal or a measurement ended, and what the archive did with it."""

    record: Record
    placement: Placement


@tag_union_member
@dataclass(frozen=True, slots=True)
class LessonWritten:
    """An operator or a person wrote a lesson. `request` names the person's request, where there was one."""

    lesson: Lesson
    request: str = ""


@tag_union_member
@dataclass(frozen=True, slots=True)
class Ruled:
    """A rule or a person decided about a program; a quarantined one is never parent, inspiration or best. `request` names the
    person's request, where there was one."""

    what: Literal["quarantine", "release", "promote"]
    about: ProgramId
    by: str
    why: str = ""
    request: str = ""


Event = (
    Opened
    | TaskChanged
    | SettingsChanged
    | Paused
    | MachineMeasured
    | Asked
    | Replied
    | Previewed
    | Settled
    | LessonWritten
    | Ruled
)


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event with its place and time: `at` in seconds since 1970, `active` in seconds that the campaign has run."""

    number: int
    at: float
    active: float
    event: Event


@dataclass(frozen=True, slots=True)
class Progress:
    """Spent budget of a campaign, over all its runs. `programs` counts evaluated proposals (an `internal` one is none), `judge_seconds` wall time in worker slots,
    `measure_seconds` that of the measurements alone. `rejudged` counts programs that a newer version of the task has evaluated again,
    which are no measurements here; `evaluations` counts all that was evaluated, measurements and `previews` too, and `cases` the cases that these looked at, one where the task
    has none; `saved_cases` those at which a program did not arrive, for it was stopped before. `calls` are those of models, `tokens` theirs, prompts and answers together."""

    programs: int = 0
    records: int = 0
    measurements: int = 0
    rejudged: int = 0
    screened: int = 0
    seconds: float = 0.0
    judge_seconds: float = 0.0
    measure_seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    gpu_seconds: float = 0.0
    evaluations: int = 0
    cases: int = 0
    saved_cases: int = 0
    previews: int = 0
