"""Places of tasks: a folder or a file that the user names, `tasks/` below the current folder, and the tasks that ship with the engine.

A task is a folder with a `task.toml`, a further task file beside one, or one Python file. A new one, a starter or a copy, overwrites nothing and
appears whole or not at all."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evolve.atomic_write import atomic_write
from evolve.types import TaskError
from evolve.types.errors import ask_for_near, did_you_mean

TASK_FILE = "task.toml"
ONE_FILE = "problem.py"
"""The file that is the whole task of a folder without a `task.toml`."""
_STARTERS = Path(__file__).parent / "starters"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*", "archive")
_PACKAGE = Path(__file__).resolve().parents[1]
_SUFFIX = ".toml"
_FURTHER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""Names of further task files, without their suffix."""
_VERSION = re.compile(r"^schema[ \t]*=", re.MULTILINE)
_NO_TASK = re.compile(r"^task[ \t]*=", re.MULTILINE)
"""A campaign's file has the first key, too; it names its task, which a task file never does."""


def list_bundled() -> tuple[str, ...]:
    """Returns the names of the tasks that ship with the engine, sorted."""
    return _tasks_in(_find_bundled())


def list_own() -> tuple[Path, ...]:
    """Returns the tasks in `tasks/` below the current folder, by their names: each a folder, its one file, or a further task file of a folder."""
    return tuple(_resolve(place) for place in _places_in(Path("tasks")))


def list_tasks() -> list[Path]:
    """Returns the tasks of `list_own` and `list_bundled`, by their names."""
    # In a checkout the bundled tasks are those in ./tasks: each is listed once.
    return sorted({*list_own(), *map(find, list_bundled())}, key=lambda place: (name_of(place), place))


def name_of(place: Path) -> str:
    """Returns the name of a task that lies in a folder, or is one file: `softmax`, and `softmax/triton` for the file `triton.toml` of that folder."""
    if not place.is_file():
        return place.name
    if place.suffix == _SUFFIX:
        return f"{place.parent.name}/{place.stem}"
    return place.parent.name if place.name == ONE_FILE else place.stem


def is_bundled(folder: Path) -> bool:
    """Returns whether a task's folder ships with the engine, so that its name is enough wherever the engine is installed."""
    return folder.parent == _find_bundled()


def place_of_bundled(name: str) -> Path:
    """Returns the folder or the task file of a task of `bundled`, and never one that lies in the current folder."""
    folder = _find_bundled() / name
    return folder if _is_task(folder) else folder.with_name(folder.name + _SUFFIX)


def is_name(reference: str) -> bool:
    """Returns whether words may be a task's name, and are no path: `softmax`, `softmax/triton`."""
    parts = reference.split("/")
    return len(parts) <= 2 and not any(part in ("", ".", "..") for part in parts)


def find(reference: str | Path) -> Path:
    """Returns the folder or the file of a task: a path to it, else `tasks/<name>` below the current folder, else a bundled task's name. `softmax/triton` is
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
        places += [Path("tasks") / path, _find_bundled() / path]
    for place in places:
        if _is_task(place):
            return _resolve(place)
        if place.name and _is_further(place.with_name(place.name + _SUFFIX)):
            return place.with_name(place.name + _SUFFIX).resolve()
    raise TaskError(_explain_missing(str(reference), path))


def _is_task(folder: Path) -> bool:
    return (folder / TASK_FILE).is_file() or (folder / ONE_FILE).is_file()


def _is_further(file: Path) -> bool:
    """Returns whether a file is a further task of its folder: a TOML file with a task file's first key, beside the `task.toml`."""
    if file.suffix != _SUFFIX or file.name == TASK_FILE or not _FURTHER.fullmatch(file.stem):
        return False
    if not file.is_file() or not file.with_name(TASK_FILE).is_file():
        return False
    text = file.read_bytes().decode("utf-8", "replace")
    return _VERSION.search(text) is not None and _NO_TASK.search(text) is None


def _resolve(place: Path) -> Path:
    if place.suffix == _SUFFIX and place.is_file():
        return place.resolve()
    return (place if (place / TASK_FILE).is_file() else place / ONE_FILE).resolve()


def _find_near(path: Path) -> str:
    """Returns the nearest name of a task beside a path that is none, as a question; empty where none is near, or where one may not look."""
    try:
        beside = [near.name for near in path.parent.iterdir() if near.suffix == ".py" or _is_task(near)]
    except OSError:
        return ""
    # Whoever meant something else has no use for a list of what lies there.
    return ask_for_near(path.name, beside)


def _explain_missing(reference: str, path: Path) -> str:
    if path.is_dir():
        return f"the folder {str(path)!r} has no {TASK_FILE} and no {ONE_FILE}. Try: write one; `evolve task new NAME` shows how"
    if path.exists():
        remedy = "name the folder"
        if path.suffix == _SUFFIX and path.with_name(TASK_FILE).is_file():
            remedy += "; a further task of a folder is a file of letters, digits, dashes and underscores that begins with `schema = 1`"
        return f"a task is a folder with a {TASK_FILE}, or one Python file, got the file {str(path)!r}. Try: {remedy}"
    close = _find_near(path)
    if path.suffix == ".py":
        return f"there is no file {str(path)!r}.{close} Try: check the path; `evolve task new NAME --kind one-file` writes a task in one file"
    known = (*list_bundled(), *_tasks_in(Path("tasks")))
    if is_name(reference):
        return f"no task is called {reference!r}.{close or did_you_mean(reference, known)} Try: `evolve task list` shows all, or name a folder"
    return (
        f"there is no task folder {reference!r}.{close} Try: check the path, or name one of {', '.join(list_bundled())}"
    )


def _tasks_in(folder: Path) -> tuple[str, ...]:
    return tuple(name_of(place) for place in _places_in(folder))


def _places_in(folder: Path) -> list[Path]:
    """Returns the tasks of a folder of tasks, by their names: folders and further task files."""
    folders = {path.parent for name in (TASK_FILE, ONE_FILE) for path in folder.glob(f"*/{name}")}
    further = {path for path in folder.glob(f"*/*{_SUFFIX}") if _is_further(path)}
    return sorted(folders | further, key=name_of)


def _find_bundled() -> Path:
    # In an installed wheel the package holds the tasks; in a checkout they lie beside it.
    shipped = _PACKAGE / "_bundled" / "tasks"
    return shipped if shipped.is_dir() else _PACKAGE.parent / "tasks"


# --- new tasks


def starter_kinds() -> tuple[str, ...]:
    """Returns the kinds of starters."""
    return tuple(sorted(path.name for path in _STARTERS.iterdir() if path.is_dir()))


def create(name: str, kind: str, target: Path | None = None) -> Path:
    """Writes the starter of a kind as the task `name` to `tasks/<name>`, or to the folder `target`; returns what `run` wants as TASK.
    Raises `TaskError`."""
    if kind not in starter_kinds():
        raise TaskError(
            f"no kind of task is called {kind!r}.{did_you_mean(kind, starter_kinds())} Try: choose one of them"
        )
    return _copy(_STARTERS / kind, target or _own_place(name))


def copy(reference: str, target: Path | None = None) -> Path:
    """Copies a task to `tasks/<its name>`, or to the folder `target`; returns what `run` wants as TASK. A folder is copied with all of its tasks.
    Raises `TaskError`."""
    place = find(reference)
    if place.suffix == ".toml":
        return _copy(place.parent, target or _own_place(place.parent.name)) / place.name
    return _copy(place, target or _own_place(name_of(place)))


def _own_place(name: str) -> Path:
    if not name or len(Path(name).parts) != 1 or name.startswith((".", "-")):
        raise TaskError(
            f"a task's name is the name of its folder, got {name!r}. Try: letters, digits and underscores; DEST says where"
        )
    return Path("tasks") / name


def _copy(source: Path, target: Path) -> Path:
    """Copies a folder, or the one file that is a task as a folder with it."""
    if target.exists():
        raise TaskError(
            f"there is something at {str(target)!r} already. Try: choose another name, or name another place"
        )
    if target.suffix == ".py":
        raise TaskError(f"a task is written as a folder, got {str(target)!r}. Try: name the folder")
    with write_folder(target) as made:
        if source.is_dir():
            shutil.copytree(source, made, ignore=_LEFT_OUT, copy_function=shutil.copyfile)
        else:
            made.mkdir()
            shutil.copyfile(source, made / ONE_FILE)
    return target


@contextmanager
def write_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """Yields the path at which a task is to be written; it appears at `target` when the body has ended, whole or not at all. Raises `TaskError`."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target, replace=replace) as made:
            yield made
    except OSError as error:
        raise TaskError(
            f"the task cannot be written to {str(target)!r}: {error.strerror or error}. Try: name a place that you may write to"
        ) from error


def list_files(task: Path) -> tuple[str, ...]:
    """Returns the files of a task's folder, by their paths in it."""
    folder = task.parent if task.is_file() else task
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))
