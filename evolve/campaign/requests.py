"""What a person asks of a campaign, running or not, and what is answered.

Invariant: plain values, each of which is one JSON file in the campaign's inbox; an unknown field is refused, never ignored. Who takes a
request stores its id with what came of it, so that it is done once however often it is read."""

from collections.abc import Mapping
from dataclasses import dataclass

from evolve.types import RecordId
from evolve.types.codec import tagged

PERSON = "person"
"""Who made a ruling or wrote a lesson, where a request asked for it."""


@tagged
@dataclass(frozen=True, slots=True)
class Quarantine:
    """The program of `record`, and with `descendants` all that came of it, is to be never parent, inspiration or best."""

    record: RecordId
    descendants: bool = False
    why: str = ""


@tagged
@dataclass(frozen=True, slots=True)
class Release:
    """The opposite of `Quarantine`."""

    record: RecordId
    descendants: bool = False
    why: str = ""


@tagged
@dataclass(frozen=True, slots=True)
class Hint:
    """A lesson that a person writes."""

    text: str


@tagged
@dataclass(frozen=True, slots=True)
class Add:
    """A person's program, to be judged and to become a parent; as a child of `parent`, where that is no 0."""

    files: Mapping[str, str]
    thought: str = ""
    parent: RecordId = 0


@tagged
@dataclass(frozen=True, slots=True)
class Stop:
    """The run of the engine `process` is to end as at Ctrl-C; another run is not meant."""

    process: int


@tagged
@dataclass(frozen=True, slots=True)
class Pause:
    """The run of the engine `process` is to start nothing until it is told to; another run is not meant."""

    process: int


@tagged
@dataclass(frozen=True, slots=True)
class Unpause:
    """The opposite of `Pause`."""

    process: int


@tagged
@dataclass(frozen=True, slots=True)
class Configure:
    """Other settings: `assignments` are written as for `--set`."""

    assignments: tuple[str, ...]


Wish = Quarantine | Release | Hint | Add | Stop | Pause | Unpause | Configure


@dataclass(frozen=True, slots=True)
class Request:
    """A wish with a name of its own: hexadecimal digits that no other request has."""

    id: str
    wish: Wish


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request; `told` says it to a person, with the remedy where it was refused. `records` are those that were ruled
    about, or have what was to be added already; `step` is the one that judges what was added. `former` was the best record before and
    `best` is it now, with the fitness as the user writes it."""

    request: str
    accepted: bool
    told: str
    records: tuple[RecordId, ...] = ()
    step: int = 0
    former: RecordId = 0
    best: RecordId = 0
    fitness: float | None = None
