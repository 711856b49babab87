"""`[sandbox]` of `task.toml`: what a candidate's process may use, and what it may do beyond the usual, each by its name.

Invariant: what is not named there stays closed; what is granted is part of the task's version, since it stands in the task's file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from evolve.task.table import Table
from evolve.task.values import Folder, Network, Size
from evolve.types import Grants, Limits

NOTHING_GRANTED = "nothing beyond the usual"
_USUAL = Limits()


def _size(size: int) -> dict[str, Any]:
    """For the JSON Schema: a size is a text."""
    return {"type": "string", "default": written_size(size)}


def written_size(size: int) -> str:
    """Bytes with the largest unit that divides them, as a task's file has it."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if size and size % unit == 0:
            return f"{size // unit}{name}"
    return f"{size / 1024:g}KiB"


class SandboxTable(Table):
    """`[sandbox]`: what the program's process may use, and how much of it is kept."""

    memory: Size = Field(
        default=_USUAL.memory,
        description="memory, with its unit: `KiB`, `MiB` or `GiB`",
        json_schema_extra=_size(_USUAL.memory),
    )
    artifacts: Size = Field(
        default=_USUAL.artifacts,
        description="how much of one program the evaluator may keep in `artifacts`, all together, as JSON: `KiB`, `MiB` or `GiB`",
        json_schema_extra=_size(_USUAL.artifacts),
    )
    preload: list[str] = Field(
        default=[],
        description="modules that are imported once, before the process of a program is forked: list `numpy` if programs import it, "
        "since an import costs more than a fork",
    )
    scratch: Size = Field(
        default=_USUAL.scratch,
        description="how much a program's working folder may hold; it counts as memory",
        json_schema_extra=_size(_USUAL.scratch),
    )
    file_size: Size = Field(
        default=_USUAL.file_size,
        description="the largest file that may be written, and the most that a command may print",
        json_schema_extra=_size(_USUAL.file_size),
    )
    tasks: int = Field(
        default=_USUAL.tasks, ge=2, le=4096, description="processes and threads that a program may have at a time"
    )
    gpu: int = Field(
        default=0,
        ge=0,
        le=64,
        description="how many GPUs a program may use at most; with one, its driver is within reach. Not verified on a device yet",
    )
    exec: bool = Field(
        default=True, description="whether a program may start other programs, such as a compiler or a shell"
    )
    memfd: bool = Field(default=False, description="whether a program may make files that lie in memory alone")
    shm: Size = Field(
        default=_USUAL.grants.shm,
        description="shared memory in `/dev/shm`, for `multiprocessing` and some libraries; it counts as memory",
        json_schema_extra=_size(_USUAL.grants.shm),
    )
    read: list[Folder] = Field(
        default=[],
        description="folders that a program may read, by the same path as outside: from the task's folder, or absolute (`~` and `$NAME` are "
        "replaced). What lies outside of the task's folder is no part of its version",
    )
    threads: int = Field(
        default=1, ge=1, le=1024, description="threads that numerical libraries start in a program's process"
    )
    network: Network = Field(
        default="off",
        description='`"off"`, or `"loopback"`: a loopback of the program\'s own, which no process outside shares',
        json_schema_extra={"default": "off"},
    )
    template: bool = Field(
        default=True,
        description="whether a program's process is forked from a warm one; `false` starts a fresh interpreter each time, which imports `preload` itself, "
        "for libraries that must not be forked",
    )
    private: bool = Field(
        default=False,
        description="for tasks whose programs must leave no word for later ones, such as what they were shown of held-out cases: at level `strict` a program sees "
        "copies, in the memory of its judge, of the standard library and of what `preload` imports, and no other module, program or library",
    )

    @model_validator(mode="after")
    def _can_work(self) -> "SandboxTable":
        if self.threads >= self.tasks:
            raise ValueError(
                f"threads = {self.threads} needs more than tasks = {self.tasks}, which counts processes and threads together. "
                f"Do: set tasks = {2 * self.threads}"
            )
        if self.private and self.gpu:
            raise ValueError(
                "private hides what programs leave in the machine's memory, and a GPU's driver keeps what no copy hides. Do: take out one"
            )
        for key in {"scratch", "shm"} & self.model_fields_set:
            if getattr(self, key) > self.memory:
                raise ValueError(
                    f"{key} counts as memory, and is more than memory = {written_size(self.memory)}. Do: lower it, or raise memory"
                )
        return self


def limits(table: SandboxTable, folder: Path) -> Limits:
    """What the table says, as the sandbox takes it; `folder` is the task's."""
    return Limits(
        memory=table.memory,
        preload=tuple(table.preload),
        artifacts=table.artifacts,
        scratch=table.scratch,
        file_size=table.file_size,
        tasks=table.tasks,
        grants=Grants(
            gpu=table.gpu,
            execute=table.exec,
            memfd=table.memfd,
            shm=table.shm,
            read=tuple(_place(folder, written) for written in table.read),
            threads=table.threads,
            network=table.network,
            template=table.template,
            private=table.private,
        ),
    )


def granted(limits: Limits) -> dict[str, bool | int | str | tuple[str, ...]]:
    """What differs from the usual, by the keys of `[sandbox]`: sizes in bytes, folders as absolute paths. Memory, what is kept and what is
    preloaded are told elsewhere."""
    return {key: value for key, value in _named(limits).items() if value != _NAMED[key]}


def _named(limits: Limits) -> Mapping[str, bool | int | str | tuple[str, ...]]:
    grants = limits.grants
    return {
        "gpu": grants.gpu,
        "exec": grants.execute,
        "memfd": grants.memfd,
        "shm": grants.shm,
        "read": grants.read,
        "threads": grants.threads,
        "network": grants.network,
        "template": grants.template,
        "private": grants.private,
        "scratch": limits.scratch,
        "file_size": limits.file_size,
        "tasks": limits.tasks,
    }


_NAMED = _named(_USUAL)


def told(limits: Limits) -> str:
    """`granted` as one line in the words of the task's file; empty where nothing is granted."""
    sizes = {"shm", "scratch", "file_size"}
    parts = []
    for key, value in granted(limits).items():
        if key in sizes and isinstance(value, int):
            parts.append(f"{key} = {written_size(value)}")
        elif isinstance(value, bool):
            parts.append(f"{key} = {str(value).lower()}")
        else:
            parts.append(f"{key} = {' '.join(value) if isinstance(value, tuple) else value}")
    return ", ".join(parts)


def _place(folder: Path, written: str) -> str:
    """A folder as an absolute path without `.` and `..`; whether it is there is said when a judge starts."""
    expanded = os.path.expanduser(os.path.expandvars(written))  # noqa: PTH111 the path's own method raises for an unknown user
    return os.path.normpath(folder / expanded)
