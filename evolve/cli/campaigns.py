"""`evolve campaign`: the campaigns of a workspace, one of them at a glance, and the proof that its log still means the same.

Invariant: what is written here opens every log for reading only."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from evolve import report, wording
from evolve.campaign import Campaign, campaigns, workspace
from evolve.cli import costs, forking, rejudging, steering, summary
from evolve.cli.campaign_files import export_config, show_schema
from evolve.cli.fitted import Fit, fitted
from evolve.cli.nouns import noun
from evolve.cli.output import debug_option, emit, emit_all, facts, flat, json_option
from evolve.cli.say import say
from evolve.cli.tabling import table_campaign
from evolve.log import Log, writer
from evolve.plugins import load
from evolve.stop import duration
from evolve.types import Opened, Paused, SettingsChanged, StoreError

_NAMED = 10
"""Names in a row."""


@noun
def campaign() -> None:
    """List, show, replay, steer, fork and judge campaigns again. NAME is a campaign or the path of its log; without it, the one written last."""


campaign.add_command(steering.hint_campaign)
campaign.add_command(steering.stop_campaign)
campaign.add_command(steering.pause_campaign)
campaign.add_command(steering.unpause_campaign)
campaign.add_command(steering.configure_campaign)
campaign.add_command(forking.fork_campaign)
campaign.add_command(rejudging.rejudge_campaign)


campaign.add_command(table_campaign)
campaign.add_command(export_config)
campaign.add_command(show_schema)


@dataclass(frozen=True, slots=True)
class Listed:
    """A log of the workspace, as far as it can be told without replaying it. `state` is `running` where a process writes it, `paused` where a person
    paused that, and else empty; `problem` says why it cannot be read."""

    name: str
    task: str
    strategy: str
    budget: tuple[str, ...]
    events: int
    megabytes: float
    written: str
    log: str
    state: str = ""
    problem: str = ""


@campaign.command("list")
@json_option
@debug_option
def list_campaigns(as_json: bool) -> None:
    """List the campaigns of this workspace, the one written last first."""
    lines = [_listed(path) for path in campaigns(workspace())]
    if as_json:
        emit_all(lines)
    elif not lines:
        say(f"there is no campaign in {workspace()} yet. Do: evolve run online_bin_packing --budget 60s")
    else:
        rows = [_row(line) for line in lines]
        headings = ("campaign", "task", "strategy", "budget", "events", "MB", "written", "state", "problem")
        fit = Fit(
            once=("task", "strategy", "budget", "state", "problem"), spare=("MB", "events"), cut="problem", least=40
        )
        say(fitted(headings, rows, fit))


def _row(line: Listed) -> tuple[str, ...]:
    budget = " ".join(line.budget) or "-"
    size = f"{line.megabytes:.1f}"
    return line.name, line.task, line.strategy, budget, f"{line.events:,}", size, line.written, line.state, line.problem


def _listed(path: Path) -> Listed:
    status = path.stat()
    written = datetime.fromtimestamp(status.st_mtime).isoformat(" ", "minutes")
    size = status.st_size / 1e6
    try:
        with Log.open(path, readonly=True) as log:
            task, settings = _opening(log)
            strategy, budget = settings["strategy"]["name"], tuple(settings["budget"])
            return Listed(path.stem, task, strategy, budget, log.count(), size, written, str(path), _state(log))
    except StoreError as error:
        return Listed(path.stem, "-", "-", (), 0, size, written, str(path), problem=str(error))


def _state(log: Log) -> str:
    if writer(log.path) is None:
        return ""
    told = [found.event for found in log.events(only=Paused)]
    return "paused" if any(isinstance(event, Paused) and event.paused for event in told[-1:]) else "running"


def _opening(log: Log) -> tuple[str, Mapping[str, Any]]:
    """The task's name and the settings as they were changed last; raises `StoreError`."""
    first = next(log.events(), None)
    if first is None or not isinstance(first.event, Opened):
        raise StoreError(f"{log.path} holds no campaign: it has no first event")
    settings = dict(first.event.settings)
    for stamped in log.events(only=SettingsChanged):
        assert isinstance(stamped.event, SettingsChanged), "only such events were asked for"
        settings |= stamped.event.changes
    return first.event.task, settings


@campaign.command("show")
@click.argument("name", required=False)
@json_option
@debug_option
def show_campaign(name: str | None, as_json: bool) -> None:
    """Show a campaign: its task, progress, best program, archive, what models cost, and settings."""
    with Campaign.open(name, load(), workspace()) as opened:
        page = report.overview(opened)
        if as_json:
            emit(replace(page, paused=page.paused and writer(opened.log.path) is not None))
            return
        say(facts(_page(opened, page)))
        say("\nsettings")
        say("\n".join(f"  {key} = {value}" for key, value in flat(page.settings)))


def _page(opened: Campaign, page: report.Overview) -> list[tuple[str, str]]:
    judged = f"{page.programs:,} programs judged, {page.screened:,} screened, {page.measurements:,} measurements"
    rows = [
        ("campaign", page.name),
        *([("forked from", page.forked_from)] if page.forked_from else []),
        *summary.paused_facts(opened),
        ("task", _versions(page)),
        ("progress", f"{judged} in {duration(page.seconds)}{_unfinished(opened, page)}"),
        ("left", report.budget_left(opened, time.time())),
        *summary.best_facts(opened, page.best, page.front),
        ("archive", _archive(opened, page)),
        ("outcomes", wording.outcomes(page.outcomes)),
        (
            "operators",
            wording.yields(page.operators, page.reflections, report.lessons_learnt(opened)),
        ),
        *([("models", wording.yields(page.models))] if page.models else []),
        *([("failed", wording.failures(page.failures))] if page.failures else []),
        *(costs.facts_of(page.costs, opened.task.fitness) if page.costs else []),
        *summary.left_out_facts(page.left_out),
        *([("quarantined", _some(page.quarantined))] if page.quarantined else []),
        *([("lessons", "\n".join(f"{one.text}  ({one.by})" for one in page.lessons))] if page.lessons else []),
        ("machine", page.hardware or "none yet"),
        ("isolation", page.isolation or "unknown"),
        ("log", f"{page.log} ({page.events:,} events)"),
    ]
    return [*rows, ("difference", page.difference)] if page.difference else rows


def _unfinished(opened: Campaign, page: report.Overview) -> str:
    """Steps that have not settled, and what they are."""
    if not page.unfinished:
        return ""
    if writer(opened.log.path) is not None:
        return f", {wording.counted(page.unfinished, 'step')} under way"
    return f",\n{wording.waiting(page.unfinished)}: asked for, and not judged before the last one ended"


def _archive(opened: Campaign, page: report.Overview) -> str:
    places = f"{wording.counted(page.cells, 'cell')} ({page.coverage:.1%}), {wording.counted(page.elites, 'elite')}"
    sign = "" if opened.task.fitness.direction == "max" else ", with a minus, as smaller is better"
    return f"{places}\nQD score {page.qd_score:.6g}: the best fitness of each cell, added up{sign}"


def _versions(page: report.Overview) -> str:
    """The version that judges now, and what an earlier one has judged."""
    now = f"{page.task}, version {page.task_version[:16]}"
    if not page.former_records:
        return now
    left = f"; {page.former_elites:,} former elites are not judged by it" if page.former_elites else ""
    return f"{now}\n{page.former_records:,} records are an earlier version's, {page.rejudged:,} programs judged again{left}"


def _some(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay found. `difference` is empty where the replayed archive equals the stored one; two `--deterministic` runs with
    one seed, each in one piece, have equal digests."""

    name: str
    events: int
    records: int
    digest: str
    equal: bool
    difference: str
    seconds: float


@campaign.command("replay")
@click.argument("name", required=False)
@json_option
@debug_option
def replay_campaign(name: str | None, as_json: bool) -> None:
    """Compute a campaign's archive from its log again, and compare it with what the log says."""
    began = time.monotonic()
    with Campaign.open(name, load(), workspace()) as opened:
        difference = opened.state.difference
        took = time.monotonic() - began
        found = Replayed(
            name=opened.name,
            events=opened.events,
            records=opened.state.progress.records,
            digest=opened.digest(),
            equal=difference is None,
            difference=str(difference or ""),
            seconds=took,
        )
    if as_json:
        emit(found)
    else:
        say(facts(_proof(found)))
    if not found.equal:
        click.get_current_context().exit(1)


def _proof(found: Replayed) -> list[tuple[str, str]]:
    verdict = (
        "equal to what the log says"
        if found.equal
        else f"DIFFERENT from what the log says, first at {found.difference}"
    )
    return [
        ("campaign", found.name),
        ("replayed", f"{found.events:,} events, {found.records:,} records in {wording.seconds(found.seconds)}"),
        ("archive", verdict),
        ("digest", found.digest),
    ]
