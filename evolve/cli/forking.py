"""`evolve campaign fork`: the records of a campaign under other settings.

Invariant: nothing is judged, and the old log is only read."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from evolve import report
from evolve.campaign import Campaign, workspace
from evolve.campaign.campaign import confirmed_best
from evolve.campaign.fork import fork, forked_settings
from evolve.cli import summary
from evolve.cli.models import checked, members
from evolve.cli.output import debug_option, emit, facts, json_option
from evolve.cli.say import say
from evolve.config import ModelSection
from evolve.plugins import load
from evolve.stop import duration


@dataclass(frozen=True, slots=True)
class Forked:
    """A fork at a glance. `spent` says what of its budget its records have spent already; what differs from the old campaign is in
    `cells` and `best`."""

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
    given: dict[str, Any] = {"seed": seed, "budget": list(budget) or None}
    values = {key: value for key, value in given.items() if value is not None}
    plugins = load()
    with Campaign.open(name, plugins, workspace()) as old:
        if models:
            values["models"] = _with_members(old, members(models, plugins))
        if strategy is not None:
            assignments = (f"strategy.name={strategy}", *assignments)
        settings = forked_settings(old, values, assignments)
        checked(settings.models.members, plugins)
        path = fork(old, settings, workspace(), new)
        with Campaign.open(str(path), load(), workspace()) as forked:
            found = _forked(old, forked)
            rows = _told(forked, found)
    if as_json:
        emit(found)
    else:
        say(facts(rows))


def _with_members(old: Campaign, found: Sequence[ModelSection]) -> dict[str, Any]:
    """The old campaign's table of models, if it had any, with these."""
    table = old.settings.models.model_dump(mode="json") if old.settings.models.members else {}
    return {**table, "members": [member.model_dump(mode="json") for member in found]}


def _forked(old: Campaign, new: Campaign) -> Forked:
    progress = new.state.progress
    old_best, best = report.best(old), report.best(new)
    return Forked(
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


def _told(new: Campaign, found: Forked) -> list[tuple[str, str]]:
    spent = new.budget.spent(new.progress, confirmed_best(new), time.time())
    go_on = summary.next_commands(new, report.best(new))[-2] if spent else f"evolve run --continue {new.name}"
    return [
        ("campaign", f"{found.name}, forked from {found.forked_from}: {found.records:,} records, none judged again"),
        ("spent", f"{found.spent} before the fork, which count; budget {new.budget}, left {found.left}"),
        ("cells", f"{found.cells:,}  (before: {found.old_cells:,})"),
        *summary.best_facts(new, report.best(new), report.front_line(new)),
        ("log", found.log),
        ("next", go_on),
    ]
