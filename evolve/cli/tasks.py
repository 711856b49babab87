"""`evolve task`: the tasks that come with the engine, and those in `./tasks`; other verbs have their own files.

Invariant: a task that does not load is listed with its problem."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

import evolve.task
from evolve.cli.fitted import Fit, fitted
from evolve.cli.nouns import noun
from evolve.cli.output import debug_option, emit_all, json_option
from evolve.cli.say import say
from evolve.cli.task_check import check_task
from evolve.cli.task_new import copy_task, new_task
from evolve.task import reference
from evolve.task.grants import granted, told
from evolve.types import TaskError

_ABOUT = 80
"""Characters of a row for what a task is about."""


@noun
def task() -> None:
    """List, write and check tasks."""


task.add_command(new_task)
task.add_command(copy_task)
task.add_command(check_task)


@dataclass(frozen=True, slots=True)
class Listed:
    """A task; `folder` is where it lies, or its one file. `memory` in bytes; `preload` are the modules that a candidate has without importing;
    `grants` holds what its programs may beyond the usual, by the keys of `[sandbox]` (sizes in bytes); `problem` says why a
    folder is no task."""

    name: str
    about: str
    fitness: str
    direction: str
    deterministic: bool
    memory: int
    preload: tuple[str, ...]
    grants: Mapping[str, bool | int | str | tuple[str, ...]]
    folder: str
    problem: str = ""


@task.command("list")
@json_option
@debug_option
def list_tasks(as_json: bool) -> None:
    """List the tasks that come with evolve, and those in ./tasks."""
    lines = [_listed(place) for place in _places()]
    if as_json:
        emit_all(line for line, _ in lines)
        return
    rows = [
        (
            line.name,
            f"{line.fitness}, {line.direction}" if line.fitness else "-",
            f"{line.memory >> 20} MiB" if line.memory else "-",
            ", ".join(line.preload) or "-",
            grants,
            line.problem or _sentence(line.about),
        )
        for line, grants in lines
    ]
    fit = Fit(spare=("preload", "memory", "grants"), cut="about", least=40)
    say(fitted(("task", "fitness", "memory", "preload", "grants", "about"), rows, fit))


@task.command("schema")
@click.option("--markdown", is_flag=True, help="The page of the documentation instead.")
@debug_option
def show_schema(markdown: bool) -> None:
    """Print what a task.toml may say, as a JSON Schema for editors."""
    click.echo(reference.markdown() if markdown else reference.json_schema(), nl=False)


def _places() -> list[Path]:
    """Each folder, or single file, once: in a checkout the bundled tasks are those in ./tasks."""
    shipped = (evolve.task.find(name) for name in evolve.task.bundled())
    return sorted({*evolve.task.own(), *shipped}, key=lambda place: (evolve.task.name_of(place), place))


def _listed(place: Path) -> tuple[Listed, str]:
    """A task, and what it grants as a person reads it."""
    try:
        found = evolve.task.load(place)
    except TaskError as error:
        return Listed(evolve.task.name_of(place), "", "", "", False, 0, (), {}, str(place), str(error)), ""
    line = Listed(
        name=found.name,
        about=_first_line(found.brief),
        fitness=found.fitness.name,
        direction=found.fitness.direction,
        deterministic=found.deterministic,
        memory=found.limits.memory,
        preload=found.limits.preload,
        grants=granted(found.limits),
        folder=str(place),
    )
    return line, told(found.limits)


def _sentence(about: str) -> str:
    """The first sentence of what a task is about, as much of it as fits into a row."""
    first, stop, _ = about.partition(". ")
    sentence = first + stop.rstrip()
    return sentence if len(sentence) <= _ABOUT else f"{sentence[: _ABOUT - 1].rstrip()}…"


def _first_line(brief: str) -> str:
    lines = (line.strip().lstrip("#").strip() for line in brief.splitlines())
    return next((line for line in lines if line), "")
