"""What the log says of a proposal or a measurement, and what a strategy and an operator hand over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from evolve.types.evaluation import Evaluation
from evolve.types.program import Program, ProgramId

OriginKind = Literal["seed", "proposal", "measurement", "import"]
RecordId = int


class Insertion(IntEnum):
    """What the archive did with a record. The order means something: a larger one is more."""

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
    """Where a record comes from. `step` is the number of its `Asked`; `index` counts the children of the step, of which there
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
    `thought`, an operator's one line, is a text itself. `extras` are keyed by the name of the plugin that wrote them and alone
    reads them."""

    id: RecordId
    origin: Origin
    program: ProgramId | None
    evaluation: Evaluation
    thought: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Child:
    """What an operator makes of a selection; without a program, `thought` says why there is none."""

    program: Program | None
    thought: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selection:
    """What a strategy drew for a proposal: record ids, the operator's name, and how many children are wanted."""

    operator: str
    island: int = 0
    parents: tuple[RecordId, ...] = ()
    inspirations: tuple[RecordId, ...] = ()
    model: str = ""
    samples: int = 1


@dataclass(frozen=True, slots=True)
class Lesson:
    """An insight written during a campaign, by an operator or by a person."""

    text: str
    by: str
    about: RecordId = 0


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model. `prompt` and `reply` are ids of stored texts; `cost` is in the campaign's currency."""

    model: str
    revision: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prompt: tuple[str, ...] = ()
    reply: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    exact: bool = False
    error: str = ""
