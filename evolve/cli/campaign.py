"""`evolve campaign`: list, show, replay and fork the campaigns of a workspace, and write campaign files.

The commands of this module open every existing log for reading only."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from evolve import report, wording
from evolve.campaign import Campaign, campaigns, existing_path, file, workspace
from evolve.campaign.campaign import best_confirmed
from evolve.campaign.fork import fork, settings_of_fork
from evolve.campaign.inbox import Configure
from evolve.campaign.settings import keys
from evolve.cli import steering, summary
from evolve.cli.groups import noun_group
from evolve.cli.output import emit, emit_all, facts, flat, json_option, say, table
from evolve.cli.rejudge import rejudge_campaign
from evolve.engine.decisions import DecisionComparison, Decisions
from evolve.log import writer
from evolve.model_specs import check_models
from evolve.plugins import load
from evolve.run_options import RunOptions, merge_settings, read_options
from evolve.stop import duration, spelled

_MOST_NAMES = 10


@noun_group
def campaign() -> None:
    """List, show, replay, steer, fork and evaluate campaigns again. NAME is a campaign or the path of its log; without it, the one written last."""


for _command in (steering.hint_campaign, *steering.RUN_COMMANDS, rejudge_campaign):
    campaign.add_command(_command)


@campaign.command("list")
@json_option
def list_campaigns(as_json: bool) -> None:
    """List the campaigns of this workspace, the one written last first."""
    found = [report.read_campaign_line(path) for path in campaigns(workspace())]
    if as_json:
        emit_all(found)
    elif not found:
        say(f"there is no campaign in {workspace()} yet. Try: evolve run online_bin_packing --budget 60s")
    else:
        headings = ("campaign", "task", "best", "programs", "strategy", "budget", "MB", "written", "state")
        rows = [
            (
                line.name,
                line.task,
                _format_best(line),
                f"{line.programs:,}",
                line.strategy,
                " ".join(line.budget) or "-",
                f"{line.megabytes:.1f}",
                line.written,
                line.problem or line.state,
            )
            for line in found
        ]
        say(table(headings, rows, wrap="state"))


def _format_best(line: report.CampaignLine) -> str:
    if line.fitness is None:
        return "-"
    error = f" +- {line.standard_error:.2g}" if line.standard_error else ""
    return f"{wording.number(line.best, line.fitness)}{error}"


@campaign.command("show")
@click.argument("name", required=False)
@json_option
def show_campaign(name: str | None, as_json: bool) -> None:
    """Show a campaign: its task, progress, best program, archive, what models cost, and settings."""
    with Campaign.open(name, load(), workspace()) as opened:
        page = report.overview(opened)
        if as_json:
            # A pause is of one run: where that has ended, nothing is paused.
            emit(replace(page, paused=page.paused and writer(opened.log.path) is not None))
            return
        say(facts((label, text) for label, text in _format_overview(opened, page) if text))
        changed = flat(opened.settings.model_dump(mode="json", exclude_defaults=True))
        say("\nsettings that are not the defaults (--json has all)")
        say("\n".join(f"  {key} = {value}" for key, value in changed))


def _format_overview(opened: Campaign, page: report.Overview) -> list[tuple[str, str]]:
    counts = f"{page.programs:,} programs evaluated, {page.screened:,} screened, {page.measurements:,} measurements"
    counts += f", {page.previews:,} previews" if page.previews else ""
    tally = report.tally(opened)
    return [
        ("campaign", page.name),
        ("forked from", page.forked_from),
        *wording.format_paused(opened),
        ("task", _versions(page)),
        ("progress", f"{counts} in {duration(page.seconds)}{_format_unfinished(opened, page)}"),
        ("left", report.budget_left(opened, time.time())),
        *summary.format_best_program(opened, page.best, page.front),
        ("archive", _archive(opened, page)),
        *wording.format_yields(opened, tally),
        *wording.format_costs(opened, tally),
        ("cost by operator", "\n".join(map(_format_cost, page.costs.operators)) if page.costs else ""),
        *wording.format_left_out(page.left_out),
        ("quarantined", _shorten(page.quarantined)),
        ("lessons", "\n".join(f"{one.text}  ({one.by})" for one in page.lessons)),
        ("machine", page.hardware or "none yet"),
        ("isolation", page.isolation or "unknown"),
        ("log", f"{page.log} ({page.events:,} events)"),
        ("difference", page.difference),
    ]


def _format_cost(line: report.CostLine) -> str:
    amounts = [
        spelled("calls", line.calls),
        spelled("tokens", line.tokens),
        *wording.format_money(line.money, line.gpu_seconds),
    ]
    return f"{line.name or 'before any step'}: {', '.join(amounts)}"


def _format_unfinished(opened: Campaign, page: report.Overview) -> str:
    if not page.unfinished:
        return ""
    if writer(opened.log.path) is not None:
        return f", {wording.counted(page.unfinished, 'step')} under way"
    return f", {wording.waiting(page.unfinished)}"


def _archive(opened: Campaign, page: report.Overview) -> str:
    places = f"{wording.counted(page.cells, 'cell')} ({page.coverage:.1%}), {wording.counted(page.elites, 'elite')}"
    sign = "" if opened.task.fitness.direction == "max" else ", with a minus, as smaller is better"
    return f"{places}\nQD score {page.qd_score:.6g}: the best fitness of each cell, added up{sign}"


def _versions(page: report.Overview) -> str:
    now = f"{page.task}, version {page.task_version[:16]}"
    if not page.former_records:
        return now
    left = f"; {page.former_elites:,} former elites are not evaluated by it" if page.former_elites else ""
    return f"{now}\n{page.former_records:,} records are an earlier version's, {page.rejudged:,} programs evaluated again{left}"


def _shorten(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay's result. `difference` is empty where the replayed archive equals the stored one; two `--deterministic` runs with
    one seed, each in one piece, have equal digests. `decisions` is None where they were not asked for."""

    name: str
    events: int
    records: int
    digest: str
    equal: bool
    difference: str
    seconds: float
    decisions: Decisions | None = None


@campaign.command("replay")
@click.argument("name", required=False)
@click.option("--decisions", "asks", is_flag=True, help="Ask the strategy again, and compare what it asks for.")
@json_option
def replay_campaign(name: str | None, asks: bool, as_json: bool) -> None:
    """Compute a campaign's archive from its log again, and compare it with what the log says; --decisions does the same for its strategy."""
    began = time.monotonic()
    comparison = DecisionComparison() if asks else None
    with Campaign.open(name, load(), workspace(), before=comparison) as opened:
        difference, seconds = str(opened.state.difference or ""), time.monotonic() - began
        records, decisions = opened.state.progress.records, comparison.decisions if comparison else None
        replay = Replay(
            opened.name, opened.events, records, opened.digest(), not difference, difference, seconds, decisions
        )
    if as_json:
        emit(replay)
    else:
        say(facts(_format_replay(replay)))
    if not replay.equal or (decisions is not None and decisions.different):
        click.get_current_context().exit(1)


def _format_replay(replay: Replay) -> list[tuple[str, str]]:
    different = f"DIFFERENT from what the log says, first at {replay.difference}"
    return [
        ("campaign", replay.name),
        ("replayed", f"{replay.events:,} events, {replay.records:,} records in {wording.seconds(replay.seconds)}"),
        ("archive", "equal to what the log says" if replay.equal else different),
        *(_format_decisions(replay.decisions) if replay.decisions is not None else ()),
        ("digest", replay.digest),
    ]


def _format_decisions(found: Decisions) -> list[tuple[str, str]]:
    compared = f"{found.compared:,} compared, {f'{found.different:,} DIFFERENT' if found.different else 'all equal'}"
    if found.supposed:
        compared += (
            f"; {found.supposed:,} are equal only if a model was busy or had given up, which the log does not say"
        )
    left_out = [f"{count:,} {reason}" for reason, count in found.left_out.items()]
    return [
        ("decisions", f"{compared}\nfirst at {found.first}" if found.first else compared),
        *([("not compared", "\n".join(left_out))] if left_out else []),
    ]


@campaign.command("fork")
@click.argument("name", required=False)
@click.option("--name", "new", help="Name of the new campaign.  [default: the old one's, with a number]")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting but the task's.")
@click.option("--strategy", help="Another strategy; it is told everything that has happened.")
@click.option("--seed", type=int, help="Another seed of all further random decisions.")
@click.option(
    "--model", "models", multiple=True, metavar="SPEC", help="Other models, written as for `evolve run --model`."
)
@click.option("--budget", multiple=True, help="Another total; what the old campaign has spent counts.")
@json_option
def fork_campaign(name: str | None, new: str | None, as_json: bool, **words: Any) -> None:
    """Make a new campaign from the records of one, under other settings; nothing is evaluated."""
    plugins = load()
    with Campaign.open(name, plugins, workspace()) as old:
        # A campaign without models has made no choice among any that its fork would keep.
        unset = None if old.settings.models.members else {"models"}
        options = RunOptions(**words)
        values = merge_settings(old.settings.model_dump(mode="json", exclude=unset), read_options(options, plugins))
        settings = settings_of_fork(old, values, options.assignments)
        check_models(settings.models.members, plugins)
        path = fork(old, settings, workspace(), new)
        with Campaign.open(str(path), plugins, workspace()) as forked:
            _print_fork(old, forked, as_json=as_json)


def _print_fork(old: Campaign, new: Campaign, *, as_json: bool) -> None:
    best, left, progress = report.best(new), report.budget_left(new, time.time()), new.state.progress
    if as_json:
        emit(
            {
                "name": new.name,
                "forked_from": old.name,
                "log": str(new.log.path),
                "records": progress.records,
                "left": left,
                "best": best,
            }
        )
        return
    spent = new.budget.spent(new.progress, best_confirmed(new), time.time())
    before = f"{progress.programs:,} programs, {duration(new.seconds)} before the fork, which count"
    rows = [
        ("campaign", f"{new.name}, forked from {old.name}: {progress.records:,} records, none evaluated again"),
        ("spent", f"{before}; budget {new.budget}, left {left}"),
        *summary.format_best_program(new, best, report.front_line(new)),
        ("log", str(new.log.path)),
        ("next", summary.next_commands(new, best)[-2] if spent else f"evolve run --continue {new.name}"),
    ]
    say(facts(rows))


@campaign.command("config")
@click.argument("name", required=False)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Another value; may be repeated.")
@json_option
def configure_campaign(name: str | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """Print a campaign file that runs the search of a campaign again, with the settings that may change; --set changes them, also while it runs.

    The file holds the task and what differs from the defaults.
    """
    if assignments:
        log = existing_path(workspace(), name)
        steering.print_answer("settings", log, steering.ask(log, Configure(assignments)), as_json=as_json)
        return
    with Campaign.open(name, load(), workspace()) as opened:
        text, settings = file.format_file(opened, None), keys(opened.settings)
    if as_json:
        emit_all(settings)
        return
    for when in ("any time", "between runs"):
        text += f"\n# May change {when}: {', '.join(each.key for each in settings if each.when == when)}\n"
    click.echo(text, nl=False)
