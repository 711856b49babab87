"""`evolve task`: list tasks, begin one, and try whether one may be trusted before a campaign is spent on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

import evolve.task
from evolve import wording
from evolve.campaign import logs, workspace
from evolve.cli.groups import noun_group
from evolve.cli.machine import devices_option, grant_devices, note_isolation, sandbox_option
from evolve.cli.output import debug_option, emit, emit_all, facts, json_option, say, table
from evolve.config import parse_parameters
from evolve.conformance import Conformance, check
from evolve.devices.inventory import usable_cores
from evolve.engine.isolation import confine, wanted_level
from evolve.task import folders, reference
from evolve.task.grants import format_grants, list_grants
from evolve.types import Task, TaskError

_LONGEST_ABOUT = 80
_MOST_WORKERS = 2


@noun_group
def task() -> None:
    """List, write and check tasks."""


@dataclass(frozen=True, slots=True)
class TaskLine:
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
def list_tasks(as_json: bool) -> None:
    """List the tasks that come with evolve, and those in ./tasks."""
    lines = [_read_line(place) for place in evolve.task.list_tasks()]
    if as_json:
        emit_all(lines)
        return
    rows = [
        (line.name, f"{line.fitness}, {line.direction}" if line.fitness else "-", line.problem or _shorten(line.about))
        for line in lines
    ]
    say(table(("task", "fitness", "about"), rows, wrap="about"))


def _read_line(place: Path) -> TaskLine:
    try:
        found = evolve.task.load(place)
    except TaskError as error:
        return TaskLine(evolve.task.name_of(place), "", "", "", False, 0, (), {}, str(place), str(error))
    lines = (line.strip().lstrip("#").strip() for line in found.brief.splitlines())
    return TaskLine(
        name=found.name,
        about=next((line for line in lines if line), ""),
        fitness=found.fitness.name,
        direction=found.fitness.direction,
        deterministic=found.deterministic,
        memory=found.limits.memory,
        preload=found.limits.preload,
        grants=list_grants(found.limits),
        folder=str(place),
    )


def _shorten(about: str) -> str:
    first, stop, _ = about.partition(". ")
    sentence = first + stop.rstrip()
    return sentence if len(sentence) <= _LONGEST_ABOUT else f"{sentence[: _LONGEST_ABOUT - 1].rstrip()}…"


@task.command("schema")
@click.option("--markdown", is_flag=True, help="The page of the documentation instead.")
@debug_option
def show_schema(markdown: bool) -> None:
    """Print what a task.toml may say, as a JSON Schema for editors."""
    click.echo(reference.markdown() if markdown else reference.json_schema(), nl=False)


@task.command("new")
@click.argument("name")
@click.argument("dest", required=False, type=click.Path(path_type=Path))
@click.option(
    "--kind",
    default="function",
    show_default=True,
    metavar="|".join(folders.starter_kinds()),
    help="What it looks like.",
)
@json_option
def new_task(name: str, dest: Path | None, kind: str, as_json: bool) -> None:
    """Write a small task that runs as it is, to tasks/NAME or to the folder DEST."""
    _print_new(folders.create(name, kind, dest), kind, as_json=as_json)


@task.command("copy")
@click.argument("task")
@click.argument("dest", required=False, type=click.Path(path_type=Path))
@json_option
def copy_task(task: str, dest: Path | None, as_json: bool) -> None:
    """Copy a task, to tasks/ under its own name or to the folder DEST, to change it there."""
    _print_new(folders.copy(task, dest), "copy", as_json=as_json)


def _print_new(place: Path, kind: str, *, as_json: bool) -> None:
    files = folders.list_files(place)
    if as_json:
        emit({"task": str(place), "kind": kind, "files": files})
        return
    commands = f"evolve task check {place}\nevolve run {place} --budget 10s"
    say(facts([("task", str(place)), ("files", "\n".join(files)), ("next", commands)]))


@task.command("check")
@click.argument("task")
@click.option("--set", "assignments", multiple=True, metavar="task.KEY=VALUE", help="A parameter of the task.")
@sandbox_option
@devices_option
@json_option
def check_task(
    task: str, assignments: tuple[str, ...], sandbox: str | None, devices: tuple[str, ...], as_json: bool
) -> None:
    """Try a task: its seed twice, what it declares, and programs that fail in every common way."""
    grant = grant_devices(devices)
    loaded = evolve.task.load(task, parse_parameters(assignments))
    harmless = evolve.task.is_bundled(Path(loaded.folder))
    means = note_isolation(confine(loaded, wanted_level(sandbox), harmless=harmless))
    workers = min(_MOST_WORKERS, usable_cores())
    found = check(loaded, workers, means, logs(workspace()), grant, lambda part: say(f"trying {part} ...", err=True))
    if as_json:
        emit(found)
    else:
        say(_format(loaded, found))
    if not found.passed:
        click.get_current_context().exit(1)


def _format(task: Task, found: Conformance) -> str:
    """Returns what was tried, how it ended, what it costs, and what to do."""
    rows = [(finding.tried, finding.verdict, finding.happened) for finding in found.findings]
    parts = [facts(_facts(task, found)), table(("tried", "verdict", "what happened"), rows)]
    remedies = [f"  {finding.tried}: {finding.remedy}" for finding in found.findings if finding.remedy]
    parts += ["\n".join(["what to do", *remedies])] if remedies else []
    verdicts = [finding.verdict for finding in found.findings]
    counts = [
        f"{verdicts.count(verdict)} {verdict}"
        for verdict in ("passed", "warned", "failed", "not tried")
        if verdict in verdicts
    ]
    ready = "may be used" if found.passed else "is NOT ready"
    return "\n\n".join([*parts, f"{found.task} {ready}: {', '.join(counts)}"])


def _facts(task: Task, found: Conformance) -> list[tuple[str, str]]:
    cost = f"{wording.seconds(found.seconds)} for one evaluation, {wording.seconds(found.cpu_seconds)} of CPU in the candidate"
    if found.noise is None:
        noise = "unknown"
    elif task.deterministic and found.noise == 0.0:
        noise = "none, the task is deterministic"
    else:
        noise = f"a standard deviation of {found.noise:.3g} for one measurement"
    return [
        ("task", f"{found.task}, version {found.version[:16]}"),
        ("seed", f"{task.fitness.name} {wording.number(found.fitness, task.fitness)}"),
        ("cost", cost),
        ("noise", noise),
        ("isolation", found.isolation),
        ("grants", format_grants(task.limits)),
    ]
