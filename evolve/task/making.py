"""Writing a task of one's own: a starter that runs as it is, or a copy of a task that comes with the engine.

Invariant: nothing that is there is overwritten, and a task appears whole or not at all."""

import shutil
from pathlib import Path

from evolve.atomic_write import atomic_write
from evolve.task.folders import ONE_FILE, find, name_of
from evolve.types import TaskError
from evolve.types.suggest import did_you_mean

_STARTERS = Path(__file__).parent / "starters"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*", "archive")


def kinds() -> tuple[str, ...]:
    """The kinds of starters."""
    return tuple(sorted(path.name for path in _STARTERS.iterdir() if path.is_dir()))


def new(name: str, kind: str, target: Path | None = None) -> Path:
    """Writes the starter of a kind as the task `name` to `tasks/<name>`, or to the folder `target`; gives what `run` wants as TASK.
    Raises `TaskError`."""
    if kind not in kinds():
        raise TaskError(f"no kind of task is called {kind!r}.{did_you_mean(kind, kinds())} Do: choose one of them")
    return _copied(_STARTERS / kind, target or _own(name))


def copy(reference: str, target: Path | None = None) -> Path:
    """Copies a task to `tasks/<its name>`, or to the folder `target`; gives what `run` wants as TASK. A folder is copied with all of its tasks.
    Raises `TaskError`."""
    place = find(reference)
    if place.suffix == ".toml":
        return _copied(place.parent, target or _own(place.parent.name)) / place.name
    return _copied(place, target or _own(name_of(place)))


def _own(name: str) -> Path:
    if not name or len(Path(name).parts) != 1 or name.startswith((".", "-")):
        raise TaskError(
            f"a task's name is the name of its folder, got {name!r}. Do: letters, digits and underscores; DEST says where"
        )
    return Path("tasks") / name


def _copied(source: Path, target: Path) -> Path:
    """Copies a folder, or the one file that is a task as a folder with it."""
    if target.exists():
        raise TaskError(
            f"there is something at {str(target)!r} already. Do: choose another name, or name another place"
        )
    if target.suffix == ".py":
        raise TaskError(f"a task is written as a folder, got {str(target)!r}. Do: name the folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as made:
            if source.is_dir():
                shutil.copytree(source, made, ignore=_LEFT_OUT, copy_function=shutil.copyfile)
            else:
                made.mkdir()
                shutil.copyfile(source, made / ONE_FILE)
    except OSError as error:
        raise TaskError(
            f"the task cannot be written to {str(target)!r}: {error.strerror or error}. Do: name a place that you may write to"
        ) from error
    return target


def files(task: Path) -> tuple[str, ...]:
    """The files of a task's folder, by their paths in it."""
    folder = task.parent if task.is_file() else task
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))
