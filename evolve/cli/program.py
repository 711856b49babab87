"""`evolve program`: list, show and compare the programs of a campaign, trace their origin, and rule them out.

A score is always shown with its trust and isolation."""

from collections.abc import Sequence
from pathlib import Path

import click

from evolve import report, wording
from evolve.campaign import Campaign, workspace
from evolve.campaign.inbox import Ruling
from evolve.cli.groups import noun_group
from evolve.cli.output import (
    emit,
    emit_all,
    emit_text,
    facts,
    json_option,
    print_exactly,
    print_file,
    quote,
    say,
    table,
)
from evolve.cli.program_add import add_program
from evolve.cli.program_evaluate import evaluate_program
from evolve.cli.record import format_record, open_program
from evolve.cli.steering import ask, print_answer
from evolve.plugins import load
from evolve.report import PROGRAMS, Wanted
from evolve.types import ConfigError, Program, RecordId, TextId
from evolve.types.errors import did_you_mean

_LISTED = 20
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
@click.option("--outcome", default="", help="Programs that ended so: ok, crashed, ...")
@click.option("--operator", default="", help="Programs that this operator made.")
@click.option(
    "--sort", type=click.Choice(("fitness", *report.SORTS[1:])), help="Programs by this, the most or best first."
)
@click.option(
    "--limit", type=click.IntRange(min=0), help=f"How many; 0 means all.  [default: {_LISTED}; all with --csv]"
)
@click.option("--csv", "target", type=click.Path(path_type=Path, dir_okay=False), help="Write them to a file of CSV.")
@json_option
def list_programs(
    name: str | None,
    chosen: str | None,
    outcome: str,
    operator: str,
    sort: str | None,
    limit: int | None,
    target: Path | None,
    as_json: bool,
) -> None:
    """List a campaign's programs, the best first (marked *)."""
    by_records = bool(chosen == "all" or outcome or operator or sort)
    if by_records and chosen in ("elites", "front"):
        raise click.UsageError(
            f"--{chosen} lists programs by their place, which options that choose records do not. Try: leave out one of them"
        )
    # An outcome may be one that no program has: a screened proposal is a record without a program.
    kind = "" if chosen == "all" or outcome else PROGRAMS
    wanted = Wanted(sort=sort or "fitness", outcome=outcome, operator=operator, kind=kind)
    most = ((0 if target else _LISTED) if limit is None else limit) or None
    with Campaign.open(name, load(), workspace()) as campaign:
        lines: Sequence[report.RecordLine | report.EliteLine]
        if by_records:
            records: Sequence[RecordId] = (report.selected(campaign, wanted)[0] + 1).tolist()
            total = len(records)
            lines = [report.record_line(campaign, campaign.log.settled(record)) for record in records[:most]]
        else:
            lines = _read_elites(campaign, chosen, most)
            total = len(lines)
        if target is not None:
            numbers = [line.record if isinstance(line, report.EliteLine) else line.id for line in lines]
            report.write_csv(report.columnar(campaign, numbers), target)
            # With --json, stdout holds JSON alone.
            say(f"{len(lines):,} rows  {target}", err=as_json)
        elif as_json:
            emit_all(lines)
        elif not lines:
            say(_no_programs(campaign, by_records=by_records))
        else:
            say(_table(campaign, lines))
            if len(lines) < total:
                say(f"({len(lines):,} of {total:,}; --limit 0 lists all)", err=True)


def _read_elites(campaign: Campaign, chosen: str | None, limit: int | None) -> Sequence[report.EliteLine]:
    if chosen != "front":
        return report.elites(campaign, limit)
    if not campaign.task.objectives:
        raise ConfigError(
            f"task {campaign.task.name!r} of campaign {campaign.name!r} has no objectives, so there is no front. "
            "Try: leave out --front, or declare [[objectives]] in its task.toml"
        )
    return report.front(campaign, limit)


def _no_programs(campaign: Campaign, *, by_records: bool) -> str:
    name = campaign.name
    if not len(campaign.state.history):
        return f"campaign {name} has no programs yet"
    if by_records:
        return f"campaign {name} has no such record"
    return f"campaign {name} has no program that holds a place; evolve program list {name} --all lists its records"


def _table(campaign: Campaign, lines: Sequence[report.RecordLine | report.EliteLine]) -> str:
    first = lines[0]
    fitness = campaign.task.fitness.name
    if isinstance(first, report.EliteLine):
        aims = [objective.name for objective in campaign.task.objectives]
        headings = ("program", fitness, *aims, "evidence", "islands", "cell", "operator", *_EVIDENCE, "descriptors")
        return table(headings, (_elite_row(campaign, line) for line in lines if isinstance(line, report.EliteLine)))
    headings = ("program", fitness, "outcome", "insertion", "operator", "parents", "took", *_EVIDENCE)
    return table(headings, (_record_row(campaign, line) for line in lines if isinstance(line, report.RecordLine)))


def _elite_row(campaign: Campaign, line: report.EliteLine) -> tuple[str, ...]:
    missed = f", violation {line.violation:.4g}" if line.violation else ""
    return (
        f"{line.name}{'*' if line.best else ''}",
        wording.number(line.fitness, campaign.task.fitness),
        *map(wording.objective_number, line.objectives),
        ("certified" if line.certified else f"{line.measurements} measured") + missed,
        " ".join(map(str, line.islands)),
        str(line.cell),
        line.operator or line.kind,
        line.trust,
        wording.level(line.isolation, weaker=line.weaker),
        " ".join(f"{key}={value:.4g}" for key, value in line.descriptors.items()),
    )


def _record_row(campaign: Campaign, line: report.RecordLine) -> tuple[str, ...]:
    best = campaign.state.archive.best
    return (
        f"{line.name}{'*' if best is not None and best.record == line.id else ''}",
        wording.number(line.fitness, campaign.task.fitness),
        f"{line.outcome}, misses constraints" if line.violation else wording.outcome(line),
        line.insertion,
        line.operator or line.kind,
        " ".join(map(str, line.parents)),
        wording.seconds(line.seconds),
        *wording.evidence(line),
    )


@program.command("show")
@click.argument("reference", metavar="[NAME/]ID")
@click.option("--code", is_flag=True, help="Print the program's files.")
@click.option("--feedback", is_flag=True, help="Print the evaluator's feedback.")
@click.option("--artifact", metavar="NAME", help="Print a stored artifact, as JSON, and nothing else.")
@json_option
def show_program(reference: str, code: bool, feedback: bool, artifact: str | None, as_json: bool) -> None:
    """Show one record: where it comes from, its score and what the score rests on."""
    with open_program(reference) as (campaign, number):
        if artifact is not None:
            emit_text(_read_artifact(campaign, number, artifact))
            return
        shown = report.whole(campaign, number)
        if as_json:
            emit(shown)
            return
        say(facts(format_record(campaign, shown)))
    if feedback:
        say(f"\nfeedback\n{quote(shown.feedback) if shown.feedback else '(none)'}")
    for path, text in shown.files.items() if code else ():
        print_file(path, text)


def _read_artifact(campaign: Campaign, number: RecordId, name: str) -> str:
    known = report.settled(campaign, number).record.evaluation.artifacts
    if name not in known:
        record = report.record_name(campaign, number)
        raise ConfigError(
            f"{record} has no artifact {name!r}.{did_you_mean(name, known)} Try: evolve program show {record}"
        )
    return campaign.log.text(TextId(known[name]))


@program.command("diff")
@click.argument("reference", metavar="[NAME/]ID")
@click.argument("other", metavar="[[NAME/]ID]", required=False)
@json_option
def diff_programs(reference: str, other: str | None, as_json: bool) -> None:
    """Print what a program changes: against its first parent, or from the first named program to the second."""
    with open_program(reference) as (campaign, number):
        named = _read_program(campaign, number)
        if other is None:
            parents = campaign.state.history.parents(number)
            if not parents:
                raise ConfigError(f"{named[0]} has no parent to compare with. Try: name two programs")
            pair = _read_program(campaign, parents[0]), named
    if other is not None:
        with open_program(other) as (campaign, number):
            pair = named, _read_program(campaign, number)
    (old, old_program), (new, new_program) = pair
    changes = report.differences(old_program, new_program, (old, new))
    diff = "".join(change.text for change in changes)
    if as_json:
        emit({"old": old, "new": new, "diff": diff})
    else:
        print_exactly(diff or f"{old} and {new} are the same program")


def _read_program(campaign: Campaign, number: RecordId) -> tuple[str, Program]:
    return report.record_name(campaign, number), report.program_of(campaign, number)


@program.command("lineage")
@click.argument("reference", metavar="[NAME/]ID")
@json_option
def show_lineage(reference: str, as_json: bool) -> None:
    """Print a program's line of first parents, from the seed, with what each step changed in the fitness, and what its calls of models cost."""
    with open_program(reference) as (campaign, number):
        steps, fitness = report.lineage(campaign, number), campaign.task.fitness
    if as_json:
        emit_all(steps)
        return
    rows = [
        (
            step.name,
            wording.number(step.fitness, fitness) if step.fitness is not None else step.outcome,
            "" if step.change is None else wording.difference(step.change, fitness),
            step.operator or step.kind,
            " ".join(map(str, step.parents)),
            f"{step.tokens:,}",
            f"{step.money:.4g}",
            *wording.evidence(step),
        )
        for step in steps
    ]
    say(table(("program", fitness.name, "change", "operator", "parents", "tokens", "usd", *_EVIDENCE), rows))


@program.command("quarantine")
@click.argument("reference", metavar="[NAME/]ID")
@click.option("--descendants", is_flag=True, help="Also every program that came of it.")
@click.option("--why", default="", help="The reason, kept with the ruling.")
@json_option
def quarantine_program(reference: str, descendants: bool, why: str, as_json: bool) -> None:
    """Rule a program out: it stays as evidence, and is never parent, inspiration or best."""
    with open_program(reference) as (campaign, number):
        log = campaign.log.path
    print_answer("ruling", log, ask(log, Ruling("quarantine", number, descendants, why)), as_json=as_json)


@program.command("release")
@click.argument("reference", metavar="[NAME/]ID")
@click.option("--descendants", is_flag=True, help="Also every program that came of it.")
@click.option("--why", default="", help="The reason, kept with the ruling.")
@json_option
def release_program(reference: str, descendants: bool, why: str, as_json: bool) -> None:
    """End the quarantine of a program: it claims its places again."""
    with open_program(reference) as (campaign, number):
        log = campaign.log.path
    print_answer("ruling", log, ask(log, Ruling("release", number, descendants, why)), as_json=as_json)
