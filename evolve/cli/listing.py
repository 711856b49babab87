"""`evolve program list`: the programs of a campaign, or those of its records that are asked for.

Invariant: no more records are read than are listed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evolve import report, wording
from evolve.campaign import Campaign, workspace
from evolve.cli.fitted import Fit, fitted
from evolve.cli.output import debug_option, emit_all, json_option
from evolve.cli.say import say
from evolve.plugins import load
from evolve.report import Wanted
from evolve.types import ConfigError, RecordId

SHOWN = 20
_ABOUT_SCORES = ("trust", "isolation")
_NAMES = 32
"""Characters of a heading that is made of the names of descriptors."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The lines that are shown, of `total`; `records` are all that were asked for, as far as they are needed."""

    lines: Sequence[Any]
    total: int
    is_records: bool
    records: Sequence[RecordId]
    cut: bool = False


@click.command("list")
@click.argument("name", required=False)
@click.option("--elites", "chosen", flag_value="elites", help="The archive's programs (default).")
@click.option("--all", "chosen", flag_value="all", help="Every record; so do the options that choose records.")
@click.option("--front", "chosen", flag_value="front", help="The Pareto front over the task's objectives.")
@click.option("--search", "text", default="", metavar="TEXT", help="Records whose program has all these words.")
@click.option("--outcome", default="", help="Records that ended so: ok, crashed, ...")
@click.option("--operator", default="", help="Records that this operator made.")
@click.option("--model", default="", help="Records that this model wrote.")
@click.option("--island", type=int, help="Records that were proposed on this island.")
@click.option("--insertion", default="", help="Records that the archive took so: NEW, IMPROVED, PENDING, NOT_ADDED.")
@click.option(
    "--sort", type=click.Choice(("fitness", *report.SORTS[1:])), help="Records by this, the most or best first."
)
@click.option("--ascending", is_flag=True, help="The least or worst first.")
@click.option("--limit", type=click.IntRange(min=0), help=f"How many; 0 means all.  [default: {SHOWN}; all with --csv]")
@click.option("--csv", "target", type=click.Path(path_type=Path, dir_okay=False), help="Write them to a file of CSV.")
@json_option
@debug_option
def list_programs(
    name: str | None,
    chosen: str | None,
    limit: int | None,
    target: Path | None,
    as_json: bool,
    sort: str | None,
    ascending: bool,
    **filters: Any,
) -> None:
    """List a campaign's programs, the best first (marked *)."""
    wanted = Wanted(sort=sort or "fitness", descending=not ascending, **filters)
    if wanted != Wanted() or sort is not None:
        _check_records(chosen)
        chosen = "all"
    with Campaign.open(name, load(), workspace()) as campaign:
        most = (0 if target else SHOWN) if limit is None else limit
        found = _found(campaign, chosen or "elites", wanted, most or None, target)
        if target is not None:
            report.write_csv(report.columnar(campaign, found.records), target)
            say(f"{len(found.records):,} rows  {target}", err=as_json)
        elif as_json:
            emit_all(found.lines)
        elif not found.lines:
            say(_nothing(campaign, filtered=wanted != Wanted()))
        else:
            _say(campaign, found)


def _check_records(chosen: str | None) -> None:
    if chosen in ("elites", "front"):
        raise click.UsageError(
            f"--{chosen} lists programs by their place, which options that choose records do not. Do: leave out one of them"
        )


def _found(campaign: Campaign, chosen: str, wanted: Wanted, limit: int | None, target: Path | None) -> _Found:
    if chosen == "all":
        places, cut = report.selected(campaign, wanted)
        records = (places[:limit] + 1).tolist()
        lines = [] if target else [report.record_line(campaign, campaign.log.settled(record)) for record in records]
        return _Found(lines, len(places), True, records, cut)
    if chosen == "front" and not campaign.task.objectives:
        raise ConfigError(
            f"task {campaign.task.name!r} of campaign {campaign.name!r} has no objectives, so there is no front. "
            "Do: leave out --front, or declare [[objectives]] in its task.toml"
        )
    elites = {"elites": report.elites, "front": report.front}[chosen](campaign, limit)
    return _Found(elites, len(elites), False, [line.record for line in elites])


def _say(campaign: Campaign, found: _Found) -> None:
    say(_record_table(campaign, found.lines) if found.is_records else _elite_table(campaign, found.lines))
    if found.cut:
        say(f"(the text is in a great many programs: the newest {report.MATCHES:,} were looked at)", err=True)
    elif found.is_records and len(found.lines) < found.total:
        say(f"({len(found.lines):,} of {found.total:,}; --limit 0 lists all)", err=True)


def _nothing(campaign: Campaign, *, filtered: bool) -> str:
    """Why there is nothing to list."""
    if not len(campaign.state.history):
        return f"campaign {campaign.name} has no programs yet"
    if filtered:
        return f"campaign {campaign.name} has no such record"
    return f"campaign {campaign.name} has no program that holds a place; evolve program list {campaign.name} --all lists its records"


def _elite_table(campaign: Campaign, lines: Sequence[Any]) -> str:
    task, fitness, some_miss = campaign.task, campaign.task.fitness, any(line.violation for line in lines)
    heading, descriptors = _descriptors(lines)
    rows = [
        (
            f"{line.name}{'*' if line.best else ''}",
            wording.number(line.fitness, fitness),
            *wording.objective_columns(line.objectives),
            *([f"{line.violation:.4g}"] if some_miss else []),
            "certified" if line.certified else f"{line.measurements} measured",
            " ".join(map(str, line.islands)),
            str(line.cell),
            line.operator or line.kind,
            line.trust,
            wording.level(line.isolation, weaker=line.weaker),
            told,
        )
        for line, told in zip(lines, descriptors, strict=True)
    ]
    aims = [objective.name for objective in task.objectives] + ["violation"] * some_miss
    rest = ("evidence", "islands", "cell", "operator", "trust", "isolation", heading)
    fit = Fit(once=(*_ABOUT_SCORES, "evidence", "islands"), spare=("cell", "islands"), cut=heading)
    return fitted(("program", fitness.name, *aims, *rest), rows, fit)


def _descriptors(lines: Sequence[Any]) -> tuple[str, list[str]]:
    """A heading and a cell for each program: names stand in the heading where all have the same few of them."""
    names = ", ".join(lines[0].descriptors)
    if names and len(names) <= _NAMES and len({tuple(line.descriptors) for line in lines}) == 1:
        return names, [", ".join(f"{value:.4g}" for value in line.descriptors.values()) for line in lines]
    told = [" ".join(f"{key}={value:.4g}" for key, value in line.descriptors.items()) for line in lines]
    return "descriptors", told


def _record_table(campaign: Campaign, lines: Sequence[Any]) -> str:
    fitness, best = campaign.task.fitness, campaign.state.archive.best
    rows = [
        (
            f"{line.name}{'*' if best is not None and best.record == line.id else ''}",
            wording.number(line.fitness, fitness),
            f"{line.outcome}, misses constraints" if line.violation else line.outcome,
            line.insertion,
            line.operator or line.kind,
            " ".join(map(str, line.parents)),
            wording.seconds(line.seconds),
            line.trust,
            wording.level(line.isolation, weaker=line.weaker),
        )
        for line in lines
    ]
    headings = ("program", fitness.name, "outcome", "insertion", "operator", "parents", "took", "trust", "isolation")
    return fitted(headings, rows, Fit(once=_ABOUT_SCORES, spare=("took", "parents", "insertion")))
