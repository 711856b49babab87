"""The closed set of events that a campaign is a fold over, and the actions that a strategy may ask for.

Everything that archive, strategy, budget and history know follows from these, in their order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evolve.types.codec import tag_union_member
from evolve.types.program import ProgramId
from evolve.types.record import Call, Lesson, Placement, Record, RecordId, Selection

__all__ = [
    "FROM_SCRATCH",
    "REJUDGED",
    "Action",
    "Asked",
    "Event",
    "Import",
    "LessonWritten",
    "MachineMeasured",
    "Measure",
    "Opened",
    "Paused",
    "Progress",
    "Propose",
    "Replied",
    "Ruled",
    "SettingsChanged",
    "Settled",
    "Stamped",
    "TaskChanged",
    "Wait",
]


@tag_union_member
@dataclass(frozen=True, slots=True)
class Propose:
    """Asks the selection's operator for children, and evaluates them."""

    selection: Selection


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
    which are no measurements here; `calls` those of models, `tokens` theirs, prompts and answers together."""

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
