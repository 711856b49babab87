"""`evolve program add`: a person's program becomes one of a campaign's, judged like all others.

Once its step is in the log, the program is judged: by the engine that runs the campaign, else here, else by the next run."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from evolve import wording
from evolve.campaign import Campaign, existing_path, workspace
from evolve.campaign.campaign import settings_of, task_of
from evolve.campaign.inbox import Add
from evolve.cli.campaign_requests import ask
from evolve.cli.errors import INTERRUPTED
from evolve.cli.isolation import sandbox_option
from evolve.cli.output import debug_option, emit, facts, json_option, say
from evolve.engine import RunRequest, Unwatched, open_run
from evolve.engine.isolation import WantedLevel, confine, wanted_level
from evolve.evaluation.version import check_version
from evolve.log import Locked, Log, writer
from evolve.plugins import load
from evolve.task.one_file import program_of
from evolve.types import ConfigError, Import, Outcome, RecordId, Settled, Task

LARGEST = 16 << 20
"""Bytes of all files together."""
SPARE_SECONDS = 60.0
"""Seconds that a running engine has beyond twice the limits of the task's stages: it judges others before."""
_POLL_SECONDS = 0.2
_STDIN = "-"


@dataclass(frozen=True, slots=True)
class Added:
    """A program that was added. `name`, `record` and the judging's result are empty while it has not settled."""

    campaign: str
    step: int
    name: str = ""
    record: RecordId = 0
    outcome: str = ""
    fitness: float | None = None
    insertion: str = ""
    island: int = 0
    cell: int = -1


@click.command("add")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--campaign", "name", help="The campaign.  [default: the one written last]")
@click.option("--thought", default="", help="What the program is about, in a line.")
@click.option("--parent", type=click.IntRange(min=1), help="The record that it was made from.")
@sandbox_option
@json_option
@debug_option
def add_program(
    files: Sequence[str], name: str | None, thought: str, parent: int | None, sandbox: str | None, as_json: bool
) -> None:
    """Add a program of your own to a campaign: it is judged, and may become a parent.

    FILE is the program's file (- reads it from stdin), each of its files, or a folder with all of them.
    """
    log = existing_path(workspace(), name)
    with Log.open(log, readonly=True) as opened:
        task, before = task_of(opened), opened.count()
        wanted = wanted_level(sandbox, settings_of(opened).sandbox)
    program = read_files(files, task)
    if writer(log) is None:
        check_version(task)
    # Nobody knows who wrote it: it is asked for only where candidates are isolated as is wanted.
    confine(task, wanted)
    answer = ask(log, Add(program, thought, parent or 0))
    settled = _wait_until_settled(log, task, wanted, answer.step, before)
    added = Added(log.stem, answer.step) if settled is None else _describe(log, task, answer.step, settled)
    if as_json:
        emit(added)
    else:
        say(facts(_format(added, task)))
    if added.outcome not in ("", Outcome.OK):
        click.get_current_context().exit(1)


def read_files(paths: Sequence[str], task: Task) -> Mapping[str, str]:
    """Returns the files of a program by the names that they have in the task; raises `ConfigError`."""
    names = tuple(task.seed.files)
    first = Path(paths[0])
    if len(paths) == 1 and first.is_dir():
        texts = {
            path.relative_to(first).as_posix(): _read(path)
            for path in sorted(first.rglob("*"))
            if _is_source(path, first)
        }
        files = {name: text for name, text in texts.items() if task.context.get(name) != text}
    elif len(paths) == 1 and len(names) == 1:
        files = {names[0]: _read_stdin() if paths[0] == _STDIN else _read(first)}
    else:
        files = {_name_in_task(names, path): _read(Path(path)) for path in paths}
    if sum(map(len, files.values())) > LARGEST:
        raise ConfigError(
            f"a program is at most {LARGEST >> 20} MiB of text, got more. Do: name the program's files alone"
        )
    # Of a task in one file a person may give the whole file, changed.
    return {name: program_of(text) for name, text in files.items()} if task.one_file else files


def _is_source(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    return path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts)


def _name_in_task(names: Sequence[str], path: str) -> str:
    """Returns the program's file that the path ends with, else the path's own name."""
    absolute = Path(path).absolute().as_posix()
    return next((name for name in names if absolute.endswith(f"/{name}")), Path(path).name)


def _read_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ConfigError(f"stdin is no text in UTF-8: {error}. Do: pipe a program's text into it") from error


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no text in UTF-8: {error}. Do: name the program's files alone") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}. Do: check the path") from error


def _wait_until_settled(log: Path, task: Task, wanted: WantedLevel, step: int, after: int) -> Settled | None:
    """Returns the record of a step that was asked after event `after`, as soon as an engine, or else this process, has judged it; None
    where an engine takes longer than it should."""
    deadline = time.monotonic() + 2 * sum(stage.limit for stage in task.stages) + SPARE_SECONDS
    with Log.open(log, readonly=True) as opened:
        while (found := _record_of(opened, step, after)) is None and time.monotonic() < deadline:
            if writer(log) is None:
                _judge(log, wanted, step)
            time.sleep(_POLL_SECONDS)
    return found


def _record_of(log: Log, step: int, after: int) -> Settled | None:
    events = (stamped.event for stamped in log.events(after, only=Settled))
    return next((one for one in events if isinstance(one, Settled) and one.record.origin.step == step), None)


def _judge(log: Path, wanted: WantedLevel, step: int) -> None:
    """Judges all that was added and has not settled, unless another process has begun to write the log."""
    try:
        with Campaign.open(str(log), load(), log.parent, readonly=False) as campaign:
            added = [one.asked for one in campaign.state.open_steps() if isinstance(one.asked.action, Import)]
            if not added:
                return
            request = RunRequest(
                campaign.settings,
                campaign.task,
                campaign.plugins,
                workspace(),
                campaign=campaign,
                wanted=wanted,
                slots=1,
                brought=True,
            )
            with open_run(request, open_models=None) as run:
                ending = run.finish(Unwatched(), added)
    except Locked:
        return
    if ending.reason != "finished":
        say(f"interrupted: step {step} of campaign {log.stem} is judged by its next run", err=True)
        click.get_current_context().exit(INTERRUPTED)


def _describe(log: Path, task: Task, step: int, event: Settled) -> Added:
    record, placement = event.record, event.placement
    fitness = record.evaluation.fitness
    return Added(
        campaign=log.stem,
        step=step,
        name=f"{log.stem}/{record.id}",
        record=record.id,
        outcome=record.evaluation.outcome.value,
        fitness=None if fitness is None else task.fitness.shown(fitness),
        insertion=placement.insertion.name,
        island=placement.island,
        cell=placement.cell,
    )


def _format(added: Added, task: Task) -> list[tuple[str, str]]:
    if not added.name:
        later = f"evolve program list {added.campaign} --all"
        return [("program", f"step {added.step} of campaign {added.campaign}, not judged yet"), ("later", later)]
    place = f" on island {added.island}, cell {added.cell}" if added.cell >= 0 else ""
    scored = added.fitness is not None
    rows = [
        ("program", added.name),
        ("outcome", added.outcome),
        ("score", f"{task.fitness.name} {wording.number(added.fitness, task.fitness)}" if scored else ""),
        ("archive", f"{added.insertion}{place}"),
        ("next", f"evolve program show {added.name}" + ("" if scored else " --feedback")),
    ]
    return [(label, text) for label, text in rows if text]
