"""Records of proposals and measurements, and the values that strategies and operators hand over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from evolve.types.evaluation import Evaluation
from evolve.types.program import Program, ProgramId
from evolve.types.prompt import Finish, Role

__all__ = [
    "Call",
    "Child",
    "Insertion",
    "Lesson",
    "Origin",
    "OriginKind",
    "Part",
    "Placement",
    "Record",
    "RecordId",
    "Selection",
    "Traits",
]

OriginKind = Literal["seed", "proposal", "measurement", "import"]
RecordId = int


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
    `case` where that is not what the search sees."""

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


@dataclass(frozen=True, slots=True)
class Record:
    """One settled proposal or measurement; `NAME/id` names it. Prompts, replies, feedback and artifacts are ids of stored texts;
    `thought`, an operator's one line or a model's hypothesis, is a text itself. `extras` are keyed by the name of the plugin that wrote them and alone
    reads them."""

    id: RecordId
    origin: Origin
    program: ProgramId | None
    evaluation: Evaluation
    thought: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Child:
    """Child that an operator makes of a selection; without a program, `thought` says why there is none. `lessons` are texts for the operators to come."""

    program: Program | None
    thought: str = ""
    lessons: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selection:
    """Draw of a strategy for a proposal: record ids, the operator's name, and how many children are wanted. `model` names the one to
    call, where the operator needs one; empty: the campaign draws it. `why` is the strategy's reason, where it has one that is worth showing."""

    operator: str
    island: int = 0
    parents: tuple[RecordId, ...] = ()
    inspirations: tuple[RecordId, ...] = ()
    model: str = ""
    samples: int = 1
    why: str = ""


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
    least; `takes_failures`: its parent is a program that failed, and not an elite."""

    needs_model: bool = False
    parents: int = 1
    takes_failures: bool = False

    @property
    def takes_one_elite(self) -> bool:
        """True where one program that succeeded is enough as a parent."""
        return self.parents <= 1 and not self.takes_failures
