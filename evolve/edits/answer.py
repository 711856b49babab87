"""What a reply holds, before anybody asks whether it fits a program.

Invariant: lines have no line ends; a `\\r` that a reply does not have throughout belongs to its line."""

from dataclasses import dataclass

from evolve.edits.failure import EditKind

Lines = tuple[str, ...]
NO_NEWLINE = "\\ No newline at end of file"
"""As the last line of a whole file: its last line has no end. Unified diffs say it so."""


@dataclass(frozen=True, slots=True)
class Split:
    """One way to read an edit: more than one divider in it makes several."""

    search: Lines
    replace: Lines


@dataclass(frozen=True, slots=True)
class Replace:
    """An edit. `number`: which one of the reply, from 1; `path`: as the model wrote it, empty where it did not."""

    number: int
    path: str
    ways: tuple[Split, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A fenced text that may be a file or a block. `named`: the path was given for it, and not in passing; `hint`: a path in passing;
    `closed`: its fence ends."""

    path: str
    named: bool
    tag: str
    lines: Lines
    closed: bool


@dataclass(frozen=True, slots=True)
class Broken:
    """What begins like an edit and is none."""

    kind: EditKind
    message: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A line of the reply outside everything else."""

    text: str


Item = Replace | Rewrite | Broken | Prose
