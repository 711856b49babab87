"""Differences between two programs, and the record that brought each line of a program."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from evolve.campaign import Campaign
from evolve.report.records import LineageStep, line_to, lineage_step, record_name
from evolve.sandbox.output import one_line
from evolve.types import ConfigError, Program, RecordId


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A file that two programs do not have alike: what it says in the older and the newer one, empty where there is none, and a unified
    diff."""

    path: str
    before: str
    after: str
    text: str


def differences(old: Program, new: Program, names: Sequence[str]) -> tuple[FileDifference, ...]:
    """Returns the files that two programs, named so, do not have alike, by their paths."""
    found = []
    for path in sorted({*old.files, *new.files}):
        before, after = old.files.get(path, ""), new.files.get(path, "")
        if (path in old.files, before) != (path in new.files, after):
            found.append(
                FileDifference(
                    path, before, after, _format_diff(before, after, [f"{name}/{one_line(path)}" for name in names])
                )
            )
    return tuple(found)


def _format_diff(before: str, after: str, names: Sequence[str]) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), names[0], names[1], lineterm="")
    return "".join(f"{line}\n" for line in lines)


def program_of(campaign: Campaign, record: RecordId) -> Program:
    """Returns the program of a record; raises `ConfigError` where its proposal was screened."""
    found = campaign.state.history.program_id(record)
    if found is None:
        name = record_name(campaign, record)
        raise ConfigError(
            f"{name} has no program: its proposal was screened. Try: evolve program show {name} --feedback"
        )
    return campaign.state.history.program(found)


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


def blame(campaign: Campaign, record: RecordId) -> tuple[BlameLine, ...]:
    """Returns all lines of the program of a record, file by file; raises `ConfigError` where it has none."""
    program_of(campaign, record)
    files: dict[str, list[str]] = {}
    owners: dict[str, list[RecordId]] = {}
    for ancestor in line_to(campaign, record):
        new = {path: _split(text) for path, text in sorted(program_of(campaign, ancestor).files.items())}
        owners = {path: _hand_on(files.get(path, []), owners.get(path, []), new[path], ancestor) for path in new}
        files = new
    steps = {owner: lineage_step(campaign, owner) for owned in owners.values() for owner in dict.fromkeys(owned)}
    return tuple(
        _blame_line(campaign, path, number, text, steps[owner])
        for path, lines in files.items()
        for number, (text, owner) in enumerate(zip(lines, owners[path], strict=True), 1)
    )


def _blame_line(campaign: Campaign, path: str, number: int, text: str, step: LineageStep) -> BlameLine:
    model = campaign.state.history.model(step.record)
    return BlameLine(path, number, text, step.record, step.operator, model, step.change, step.kind)


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _hand_on(before: list[str], owners: Sequence[RecordId], after: list[str], record: RecordId) -> list[RecordId]:
    """Returns the owners of a child's lines: equal lines in their order keep theirs, and the child owns all others."""
    found = [record] * len(after)
    # Lines that are frequent in a long file are no anchors (`autojunk`), so that no program makes this quadratic.
    for old, new, size in SequenceMatcher(None, before, after).get_matching_blocks():
        found[new : new + size] = owners[old : old + size]
    return found
