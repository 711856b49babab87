"""`evolve task new` and `evolve task copy`: a task of one's own to begin with.

Invariant: what is written is told, and the command to type next."""

from dataclasses import dataclass
from pathlib import Path

import click

from evolve.cli.output import debug_option, emit, facts, json_option
from evolve.cli.say import say
from evolve.task import making

KIND = "function"


@dataclass(frozen=True, slots=True)
class Made:
    """A task's folder, and its files by their paths in it."""

    task: str
    kind: str
    files: tuple[str, ...]


@click.command("new")
@click.argument("name")
@click.argument("dest", required=False, type=click.Path(path_type=Path))
@click.option("--kind", default=KIND, show_default=True, metavar="|".join(making.kinds()), help="What it looks like.")
@json_option
@debug_option
def new_task(name: str, dest: Path | None, kind: str, as_json: bool) -> None:
    """Write a small task that runs as it is, to tasks/NAME or to the folder DEST."""
    place = making.new(name, kind, dest)
    _tell(Made(str(place), kind, making.files(place)), as_json=as_json)


@click.command("copy")
@click.argument("task")
@click.argument("dest", required=False, type=click.Path(path_type=Path))
@json_option
@debug_option
def copy_task(task: str, dest: Path | None, as_json: bool) -> None:
    """Copy a task, to tasks/ under its own name or to the folder DEST, to change it there."""
    place = making.copy(task, dest)
    _tell(Made(str(place), "copy", making.files(place)), as_json=as_json)


def _tell(made: Made, *, as_json: bool) -> None:
    if as_json:
        emit(made)
        return
    say(
        facts(
            [
                ("task", made.task),
                ("files", "\n".join(made.files)),
                ("next", f"evolve task check {made.task}\nevolve run {made.task} --budget 10s"),
            ]
        )
    )
