"""Differences between two programs, and the record that brought each line of a program."""

import difflib
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from evolve.campaign import Campaign
from evolve.report.records import LineageStep, line_to, lineage_step, record_name
from evolve.sandbox.output import one_line
from evolve.types import ConfigError, Program, RecordId


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that two programs do not have alike: what it says in the older and the newer one, empty where there is none, and a unified
    diff."""

    path: str
    before: str
    after: str
    text: str


def difference(campaign: Campaign, old: RecordId, new: RecordId) -> tuple[Difference, ...]:
    """Compares the program of one record to that of another; raises `ConfigError` where one has none."""
    names = (record_name(campaign, old), record_name(campaign, new))
    return differences(program_of(campaign, old), program_of(campaign, new), names)


def differences(old: Program, new: Program, names: Sequence[str]) -> tuple[Difference, ...]:
    """The files that two programs, named so, do not have alike, by their paths."""
    found = []
    for path in sorted({*old.files, *new.files}):
        before, after = old.files.get(path, ""), new.files.get(path, "")
        if (path in old.files, before) != (path in new.files, after):
            found.append(
                Difference(path, before, after, _unified(before, after, [f"{name}/{one_line(path)}" for name in names]))
            )
    return tuple(found)


def _unified(before: str, after: str, names: Sequence[str]) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), names[0], names[1], lineterm="")
    return "".join(f"{line}\n" for line in lines)


def program_of(campaign: Campaign, record: RecordId) -> Program:
    """The program of a record; raises `ConfigError` where its proposal was screened."""
    found = campaign.state.history.program_id(record)
    if found is None:
        name = record_name(campaign, record)
        raise ConfigError(
            f"{name} has no program: its proposal was screened. Do: evolve program show {name} --feedback"
        )
    return campaign.state.history.program(found)


_TELLING = 4
"""Letters and digits of a line that is found again where it was moved to: a lone brace may come from anywhere."""
_LARGE = 4_000_000
"""Pairs of lines above which two versions of a file are compared as bags of lines, for their order costs too much."""


@dataclass(frozen=True, slots=True)
class BlameLine:
    """A line, and the record whose step brought it as it is. `change` is that step's fitness minus its first parent's, in the user's direction; None for the
    seed, and where one of both has none."""

    path: str
    number: int
    text: str
    record: RecordId
    operator: str
    model: str
    change: float | None
    kind: str = "proposal"


@dataclass(slots=True)
class _BlamedFile:
    """Lines, and by whom each is; 0 while that is not known."""

    lines: list[str]
    owners: list[RecordId]


_Files = Mapping[str, _BlamedFile]


def blame(campaign: Campaign, record: RecordId) -> tuple[BlameLine, ...]:
    """Returns all lines of the program of a record, file by file; raises `ConfigError` where it has none."""
    program_of(campaign, record)
    files: _Files = {}
    for ancestor in line_to(campaign, record):
        texts = program_of(campaign, ancestor).files
        files = _handed_on(files, {path: _lines(text) for path, text in sorted(texts.items())}, ancestor)
    steps = {owner: lineage_step(campaign, owner) for file in files.values() for owner in dict.fromkeys(file.owners)}
    return tuple(
        _blame_line(campaign, path, number, text, steps[owner])
        for path, file in files.items()
        for number, (text, owner) in enumerate(zip(file.lines, file.owners, strict=True), 1)
    )


def _blame_line(campaign: Campaign, path: str, number: int, text: str, step: LineageStep) -> BlameLine:
    model = campaign.state.history.model(step.record)
    return BlameLine(path, number, text, step.record, step.operator, model, step.change, step.kind)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _handed_on(old: _Files, new: Mapping[str, list[str]], record: RecordId) -> _Files:
    """A child's files: the lines that its parent has, too, are by whom they were there; all others are the child's."""
    made = {path: _BlamedFile(lines, [0] * len(lines)) for path, lines in new.items()}
    kept: dict[str, list[bool]] = {path: [False] * len(file.lines) for path, file in old.items()}
    for path, former in _former_paths(old, new).items():
        _match(old[former], made[path], kept[former])
    left: dict[str, deque[RecordId]] = {}
    for path, file in old.items():
        for text, owner, is_kept in zip(file.lines, file.owners, kept[path], strict=True):
            if not is_kept and _tells(text):
                left.setdefault(text, deque()).append(owner)
    for file in made.values():
        _settle(file, left, record)
    return made


def _former_paths(old: _Files, new: Mapping[str, list[str]]) -> dict[str, str]:
    """Returns which file of the parent each file of the child was: that of its name, else one that is gone and has at least half of its lines."""
    found = {path: path for path in new if path in old}
    gone = [path for path in old if path not in new]
    for path, lines in new.items():
        shared = {former: (Counter(old[former].lines) & Counter(lines)).total() for former in gone}
        nearest = max(shared, key=lambda former: shared[former], default=None)
        if path not in found and nearest is not None and 2 * shared[nearest] >= len(lines) > 0:
            found[path] = nearest
            gone.remove(nearest)
    return found


def _match(old: _BlamedFile, new: _BlamedFile, kept: list[bool]) -> None:
    """Lines that stayed in their order hand on their owners."""
    begin, end = _ends(old.lines, new.lines)
    blocks = [(0, 0, begin), (len(old.lines) - end, len(new.lines) - end, end)]
    middle_old, middle_new = old.lines[begin : len(old.lines) - end], new.lines[begin : len(new.lines) - end]
    if 0 < len(middle_old) * len(middle_new) <= _LARGE:
        matcher = SequenceMatcher(None, middle_old, middle_new)
        blocks += [(begin + one.a, begin + one.b, one.size) for one in matcher.get_matching_blocks()]
    for before, after, size in blocks:
        new.owners[after : after + size] = old.owners[before : before + size]
        kept[before : before + size] = [True] * size


def _ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """Counts the lines that two files have in common at the beginning and at the end."""
    most = min(len(old), len(new))
    begin = next((place for place in range(most) if old[place] != new[place]), most)
    most -= begin
    end = next((place for place in range(most) if old[-1 - place] != new[-1 - place]), most)
    return begin, end


def _settle(file: _BlamedFile, left: Mapping[str, deque[RecordId]], record: RecordId) -> None:
    """A line without an owner was moved here, if one like it is gone elsewhere; else the child brought it."""
    for place, (text, owner) in enumerate(zip(file.lines, file.owners, strict=True)):
        if not owner:
            moved = left.get(text)
            file.owners[place] = moved.popleft() if moved else record


def _tells(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= _TELLING
