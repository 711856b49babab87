"""`evolve program add`: a person's program becomes one of a campaign's, evaluated like all others.

Once its step is in the log, the program is evaluated: by the engine that runs the campaign, else here, else by the next run."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from evolve import report
from evolve.campaign import Campaign, existing_path, workspace
from evolve.campaign.campaign import settings_of, task_of
from evolve.campaign.inbox import Add
from evolve.cli.errors import INTERRUPTED
from evolve.cli.machine import sandbox_option
from evolve.cli.output import emit, facts, json_option, say
from evolve.cli.program_evaluate import read_files
from evolve.cli.record import format_record, open_program
from evolve.cli.steering import ask
from evolve.engine import RunRequest, Unwatched, open_run
from evolve.engine.isolation import WantedLevel, confine, wanted_level
from evolve.evaluation.provenance import check_version
from evolve.log import Locked, Log, writer
from evolve.plugins import load
from evolve.types import Import, Outcome, RecordId, Settled, Task

SPARE_SECONDS = 60.0
"""Seconds that a running engine has beyond twice the limits of the task's stages: it evaluates others before."""
_POLL_SECONDS = 0.2


@click.command("add")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--campaign", "name", help="The campaign.  [default: the one written last]")
@click.option("--thought", default="", help="What the program is about, in a line.")
@click.option("--parent", type=click.IntRange(min=1), help="The record that it was made from.")
@sandbox_option
@json_option
def add_program(
    files: Sequence[str], name: str | None, thought: str, parent: int | None, sandbox: str | None, as_json: bool
) -> None:
    """Add a program of your own to a campaign: it is evaluated, and may become a parent.

    FILE is the program's file (- reads it from stdin), each of its files, or a folder with all of them.
    """
    log = existing_path(workspace(), name)
    with Log.open(log, readonly=True) as opened:
        task, before = task_of(opened), opened.count()
        wanted = wanted_level(sandbox, settings_of(opened).sandbox)
    texts = read_files(files, task)
    if writer(log) is None:
        check_version(task)
    # Nobody knows who wrote it: it is asked for only where candidates are isolated as is wanted.
    confine(task, wanted)
    answer = ask(log, Add(texts, thought, parent or 0))
    record = _wait_until_settled(log, task, wanted, answer.step, before)
    if record is None:
        if as_json:
            emit({"campaign": log.stem, "step": answer.step, "record": 0})
        else:
            say(f"step {answer.step} of campaign {log.stem} is not evaluated yet; evolve program list {log.stem} --all")
        return
    with open_program(f"{log}/{record}") as (campaign, number):
        shown = report.whole(campaign, number)
        if as_json:
            emit({"campaign": log.stem, "record": record, **asdict(shown.record)})
        else:
            say(facts(format_record(campaign, shown)))
    if shown.record.outcome != Outcome.OK:
        click.get_current_context().exit(1)


def _wait_until_settled(log: Path, task: Task, wanted: WantedLevel, step: int, after: int) -> RecordId | None:
    """Returns the record of a step that was asked after event `after`, as soon as an engine, or else this process, has evaluated it; None
    where an engine takes longer than it should."""
    deadline = time.monotonic() + 2 * sum(stage.limit for stage in task.stages) + SPARE_SECONDS
    with Log.open(log, readonly=True) as opened:
        while (record := _record_of(opened, step, after)) is None and time.monotonic() < deadline:
            if writer(log) is None:
                _evaluate(log, wanted, step)
            time.sleep(_POLL_SECONDS)
    return record


def _record_of(log: Log, step: int, after: int) -> RecordId | None:
    events = (stamped.event for stamped in log.events(after, only=Settled))
    return next(
        (one.record.id for one in events if isinstance(one, Settled) and one.record.origin.step == step),
        None,
    )


def _evaluate(log: Path, wanted: WantedLevel, step: int) -> None:
    """Evaluates all that was added and has not settled, unless another process has begun to write the log."""
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
        say(f"interrupted: step {step} of campaign {log.stem} is evaluated by its next run", err=True)
        click.get_current_context().exit(INTERRUPTED)
