"""`archive/published/`: promoted programs, each as the export that anybody can verify.

Invariant: what is claimed, quarantined or not promoted never comes here; a program has one folder, named by its task and its content."""

from dataclasses import dataclass
from pathlib import Path

from evolve.publish.claims import Claims
from evolve.publish.contents import check_size
from evolve.publish.export import Export
from evolve.publish.folder import read, write
from evolve.publish.task_files import folder_name
from evolve.types import ConfigError, Level, Task

FOLDER = "published"
LARGEST = 1 << 20
"""Bytes of a published program with everything: the folder lies in a repository."""
_SHORT = 12
"""Digits of a program's id that name its folder."""


@dataclass(frozen=True, slots=True)
class Published:
    """A program that was published; `new`: it was not there before."""

    name: str
    task: str
    program: str
    folder: str
    files: int
    bytes: int
    new: bool


def published(archive: Path, task: str = "") -> tuple[Path, ...]:
    """All that lies where published programs do, or where those of one task do, in a fixed order: what is no export must not go unseen."""
    found = sorted(path for path in (archive / FOLDER).glob("*/*") if not path.name.startswith("."))
    return tuple(folder for folder in found if not task or folder.parent.name == folder_name(task))


def place_of(archive: Path, claims: Claims) -> Path:
    """The folder of a program."""
    return archive / FOLDER / folder_name(claims.task.name) / claims.program[:_SHORT]


def publish(export: Export, task: Task, archive: Path, *, force: bool = False) -> Published:
    """Adds a promoted program; raises `ConfigError` for any other, with what brings what is missing. One that is there as it is remains; another export of it is replaced with `force` alone."""
    claims = export.claims
    check_publishable(claims, task)
    size = sum(map(len, export.contents.values()))
    if size > LARGEST:
        raise ConfigError(
            f"{claims.name} has {size / 1024:,.0f} KiB with its task, and what is published has at most {LARGEST >> 10:,}. Do: evolve program export {claims.name}"
        )
    check_size(len(export.contents), size)
    folder = place_of(archive, claims)
    new = not folder.exists() or read(folder) != dict(export.contents)
    if new:
        write(export.contents, folder, top="", force=force)
    return Published(claims.name, claims.task.name, claims.program, str(folder), len(export.contents), size, new)


def check_place(archive: Path, folder: Path, claims: Claims) -> None:
    """Raises `ConfigError` where a program is not in its own folder."""
    if folder != place_of(archive, claims):
        raise ConfigError(
            f"{folder} holds {claims.program[:16]} of task {claims.task.name!r}, which belongs elsewhere. Do: put it back, or remove it"
        )


def check_publishable(claims: Claims, task: Task) -> None:
    """Raises `ConfigError` that says what is missing, and what brings it."""
    name, campaign = claims.name, claims.name.rpartition("/")[0]
    if claims.quarantined:
        raise ConfigError(
            f"{name} is quarantined ({claims.quarantined}), and is not published. Do: publish another; `evolve program release {name}` ends a quarantine that was wrong"
        )
    if claims.value is None:
        raise ConfigError(f"{name} has no score: it never passed. Do: evolve program list {campaign}")
    if claims.is_claimed:
        raise ConfigError(
            f"the score of {name} is claimed by the program's own script, and nobody has computed it. Do: let the task's evaluator compute it, and run again"
        )
    if claims.program == task.seed.id:
        raise ConfigError(
            f"{name} is the task's seed, so nothing was found that could be published. Do: evolve run --continue {campaign} --budget 10m"
        )
    if _level(claims) in ("", Level.NONE.value):
        raise ConfigError(
            f"{name} was judged without isolation. Do: evolve run {claims.task.name} --sandbox standard, and publish what that finds"
        )
    if claims.promotion is None:
        raise ConfigError(f"{name} is not promoted: {_missing(claims, task)}")
    if not claims.value.confirmed:
        raise ConfigError(
            f"{name} is not confirmed: its value rests on the measurements that chose it. Do: evolve run --continue {campaign} --budget 10m measures the best again"
        )


def _level(claims: Claims) -> str:
    return claims.first.isolation.partition(":")[0] if claims.first else ""


def _missing(claims: Claims, task: Task) -> str:
    """Why a program is not promoted, and what to do."""
    campaign = claims.name.rpartition("/")[0]
    more = f"Do: evolve run --continue {campaign} --budget 10m"
    if task.promotion == "certificate":
        return f"the task has not certified it, and certifies what may be the best alone. Do: publish {campaign}/best, or go on with the campaign, evolve run --continue {campaign} --budget 10m"
    if not task.held_out:
        return f"task {task.name!r} has neither held-out cases nor a certificate, so nothing ever is. Do: declare [[held_out]] in its task.toml"
    own = {one.case: one for one in claims.judgings if one.case and not one.of_seed}
    seeds = {one.case: one for one in claims.judgings if one.case and one.of_seed}
    lacking = [case.name for case in task.held_out if case.name not in own or case.name not in seeds]
    if lacking:
        return f"it was not measured on {', '.join(map(repr, lacking))}, as the best alone is. {more}"
    worse = [
        f"{case.name!r}: {own[case.name].fitness}, the seed {seeds[case.name].fitness}"
        for case in task.held_out
        if _is_worse(own[case.name].fitness, seeds[case.name].fitness, task)
    ]
    told = "; ".join(worse) or "a constraint is missed"
    return f"it is worse than the seed on held-out cases ({told}), so what was found in the search does not hold there. Do: publish another, or search on, evolve run --continue {campaign} --budget 10m"


def _is_worse(own: float | None, seed: float | None, task: Task) -> bool:
    if own is None or seed is None:
        return own is None
    return task.fitness.inside(own) < task.fitness.inside(seed)
