"""A person's files as a program of a task.

Invariant: the program has exactly the files that the task's programs have, and new ones only where the task allows them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evolve.changes import matches
from evolve.task.one_file import program_of
from evolve.types import Program, Task, TaskError
from evolve.types.suggest import did_you_mean

STDIN = "-"


def program_from(task: Task, given: Sequence[str], standard_input: str = "") -> Program:
    """The program that files, or one folder, make: a single file takes the place of a program's single file whatever it is called;
    several are known by their names. What is not given is the seed's. `-` is `standard_input`. Raises `TaskError`."""
    if not given:
        raise TaskError("there is no file. Do: name the program's files, its folder, or - for the standard input")
    folders = [name for name in given if name != STDIN and Path(name).is_dir()]
    if folders and len(given) > 1:
        raise TaskError(f"a folder is a whole program, got more beside {folders[0]!r}. Do: name one folder, or files")
    if folders:
        return _completed(task, _of_folder(task, Path(folders[0])), folders[0])
    texts = {name: standard_input if name == STDIN else _text(name) for name in given}
    wanted = list(task.seed.files)
    if len(texts) == len(wanted) == 1:
        (text,) = texts.values()
        return _completed(task, {wanted[0]: text}, given[0])
    return _completed(task, {_place(task, name): text for name, text in texts.items()}, "")


def _completed(task: Task, files: Mapping[str, str], where: str) -> Program:
    """With the seed's file for each that is not given; a file with blocks of a task in one file gives its blocks."""
    if not set(files) & set(task.seed.files):
        raise TaskError(
            f"{where!r} has none of the program's files. Do: name a folder with {', '.join(task.seed.files)}, or one of these files"
        )
    if task.one_file:
        files = {name: program_of(text) for name, text in files.items()}
    return Program({**task.seed.files, **files})


def _of_folder(task: Task, folder: Path) -> dict[str, str]:
    """The files of a folder that a program may have."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name: _text(str(folder / name)) for name in names if _may_be(task, name)}


def _place(task: Task, name: str) -> str:
    """Where a named file belongs in a program: under its path, else under its bare name."""
    if name == STDIN:
        raise TaskError("the standard input is one file, and the program has several. Do: name the files, or a folder")
    plain = Path(name).as_posix()
    exact = [own for own in task.seed.files if plain == own or plain.endswith(f"/{own}")]
    places = exact or [own for own in task.seed.files if Path(own).name == Path(name).name]
    if len(places) == 1:
        return places[0]
    if not places and _may_be(task, plain):
        return plain
    raise TaskError(
        f"it is not clear which of the program's files {name!r} is.{did_you_mean(Path(name).name, task.seed.files)} "
        "Do: call it as the task does, or name a folder"
    )


def _may_be(task: Task, name: str) -> bool:
    return name in task.seed.files or any(matches(name, pattern) for pattern in task.new_files)


def _text(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise TaskError(f"{name}: this is not a text in UTF-8: {error}. Do: save it as UTF-8") from error
    except OSError as error:
        raise TaskError(f"{name}: the file cannot be read: {error.strerror}. Do: check the path") from error
