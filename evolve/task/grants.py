"""Limits and grants of a task's programs, from `[sandbox]` and back into its words.

What is not named there stays closed. What is granted is part of the task's version, since it stands in the task's file."""

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from evolve.task.schema import SandboxTable, format_size
from evolve.types import Grants, Limits

_TOLD = ("scratch", "file_size", "tasks")
"""Limits that are told with the grants; memory, what is kept and what is preloaded are told elsewhere."""
_SIZES = frozenset({"shm", "scratch", "file_size"})

Granted = Mapping[str, bool | int | str | tuple[str, ...]]


def make_limits(table: SandboxTable, folder: Path) -> Limits:
    """Returns the table as the sandbox takes it; `folder` is the task's."""
    values = table.model_dump()
    values["preload"] = tuple(table.preload)
    values["read"] = tuple(_expand(folder, path) for path in table.read)
    grants = {field.name: values.pop(field.name) for field in fields(Grants)}
    return Limits(**values, grants=Grants(**grants))


def list_grants(limits: Limits) -> Granted:
    """Returns what differs from the usual, by the keys of `[sandbox]`: sizes in bytes, folders as absolute paths."""
    usual = _name_values(Limits())
    return {key: value for key, value in _name_values(limits).items() if value != usual[key]}


def format_grants(limits: Limits) -> str:
    """Returns `list_grants` as one line in the words of the task's file."""
    parts = (f"{key} = {_format(key, value)}" for key, value in list_grants(limits).items())
    return ", ".join(parts) or "nothing beyond the usual"


def _format(key: str, value: bool | int | str | tuple[str, ...]) -> str:
    if key in _SIZES and isinstance(value, int):
        return format_size(value)
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _name_values(limits: Limits) -> Granted:
    grants = {field.name: getattr(limits.grants, field.name) for field in fields(Grants)}
    # The key is `exec`, as everybody knows it; the field cannot be, for that would shadow the built-in function.
    named = {"exec" if name == "execute" else name: value for name, value in grants.items()}
    return named | {name: getattr(limits, name) for name in _TOLD}


def _expand(folder: Path, path: str) -> str:
    """Returns an absolute path without `.` and `..`; a folder that is not there is an error when a worker starts."""
    expanded = os.path.expanduser(os.path.expandvars(path))  # noqa: PTH111 the path's own method raises for an unknown user
    return os.path.normpath(folder / expanded)
