"""The files of a task, to take along and to put down again.

Invariant: what is taken is what the task's version is a hash of, its READMEs and its prompts; what is put down lies in a fresh folder that only this user reads, and is
what was checked: no compiled code and nothing hidden comes along, for the version covers neither."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import evolve.task
from evolve.evaluation.version import READMES, deciding
from evolve.publish.claims import TaskClaim
from evolve.publish.contents import Contents, check_paths, check_size, hashed, is_plain
from evolve.types import ConfigError, Task, TaskError

FOLDER = "task"
"""What all files of the task lie below."""


def place_of(task: Task) -> tuple[str, str]:
    """The folder of the task in an export, and what names the task there."""
    name = Path(task.folder).name
    folder = f"{FOLDER}/{name if is_plain(name) else 'task'}"
    own = task.one_file or task.task_file
    return folder, f"{folder}/{own}" if own else folder


def folder_name(task: str) -> str:
    """What the folder of a task's programs is called: a further task of a folder has a name with a slash."""
    name = task.replace("/", ".")
    return name if is_plain(name) else f"task-{hashed(task.encode('utf-8', 'surrogatepass'))[:12]}"


def task_files(task: Task) -> dict[str, bytes]:
    """Every file of a task as it lies in its folder now, by its path in an export; raises `ConfigError` for what cannot travel."""
    folder, (place, _) = Path(task.folder), place_of(task)
    found: dict[str, bytes] = {}
    size = 0
    for path in _paths(task):
        name = f"{place}/{path.relative_to(folder).as_posix()}"
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ConfigError(
                f"{path} leads out of the task's folder, and would not be what it is elsewhere. Do: copy the file into the folder"
            )
        size += path.stat().st_size
        check_size(len(found) + 1, size)
        found[name] = path.read_bytes()
    check_paths(found)
    return found


def _paths(task: Task) -> list[Path]:
    folder = Path(task.folder)
    found = set(deciding(folder, task.one_file, task.prompts_folder))
    if task.one_file:
        return sorted(found)
    if task.prompts_folder:
        found |= set((folder / task.prompts_folder).glob("*.md"))
    return sorted(found | {folder / name for name in READMES if (folder / name).is_file()})


@contextmanager
def laid_down(contents: Contents, claim: TaskClaim) -> Iterator[Task]:
    """The task of an export, loaded from a fresh folder with nothing but its files. Nothing of it is run. Raises `TaskError`, `ConfigError`."""
    with tempfile.TemporaryDirectory(prefix="evolve-task-") as fresh:
        for path, data in contents.items():
            if path.startswith(f"{FOLDER}/"):
                file = Path(fresh) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        yield _loaded(Path(fresh), claim)


def _loaded(fresh: Path, claim: TaskClaim) -> Task:
    place = fresh / claim.path
    if not (is_plain(claim.path) and claim.path.startswith(f"{FOLDER}/") and place.exists()):
        raise ConfigError(f"the export has no task {claim.path[:200]!r}. Do: export the program again")
    try:
        return evolve.task.load(place, claim.parameters)
    except TaskError as error:
        raise TaskError(str(error).replace(f"{fresh}/", "")) from error


def is_timed(task: Task) -> bool:
    """Whether the seconds of a machine decide the fitness: a ratio of times, or a stage that has cores to itself because of them."""
    pinned = any(stage.needs.pinned or stage.needs.exclusive for stage in task.stages)
    return task.fitness.log_ratio or pinned
