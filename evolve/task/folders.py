"""Where tasks lie: a folder or a file that the user names, `tasks/` below the current folder, and the tasks that ship with the engine.

Invariant: a task is a folder with a `task.toml`, a further task file beside one, or one Python file; nothing else is ever returned."""

import re
from pathlib import Path

from evolve.types import TaskError
from evolve.types.suggest import did_you_mean

TASK_FILE = "task.toml"
ONE_FILE = "problem.py"
"""The file that is the whole task of a folder without a `task.toml`."""
_PACKAGE = Path(__file__).resolve().parents[1]
_SUFFIX = ".toml"
_FURTHER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""What a further task file may be called, without its suffix."""
_VERSION = re.compile(r"^schema[ \t]*=", re.MULTILINE)
_NO_TASK = re.compile(r"^task[ \t]*=", re.MULTILINE)
"""A campaign's file has the first key, too; it names its task, which a task file never does."""


def bundled() -> tuple[str, ...]:
    """The names of the tasks that ship with the engine, sorted."""
    return _tasks_in(_bundled_folder())


def own() -> tuple[Path, ...]:
    """The tasks in `tasks/` below the current folder, by their names: each a folder, its one file, or a further task file of a folder."""
    return tuple(_resolved(place) for place in _places_in(Path("tasks")))


def name_of(place: Path) -> str:
    """What a task is called that lies in a folder, or is one file: `softmax`, and `softmax/triton` for the file `triton.toml` of that folder."""
    if not place.is_file():
        return place.name
    if place.suffix == _SUFFIX:
        return f"{place.parent.name}/{place.stem}"
    return place.parent.name if place.name == ONE_FILE else place.stem


def is_bundled(folder: Path) -> bool:
    """Whether a task's folder is one that ships with the engine, so that its name is enough wherever the engine is installed."""
    return folder.parent == _bundled_folder()


def place_of_bundled(name: str) -> Path:
    """The folder or the task file of a task of `bundled`; nothing that lies in the current folder is ever meant."""
    folder = _bundled_folder() / name
    return folder if _is_task(folder) else folder.with_name(folder.name + _SUFFIX)


def is_name(reference: str) -> bool:
    """Whether words may be a task's name, and are no path: `softmax`, `softmax/triton`."""
    parts = reference.split("/")
    return len(parts) <= 2 and not any(part in ("", ".", "..") for part in parts)


def find(reference: str | Path) -> Path:
    """The folder or the file of a task: a path to it, else `tasks/<name>` below the current folder, else a bundled task's name. `softmax/triton` is
    the file `triton.toml` beside the `task.toml` of `softmax`. Raises `TaskError` that lists the known tasks."""
    path = Path(reference)
    if path.suffix == ".py" and path.is_file():
        return path.resolve()
    if path.name == TASK_FILE:
        path = path.parent
    elif _is_further(path):
        return path.resolve()
    places = [path]
    if is_name(str(reference)):
        places += [Path("tasks") / path, _bundled_folder() / path]
    for place in places:
        if _is_task(place):
            return _resolved(place)
        if place.name and _is_further(place.with_name(place.name + _SUFFIX)):
            return place.with_name(place.name + _SUFFIX).resolve()
    raise TaskError(_not_found(str(reference), path))


def _is_task(folder: Path) -> bool:
    return (folder / TASK_FILE).is_file() or (folder / ONE_FILE).is_file()


def _is_further(file: Path) -> bool:
    """Whether a file is a further task of its folder: a TOML file with a task file's first key, beside the `task.toml`."""
    if file.suffix != _SUFFIX or file.name == TASK_FILE or not _FURTHER.fullmatch(file.stem):
        return False
    if not file.is_file() or not file.with_name(TASK_FILE).is_file():
        return False
    text = file.read_bytes().decode("utf-8", "replace")
    return _VERSION.search(text) is not None and _NO_TASK.search(text) is None


def _resolved(place: Path) -> Path:
    """The folder, or the file that is the task."""
    if place.suffix == _SUFFIX and place.is_file():
        return place.resolve()
    return (place if (place / TASK_FILE).is_file() else place / ONE_FILE).resolve()


def _not_found(reference: str, path: Path) -> str:
    if path.is_dir():
        return f"the folder {str(path)!r} has no {TASK_FILE} and no {ONE_FILE}. Do: write one; `evolve task new NAME` shows how"
    if path.exists():
        return f"a task is a folder with a {TASK_FILE}, or one Python file, got the file {str(path)!r}. Do: {_named_instead(path)}"
    if path.suffix == ".py":
        return f"there is no file {str(path)!r}. Do: check the path; `evolve task new NAME --kind one-file` writes a task in one file"
    known = (*bundled(), *_tasks_in(Path("tasks")))
    folder, slash, _ = reference.partition("/")
    if not is_name(reference) or (slash and folder not in known):
        near = "" if not is_name(reference) else did_you_mean(reference, known).partition(" Known:")[0]
        return f"there is no task folder {reference!r}.{near} Do: check the path, or name one of {', '.join(bundled())}"
    return f"no task is called {reference!r}.{did_you_mean(reference, known)} Do: `evolve task list` shows all, or name a folder"


def _named_instead(file: Path) -> str:
    """What to name in place of a file that is no task."""
    if file.suffix == _SUFFIX and file.with_name(TASK_FILE).is_file():
        return "name the folder; a further task of a folder is a file of letters, digits, dashes and underscores that begins with `schema = 1`"
    return "name the folder"


def _tasks_in(folder: Path) -> tuple[str, ...]:
    return tuple(name_of(place) for place in _places_in(folder))


def _places_in(folder: Path) -> list[Path]:
    """The tasks of a folder of tasks, by their names: folders and further task files."""
    folders = {path.parent for name in (TASK_FILE, ONE_FILE) for path in folder.glob(f"*/{name}")}
    further = {path for path in folder.glob(f"*/*{_SUFFIX}") if _is_further(path)}
    return sorted(folders | further, key=name_of)


def _bundled_folder() -> Path:
    """In an installed wheel the package holds the tasks; in a checkout they lie beside it."""
    shipped = _PACKAGE / "_bundled" / "tasks"
    return shipped if shipped.is_dir() else _PACKAGE.parent / "tasks"
