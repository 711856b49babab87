"""What one program has that another has not, file by file.

Invariant: a file that both have alike is no difference; nothing in a heading comes from a program but a path, made harmless."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from evolve.campaign import Campaign
from evolve.report.records import record_name
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
    """From the program of one record to that of another; raises `ConfigError` where one has none."""
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
