"""The programs that a task, or the plugin that judges it, brings for its check: honest ones, and others.

Invariant: each has the seed's files, some of them replaced; they are read from the task's folder by the engine alone, and are never a candidate of a campaign, nor
in a prompt."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from evolve.plugins import Plugins, guarded
from evolve.protocols import Twinned
from evolve.types import Program, Task, TaskError, Twin


def twins(task: Task, plugins: Plugins) -> list[Twin]:
    """All of them, honest ones first; raises `TaskError` for a pattern that nothing matches, and for a file that is none of the program's."""
    honest = [twin for pattern in task.check.honest for twin in _matching(task, pattern, "honest")]
    others = [twin for pattern in task.check.dishonest for twin in _matching(task, pattern, "dishonest")]
    return sorted([*honest, *others, *_of_plugin(task, plugins)], key=lambda twin: not twin.honest)


def program(task: Task, twin: Twin) -> Program:
    """The whole program of a twin."""
    return Program({**task.seed.files, **twin.files})


def _of_plugin(task: Task, plugins: Plugins) -> list[Twin]:
    if task.evaluator.plugin is None:
        return []
    evaluator = plugins.evaluator(task.evaluator)
    if not isinstance(evaluator, Twinned):
        return []
    return list(guarded(task.evaluator.plugin, evaluator.twins, task))


def _matching(task: Task, pattern: str, key: str) -> Iterator[Twin]:
    folder = Path(task.folder)
    found = [place for place in sorted(folder.glob(pattern)) if not place.name.startswith((".", "__"))]
    if not found:
        raise TaskError(
            f"{task.path}: check.{key}: nothing matches {pattern!r}. Do: write such a program, or correct the pattern"
        )
    for place in found:
        files = _folder(place) if place.is_dir() else _file(task, place)
        yield Twin(place.relative_to(folder).with_suffix("").as_posix(), files, key == "honest")


def _folder(place: Path) -> Mapping[str, str]:
    """Every text below a folder, by its path there."""
    inside = [path for path in sorted(place.rglob("*")) if path.is_file()]
    shown = [
        path
        for path in inside
        if not any(part.startswith((".", "__pycache__")) for part in path.relative_to(place).parts)
    ]
    return {path.relative_to(place).as_posix(): _text(path) for path in shown}


def _file(task: Task, place: Path) -> Mapping[str, str]:
    """One file stands for that of the program with its name, or for the only one of its kind."""
    names = list(task.seed.files)
    alike = [name for name in names if Path(name).name == place.name] or [
        name for name in names if Path(name).suffix == place.suffix
    ]
    if len(alike) != 1:
        raise TaskError(
            f"{place}: which file of the program it stands for cannot be told; the program has {', '.join(names)}. "
            "Do: put it into a folder of its own, by the name that it has in the program, and name that folder"
        )
    return {alike[0]: _text(place)}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(
            f"{path}: this is no text that can be read: {error}. Do: mend it, or leave it out of check"
        ) from error
