"""`evolve program`: list, show and compare the programs of a campaign, trace their origin, and rule them out.

A score is always shown with its trust and isolation."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from evolve import report, wording
from evolve.campaign import Campaign, workspace
from evolve.campaign.inbox import Quarantine, Release
from evolve.cli import pictures
from evolve.cli.campaign_requests import ask, format_best, name_records
from evolve.cli.groups import noun_group
from evolve.cli.isolation import note_isolation, sandbox_option
from evolve.cli.output import (
    CELL,
    brief,
    debug_option,
    emit,
    emit_all,
    emit_text,
    facts,
    json_option,
    one_line,
    print_exactly,
    print_file,
    quoted,
    say,
    table,
)
from evolve.cli.program_add import add_program
from evolve.cli.program_evaluate import evaluate_program
from evolve.cli.program_page import format_record
from evolve.cli.program_reference import locate_program, open_program
from evolve.engine.isolation import confine, wanted_level
from evolve.pictures import check_draws
from evolve.plugins import load
from evolve.report import PROGRAMS, Wanted
from evolve.sandbox.means import PLAIN
from evolve.sandbox.output import MARK, readable
from evolve.types import ConfigError, Fitness, Program, RecordId, TextId
from evolve.types.errors import did_you_mean

_LISTED = 20
_LONGEST_HEADING = 32
_LONGEST_LINE = 400
_EVIDENCE = ("trust", "isolation")


@noun_group
def program() -> None:
    """List, show, compare, evaluate, add, rule out, export and publish programs. NAME/ID is a record of a campaign; a bare ID is one of the
    campaign written last, and `best` stands for its best program."""


program.add_command(evaluate_program)
program.add_command(add_program)


@program.command("list")
@click.argument("name", required=False)
@click.option("--elites", "chosen", flag_value="elites", help="The archive's programs (default).")
@click.option("--all", "chosen", flag_value="all", help="Every record, measurements and screened proposals included.")
@click.option("--front", "chosen", flag_value="front", help="The Pareto front over the task's objectives.")
@click.option("--search", "text", default="", metavar="TEXT", help="Programs that have all these words.")
@click.option("--outcome", default="", help="Programs that ended so: ok, crashed, ...")
@click.option("--operator", default="", help="Programs that this operator made.")
@click.option("--model", default="", help="Programs that this model wrote.")
@click.option("--island", type=int, help="Programs that were proposed on this island.")
@click.option("--insertion", default="", help="Programs that the archive took so: NEW, IMPROVED, PENDING, NOT_ADDED.")
@click.option(
    "--sort", type=click.Choice(("fitness", *report.SORTS[1:])), help="Programs by this, the most or best first."
)
@click.option("--ascending", is_flag=True, help="The least or worst first.")
@click.option(
    "--limit", type=click.IntRange(min=0), help=f"How many; 0 means all.  [default: {_LISTED}; all with --csv]"
)
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
    # An outcome may be one that no program has: a screened proposal is a record without a program.
    kind = "" if chosen == "all" or filters["outcome"] else PROGRAMS
    wanted = Wanted(sort=sort or "fitness", descending=not ascending, kind=kind, **filters)
    by_records = chosen == "all" or sort is not None or wanted != Wanted(kind=PROGRAMS)
    if by_records and chosen in ("elites", "front"):
        raise click.UsageError(
            f"--{chosen} lists programs by their place, which options that choose records do not. Do: leave out one of them"
        )
    most = (0 if target else _LISTED) if limit is None else limit
    with Campaign.open(name, load(), workspace()) as campaign:
        if by_records:
            _list_records(campaign, wanted, most or None, target, as_json=as_json)
        else:
            _list_elites(campaign, chosen or "elites", most or None, target, as_json=as_json)


def _list_records(campaign: Campaign, wanted: Wanted, limit: int | None, target: Path | None, *, as_json: bool) -> None:
    places, cut = report.selected(campaign, wanted)
    records: list[RecordId] = (places[:limit] + 1).tolist()
    if target is not None:
        _write_csv(campaign, records, target, as_json=as_json)
        return
    lines = [report.record_line(campaign, campaign.log.settled(record)) for record in records]
    if as_json:
        emit_all(lines)
    elif not lines:
        say(f"campaign {campaign.name} has no such record" if len(campaign.state.history) else _no_programs(campaign))
    else:
        say(_record_table(campaign, lines))
        if cut:
            say(f"(the text is in a great many programs: the newest {report.MATCHES:,} were looked at)", err=True)
        elif len(lines) < len(places):
            say(f"({len(lines):,} of {len(places):,}; --limit 0 lists all)", err=True)


def _list_elites(campaign: Campaign, chosen: str, limit: int | None, target: Path | None, *, as_json: bool) -> None:
    if chosen == "front" and not campaign.task.objectives:
        raise ConfigError(
            f"task {campaign.task.name!r} of campaign {campaign.name!r} has no objectives, so there is no front. "
            "Do: leave out --front, or declare [[objectives]] in its task.toml"
        )
    lines = {"elites": report.elites, "front": report.front}[chosen](campaign, limit)
    if target is not None:
        _write_csv(campaign, [line.record for line in lines], target, as_json=as_json)
    elif as_json:
        emit_all(lines)
    else:
        say(_elite_table(campaign, lines) if lines else _no_programs(campaign))


def _write_csv(campaign: Campaign, records: Sequence[RecordId], target: Path, *, as_json: bool) -> None:
    report.write_csv(report.columnar(campaign, records), target)
    say(f"{len(records):,} rows  {target}", err=as_json)


def _no_programs(campaign: Campaign) -> str:
    name = campaign.name
    if not len(campaign.state.history):
        return f"campaign {name} has no programs yet"
    return f"campaign {name} has no program that holds a place; evolve program list {name} --all lists its records"


def _elite_table(campaign: Campaign, lines: Sequence[report.EliteLine]) -> str:
    task, fitness, some_miss = campaign.task, campaign.task.fitness, any(line.violation for line in lines)
    heading, descriptors = _descriptor_column(lines)
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
            values,
        )
        for line, values in zip(lines, descriptors, strict=True)
    ]
    aims = [objective.name for objective in task.objectives] + ["violation"] * some_miss
    headings = ("program", fitness.name, *aims, "evidence", "islands", "cell", "operator", *_EVIDENCE, heading)
    return table(headings, rows, shared=(*_EVIDENCE, "evidence", "islands"), wrap=heading)


def _descriptor_column(lines: Sequence[report.EliteLine]) -> tuple[str, list[str]]:
    """Returns a heading and a cell for each line; the names stand in the heading where all lines have the same few of them."""
    names = ", ".join(lines[0].descriptors)
    if names and len(names) <= _LONGEST_HEADING and len({tuple(line.descriptors) for line in lines}) == 1:
        return names, [", ".join(f"{value:.4g}" for value in line.descriptors.values()) for line in lines]
    return "descriptors", [" ".join(f"{key}={value:.4g}" for key, value in line.descriptors.items()) for line in lines]


def _record_table(campaign: Campaign, lines: Sequence[report.RecordLine]) -> str:
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
    headings = ("program", fitness.name, "outcome", "insertion", "operator", "parents", "took", *_EVIDENCE)
    return table(headings, rows, shared=_EVIDENCE)


@program.command("show")
@click.argument("reference", metavar="[NAME/]ID")
@click.option("--code", is_flag=True, help="Print the program's files.")
@click.option("--feedback", is_flag=True, help="Print the evaluator's feedback.")
@click.option("--artifact", metavar="NAME", help="Print a stored artifact, as JSON, and nothing else.")
@click.option(
    "--draw", type=click.Path(path_type=Path, dir_okay=False), help="Write the task's picture (SVG) to a file."
)
@sandbox_option
@json_option
@debug_option
def show_program(
    reference: str,
    code: bool,
    feedback: bool,
    artifact: str | None,
    draw: Path | None,
    sandbox: str | None,
    as_json: bool,
) -> None:
    """Show one record: where it comes from, its score and what the score rests on."""
    with open_program(reference) as (campaign, number):
        if artifact is not None:
            emit_text(_artifact(campaign, number, artifact))
            return
        means = PLAIN
        if draw is not None:
            means = note_isolation(confine(campaign.task, wanted_level(sandbox), harmless=True))
            check_draws(campaign.task, means)
        shown = report.whole(campaign, number)
        if as_json:
            emit(shown)
        else:
            say(facts(format_record(campaign, shown)))
            _print_details(shown, code=code, feedback=feedback)
        if draw is not None:
            pictures.draw(campaign, number, draw, means)
            say(f"picture  {draw}", err=as_json)


def _artifact(campaign: Campaign, number: RecordId, name: str) -> str:
    known = report.settled(campaign, number).record.evaluation.artifacts
    if name not in known:
        record = report.record_name(campaign, number)
        raise ConfigError(
            f"{record} has no artifact {name!r}.{did_you_mean(name, known)} Do: evolve program show {record}"
        )
    return campaign.log.text(TextId(known[name]))


def _print_details(shown: report.Shown, *, code: bool, feedback: bool) -> None:
    if feedback:
        say(f"\nfeedback\n{quoted(shown.feedback) if shown.feedback else '(none)'}")
    if code:
        for path, text in shown.files.items():
            print_file(path, text)


@dataclass(frozen=True, slots=True)
class ProgramDiff:
    """Two programs and their unified diff."""

    old: str
    new: str
    diff: str


@program.command("diff")
@click.argument("reference", metavar="[NAME/]ID")
@click.argument("other", metavar="[[NAME/]ID]", required=False)
@json_option
@debug_option
def diff_programs(reference: str, other: str | None, as_json: bool) -> None:
    """Print what a program changes: against its first parent, or from the first named program to the second."""
    with open_program(reference) as (campaign, number):
        named = _read_program(campaign, number)
        if other is None:
            parents = campaign.state.history.parents(number)
            if not parents:
                raise ConfigError(f"{named[0]} has no parent to compare with. Do: name two programs")
            pair = _read_program(campaign, parents[0]), named
    if other is not None:
        with open_program(other) as (campaign, number):
            pair = named, _read_program(campaign, number)
    (old, old_program), (new, new_program) = pair
    changes = report.differences(old_program, new_program, (old, new))
    diff = ProgramDiff(old, new, "".join(change.text for change in changes))
    if as_json:
        emit(diff)
    else:
        print_exactly(diff.diff or f"{old} and {new} are the same program")


def _read_program(campaign: Campaign, number: RecordId) -> tuple[str, Program]:
    return report.record_name(campaign, number), report.program_of(campaign, number)


@program.command("lineage")
@click.argument("reference", metavar="[NAME/]ID")
@json_option
@debug_option
def show_lineage(reference: str, as_json: bool) -> None:
    """Print a program's line of first parents, from the seed, with what each step changed in the fitness, and what its calls of models cost."""
    with open_program(reference) as (campaign, number):
        steps, fitness = report.lineage(campaign, number), campaign.task.fitness
    if as_json:
        emit_all(steps)
        return
    called = any(step.calls for step in steps)
    rows = [
        (
            step.name,
            wording.number(step.fitness, fitness) if step.fitness is not None else step.outcome,
            "" if step.change is None else wording.difference(step.change, fitness),
            step.operator or step.kind,
            " ".join(map(str, step.parents)),
            *((f"{step.tokens:,}", f"{step.money:.4g}") if called else ()),
            step.trust,
            wording.level(step.isolation, weaker=step.weaker),
        )
        for step in steps
    ]
    cost = ("tokens", "usd") if called else ()
    headings = ("program", fitness.name, "change", "operator", "parents", *cost, *_EVIDENCE)
    say(table(headings, rows, shared=_EVIDENCE))


@program.command("blame")
@click.argument("reference", metavar="[NAME/]ID")
@json_option
@debug_option
def blame_program(reference: str, as_json: bool) -> None:
    """Print which record brought each line of a program, along its line of first parents, and what that step gained."""
    with open_program(reference) as (campaign, number):
        lines, fitness = report.blame(campaign, number), campaign.task.fitness
    if as_json:
        emit_all(lines)
        return
    for path, members in groupby(lines, lambda line: line.path):
        say(f"--- {brief(one_line(path), CELL)}")
        say(_format_blame(list(members), fitness))


def _format_blame(lines: Sequence[report.BlameLine], fitness: Fitness) -> str:
    """Returns each line of a file behind a mark; its record stands beside the first of several lines."""
    rows, before = [], 0
    for line in lines:
        maker = ("", "", "") if line.record == before else _format_maker(line, fitness)
        rows.append((*maker, str(line.number)))
        before = line.record
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{record:>{widths[0]}}  {operator:<{widths[1]}}  {change:>{widths[2]}}  {number:>{widths[3]}}{MARK}{_shorten(line.text)}"
        for line, (record, operator, change, number) in zip(lines, rows, strict=True)
    )


def _format_maker(line: report.BlameLine, fitness: Fitness) -> tuple[str, str, str]:
    maker = " ".join(filter(None, (line.operator or line.kind, line.model)))
    change = "" if line.change is None else wording.difference(line.change, fitness)
    return str(line.record), brief(one_line(maker), CELL), change


def _shorten(text: str) -> str:
    return brief(readable(text.replace("\r", "").replace("\n", " ")), _LONGEST_LINE)


def _ruling_options(command: Callable[..., None]) -> Callable[..., None]:
    options: Iterable[Callable[..., Any]] = (
        debug_option,
        json_option,
        click.option("--why", default="", help="The reason, kept with the ruling."),
        click.option("--descendants", is_flag=True, help="Also every program that came of it."),
        click.argument("reference", metavar="[NAME/]ID"),
    )
    for option in options:
        command = option(command)
    return command


@program.command("quarantine")
@_ruling_options
def quarantine_program(reference: str, **words: Any) -> None:
    """Rule a program out: it stays as evidence, and is never parent, inspiration or best."""
    _rule(reference, Quarantine, **words)


@program.command("release")
@_ruling_options
def release_program(reference: str, **words: Any) -> None:
    """End the quarantine of a program: it claims its places again."""
    _rule(reference, Release, **words)


def _rule(
    reference: str, kind: type[Quarantine] | type[Release], *, descendants: bool, why: str, as_json: bool
) -> None:
    log, record = locate_program(reference)
    answer = name_records(log, ask(log, kind(record, descendants, why)))
    if as_json:
        emit(answer)
    else:
        say(facts([("ruling", answer.told), ("best", format_best(log, answer))]))
