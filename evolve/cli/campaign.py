"""`evolve campaign`: list, show and replay the campaigns of a workspace, and write campaign files.

The commands of this module open every log for reading only."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from evolve import report, wording
from evolve.campaign import Campaign, campaigns, file, workspace
from evolve.cli import campaign_requests, costs, summary
from evolve.cli.campaign_fork import fork_campaign
from evolve.cli.campaign_rejudge import rejudge_campaign
from evolve.cli.groups import noun_group
from evolve.cli.output import debug_option, emit, emit_all, facts, flat, json_option, say, table
from evolve.log import writer
from evolve.plugins import load
from evolve.stop import duration
from evolve.types import ConfigError

_MOST_NAMES = 10


@noun_group
def campaign() -> None:
    """List, show, replay, steer, fork and judge campaigns again. NAME is a campaign or the path of its log; without it, the one written last."""


campaign.add_command(campaign_requests.hint_campaign)
campaign.add_command(campaign_requests.stop_campaign)
campaign.add_command(campaign_requests.pause_campaign)
campaign.add_command(campaign_requests.unpause_campaign)
campaign.add_command(campaign_requests.configure_campaign)
campaign.add_command(fork_campaign)
campaign.add_command(rejudge_campaign)


@campaign.command("list")
@json_option
@debug_option
def list_campaigns(as_json: bool) -> None:
    """List the campaigns of this workspace, the one written last first."""
    found = [report.read_campaign_line(path) for path in campaigns(workspace())]
    if as_json:
        emit_all(found)
    elif not found:
        say(f"there is no campaign in {workspace()} yet. Do: evolve run online_bin_packing --budget 60s")
    else:
        headings = ("campaign", "task", "best", "programs", "strategy", "budget", "MB", "written", "state", "problem")
        rows = [
            (
                line.name,
                line.task,
                wording.number(line.best, line.fitness) if line.fitness else "-",
                f"{line.programs:,}",
                line.strategy,
                " ".join(line.budget) or "-",
                f"{line.megabytes:.1f}",
                line.written,
                line.state,
                line.problem,
            )
            for line in found
        ]
        say(table(headings, rows, shared=("state", "problem"), wrap="problem"))


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
        say(facts((label, text) for label, text in _format_overview(opened, page) if text))
        say("\nsettings")
        say("\n".join(f"  {key} = {value}" for key, value in flat(page.settings)))


def _format_overview(opened: Campaign, page: report.Overview) -> list[tuple[str, str]]:
    judged = f"{page.programs:,} programs judged, {page.screened:,} screened, {page.measurements:,} measurements"
    return [
        ("campaign", page.name),
        ("forked from", page.forked_from),
        *summary.paused_facts(opened),
        ("task", _versions(page)),
        ("progress", f"{judged} in {duration(page.seconds)}{_unfinished(opened, page)}"),
        ("left", report.budget_left(opened, time.time())),
        *summary.best_facts(opened, page.best, page.front),
        ("archive", _archive(opened, page)),
        ("outcomes", wording.outcomes(page.outcomes)),
        ("operators", wording.yields(page.operators, page.reflections, report.lessons_learnt(opened))),
        ("models", wording.yields(page.models) if page.models else ""),
        ("failed", wording.failures(page.failures)),
        *(costs.facts_of(page.costs) if page.costs else []),
        *summary.left_out_facts(page.left_out),
        ("quarantined", _shorten(page.quarantined)),
        ("lessons", "\n".join(f"{one.text}  ({one.by})" for one in page.lessons)),
        ("machine", page.hardware or "none yet"),
        ("isolation", page.isolation or "unknown"),
        ("log", f"{page.log} ({page.events:,} events)"),
        ("difference", page.difference),
    ]


def _unfinished(opened: Campaign, page: report.Overview) -> str:
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
    now = f"{page.task}, version {page.task_version[:16]}"
    if not page.former_records:
        return now
    left = f"; {page.former_elites:,} former elites are not judged by it" if page.former_elites else ""
    return f"{now}\n{page.former_records:,} records are an earlier version's, {page.rejudged:,} programs judged again{left}"


def _shorten(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay's result. `difference` is empty where the replayed archive equals the stored one; two `--deterministic` runs with
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
        difference, seconds = opened.state.difference, time.monotonic() - began
        replay = Replay(
            name=opened.name,
            events=opened.events,
            records=opened.state.progress.records,
            digest=opened.digest(),
            equal=difference is None,
            difference=str(difference or ""),
            seconds=seconds,
        )
    if as_json:
        emit(replay)
    else:
        different = f"DIFFERENT from what the log says, first at {replay.difference}"
        rows = [
            ("campaign", replay.name),
            ("replayed", f"{replay.events:,} events, {replay.records:,} records in {wording.seconds(seconds)}"),
            ("archive", "equal to what the log says" if replay.equal else different),
            ("digest", replay.digest),
        ]
        say(facts(rows))
    if not replay.equal:
        click.get_current_context().exit(1)


@campaign.command("export-config")
@click.argument("name")
@click.argument("path", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@debug_option
def export_config(name: str, path: Path | None) -> None:
    """Print a campaign file that runs the search of campaign NAME again, or write it to FILE.

    It holds the task and what differs from the defaults. A path to the task is told from where FILE lies.
    """
    with Campaign.open(name, load(), workspace()) as opened:
        text = file.format_file(opened, path.parent if path else None)
    if path is None:
        click.echo(text, nl=False)
        return
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as error:
        raise ConfigError(f"there is a file {str(path)!r} already. Do: name another one, or remove it") from error
    except OSError as error:
        raise ConfigError(
            f"the campaign file cannot be written to {str(path)!r}: {error.strerror}. Do: name another place"
        ) from error
    click.echo(f"evolve run -c {path}")
