"""`evolve campaign fork`: the records of a campaign under other settings. Nothing is judged, and the old log is only read."""

import time
from dataclasses import dataclass
from typing import Any

import click

from evolve import report
from evolve.campaign import Campaign, workspace
from evolve.campaign.campaign import best_confirmed
from evolve.campaign.fork import fork, settings_of_fork
from evolve.cli import summary
from evolve.cli.model_specs import check_models, parse_models
from evolve.cli.output import debug_option, emit, facts, json_option, say
from evolve.plugins import load
from evolve.stop import duration


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork at a glance. `spent` is the part of its budget that its records have used; `cells` and `best` differ from the old campaign's
    where the archive was decided anew."""

    name: str
    forked_from: str
    log: str
    records: int
    evaluations: int
    spent: str
    left: str
    old_cells: int
    cells: int
    old_best: str
    best: str


@click.command("fork")
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
@debug_option
def fork_campaign(
    name: str | None,
    new: str | None,
    assignments: tuple[str, ...],
    strategy: str | None,
    seed: int | None,
    budget: tuple[str, ...],
    models: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a new campaign from the records of one, under other settings; nothing is judged."""
    values: dict[str, Any] = {"seed": seed} if seed is not None else {}
    values |= {"budget": list(budget)} if budget else {}
    if strategy is not None:
        assignments = (f"strategy.name={strategy}", *assignments)
    plugins = load()
    with Campaign.open(name, plugins, workspace()) as old:
        if models:
            known = old.settings.models.model_dump(mode="json") if old.settings.models.members else {}
            members = [member.model_dump(mode="json") for member in parse_models(models, plugins)]
            values["models"] = {**known, "members": members}
        settings = settings_of_fork(old, values, assignments)
        check_models(settings.models.members, plugins)
        path = fork(old, settings, workspace(), new)
        with Campaign.open(str(path), load(), workspace()) as forked:
            found = _compare(old, forked)
            rows = _format_fork(forked, found)
    if as_json:
        emit(found)
    else:
        say(facts(rows))


def _compare(old: Campaign, new: Campaign) -> Fork:
    progress = new.state.progress
    old_best, best = report.best(old), report.best(new)
    return Fork(
        name=new.name,
        forked_from=old.name,
        log=str(new.log.path),
        records=progress.records,
        evaluations=progress.records - old.state.progress.records,
        spent=f"{progress.programs:,} programs, {duration(new.seconds)}",
        left=report.budget_left(new, time.time()),
        old_cells=old.state.archive.stats().cells,
        cells=new.state.archive.stats().cells,
        old_best=old_best.name if old_best else "",
        best=best.name if best else "",
    )


def _format_fork(new: Campaign, found: Fork) -> list[tuple[str, str]]:
    best, spent = report.best(new), new.budget.spent(new.progress, best_confirmed(new), time.time())
    return [
        ("campaign", f"{found.name}, forked from {found.forked_from}: {found.records:,} records, none judged again"),
        ("spent", f"{found.spent} before the fork, which count; budget {new.budget}, left {found.left}"),
        ("cells", f"{found.cells:,}  (before: {found.old_cells:,})"),
        *summary.best_facts(new, best, report.front_line(new)),
        ("log", found.log),
        ("next", summary.next_commands(new, best)[-2] if spent else f"evolve run --continue {new.name}"),
    ]
