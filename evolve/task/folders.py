"""Where tasks lie: a folder or a file that the user names, `tasks/` below the current folder, and the tasks that ship with the engine.

Invariant: a task is a folder with a `task.toml`, or one Python file; nothing else is ever returned."""

from pathlib import Path

from evolve.types import TaskError
from evolve.types.suggest import did_you_mean

TASK_FILE = "task.toml"
ONE_FILE = "problem.py"
"""The file that is the whole task of a folder without a `task.toml`."""
_PACKAGE = Path(__file__).resolve().parents[1]


def bundled() -> tuple[str, ...]:
    """The names of the tasks that ship with the engine, sorted."""
    return _tasks_in(_bundled_folder())


def own() -> tuple[Path, ...]:
    """The tasks in `tasks/` below the current folder, by their names: each a folder, or its one file."""
    return tuple(_resolved(folder) for folder in _folders_in(Path("tasks")))


def name_of(place: Path) -> str:
    """What a task is called that lies in a folder, or is one file."""
    if not place.is_file():
        return place.name
    return place.parent.name if place.name == ONE_FILE else place.stem


def is_bundled(folder: Path) -> bool:
    """Whether a task's folder is one that ships with the engine, so that its name is enough wherever the engine is installed."""
    return folder.parent == _bundled_folder()


def find(reference: str | Path) -> Path:
    """The folder or the file of a task: a path to it, else `tasks/<name>` below the current folder, else a bundled task's name.
    Raises `TaskError` that lists the known tasks."""
    path = Path(reference)
    if path.suffix == ".py" and path.is_file():
        return path.resolve()
    if path.name == TASK_FILE:
        path = path.parent
    places = [path]
    if _is_name(str(reference)):
        places += [Path("tasks") / path, _bundled_folder() / path]
    for place in places:
        if _is_task(place):
            return _resolved(place)
    raise TaskError(_not_found(str(reference), path))


def _is_task(folder: Path) -> bool:
    return (folder / TASK_FILE).is_file() or (folder / ONE_FILE).is_file()


def _resolved(folder: Path) -> Path:
    """The folder, or the one file in it that is the task."""
    return (folder if (folder / TASK_FILE).is_file() else folder / ONE_FILE).resolve()


def _not_found(reference: str, path: Path) -> str:
    if path.is_dir():
        return f"the folder {str(path)!r} has no {TASK_FILE} and no {ONE_FILE}. Do: write one; `evolve task new NAME` shows how"
    if path.exists():
        return f"a task is a folder with a {TASK_FILE}, or one Python file, got the file {str(path)!r}. Do: name the folder"
    if path.suffix == ".py":
        return f"there is no file {str(path)!r}. Do: check the path; `evolve task new NAME --kind one-file` writes a task in one file"
    if not _is_name(reference):
        return f"there is no task folder {reference!r}. Do: check the path, or name one of {', '.join(bundled())}"
    known = (*bundled(), *_tasks_in(Path("tasks")))
    return f"no task is called {reference!r}.{did_you_mean(reference, known)} Do: `evolve task list` shows all, or name a folder"


def _is_name(reference: str) -> bool:
    return reference not in ("", ".", "..") and len(Path(reference).parts) == 1


def _tasks_in(folder: Path) -> tuple[str, ...]:
    return tuple(path.name for path in _folders_in(folder))


def _folders_in(folder: Path) -> list[Path]:
    return sorted({path.parent for name in (TASK_FILE, ONE_FILE) for path in folder.glob(f"*/{name}")})


def _bundled_folder() -> Path:
    """In an installed wheel the package holds the tasks; in a checkout they lie beside it."""
    shipped = _PACKAGE / "_bundled" / "tasks"
    return shipped if shipped.is_dir() else _PACKAGE.parent / "tasks"
