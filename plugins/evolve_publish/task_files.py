"""Files of a task in an export.

An export takes the files that the task's version is a hash of, its READMEs and its prompts. They are loaded from a fresh folder that only this user reads; no compiled code and nothing hidden comes along,
for the version covers neither."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import evolve.task
from evolve.types import ConfigError, Task, TaskError
from evolve_publish.claims import TaskClaim
from evolve_publish.files import Contents, check_paths, check_size, encode_text, hash_bytes, is_plain

FOLDER = "task"
"""Folder of all files of the task."""


def place_of_task(task: Task) -> tuple[str, str]:
    """Returns the folder of the task in an export, and the path that names the task there."""
    name = Path(task.folder).name
    folder = f"{FOLDER}/{name if is_plain(name) else 'task'}"
    own = task.one_file or task.task_file
    return folder, f"{folder}/{own}" if own else folder


def folder_name(task: str) -> str:
    """Returns a task's name as a folder's name: a further task of a folder has a name with a slash."""
    name = task.replace("/", ".")
    return name if is_plain(name) else f"task-{hash_bytes(encode_text(task))[:12]}"


def claim_task(task: Task, name: str, release: str) -> TaskClaim:
    """Returns the claim of a task; `release` is that of its evaluator's package."""
    folder, path = place_of_task(task)
    return TaskClaim(
        name=name,
        version=task.version,
        folder=folder,
        path=path,
        parameters=dict(task.parameters),
        fitness=task.fitness.name,
        direction=task.fitness.direction,
        digits=task.fitness.digits,
        deterministic=task.deterministic,
        promotion=task.promotion,
        plugin=task.evaluator.plugin or "",
        release=release,
        log_ratio=task.fitness.log_ratio,
        timed=is_timed(task),
    )


def task_files(task: Task) -> dict[str, bytes]:
    """Returns every file of a task as it lies in its folder now, by its path in an export; raises `ConfigError` for one that cannot travel."""
    folder, (place, _) = Path(task.folder), place_of_task(task)
    found: dict[str, bytes] = {}
    size = 0
    for path in _paths(task):
        name = f"{place}/{path.relative_to(folder).as_posix()}"
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ConfigError(
                f"{path} leads out of the task's folder, and would not be what it is elsewhere. Try: copy the file into the folder"
            )
        size += path.stat().st_size
        check_size(len(found) + 1, size)
        found[name] = path.read_bytes()
    check_paths(found)
    return found


def _paths(task: Task) -> list[Path]:
    folder = Path(task.folder)
    found = set(evolve.task.deciding(folder, task.one_file, task.prompts_folder))
    if task.one_file:
        return sorted(found)
    if task.prompts_folder:
        found |= set((folder / task.prompts_folder).glob("*.md"))
    return sorted(found | {folder / name for name in evolve.task.READMES if (folder / name).is_file()})


@contextmanager
def load_exported_task(contents: Contents, claim: TaskClaim) -> Iterator[Task]:
    """Yields the task of an export, loaded from a fresh folder that holds nothing else. Nothing of it is run. Raises `TaskError`, `ConfigError`."""
    with tempfile.TemporaryDirectory(prefix="evolve-task-") as fresh:
        for path, data in contents.items():
            if path.startswith(f"{FOLDER}/"):
                file = Path(fresh) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        yield _load(Path(fresh), claim)


def _load(fresh: Path, claim: TaskClaim) -> Task:
    place = fresh / claim.path
    if not (is_plain(claim.path) and claim.path.startswith(f"{FOLDER}/") and place.exists()):
        raise ConfigError(f"the export has no task {claim.path[:200]!r}. Try: export the program again")
    try:
        return evolve.task.load(place, claim.parameters)
    except TaskError as error:
        raise TaskError(str(error).replace(f"{fresh}/", "")) from error


def is_timed(task: Task) -> bool:
    """Returns whether the seconds of a machine decide the fitness: a ratio of times, or a stage that has cores to itself because of them."""
    pinned = any(stage.needs.pinned or stage.needs.exclusive for stage in task.stages)
    return task.fitness.log_ratio or pinned
