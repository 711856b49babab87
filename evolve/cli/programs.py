"""`evolve program`: the programs of a campaign, one of them with its evidence, two compared, and where one comes from.

Invariant: a score is shown with its isolation and trust; what is written here opens every log for reading only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evolve import report, wording
from evolve.campaign import Campaign, workspace
from evolve.cli import evidence, importing, pictures, rulings
from evolve.cli.isolation import confined, sandbox_option, wished
from evolve.cli.nouns import noun
from evolve.cli.output import debug_option, emit, emit_all, emit_text, facts, json_option, quoted, table
from evolve.cli.program_judge import judge_program
from evolve.cli.references import opened
from evolve.cli.say import say, say_exactly, say_file
from evolve.pictures import check_draws
from evolve.plugins import load
from evolve.sandbox.means import PLAIN
from evolve.types import ConfigError, Program, RecordId, TextId
from evolve.types.suggest import did_you_mean

SHOWN = 20


@noun
def program() -> None:
    """List, show, compare, judge, add and rule out programs. NAME/ID is a record of a campaign; a bare ID is one of the campaign written
    last, and `best` stands for its best program."""


program.add_command(judge_program)
program.add_command(importing.add_program)
program.add_command(rulings.quarantine_program)
program.add_command(rulings.release_program)


@program.command("list")
@click.argument("name", required=False)
@click.option("--elites", "chosen", flag_value="elites", default=True, help="The archive's programs (default).")
@click.option("--all", "chosen", flag_value="all", help="Every record.")
@click.option("--front", "chosen", flag_value="front", help="The Pareto front over the task's objectives.")
@click.option("--limit", type=click.IntRange(min=0), default=SHOWN, show_default=True, help="How many; 0 means all.")
@json_option
@debug_option
def list_programs(name: str | None, chosen: str, limit: int, as_json: bool) -> None:
    """List a campaign's programs, the best first (marked *)."""
    with Campaign.open(name, load(), workspace()) as campaign:
        if chosen == "front" and not campaign.task.objectives:
            raise ConfigError(
                f"task {campaign.task.name!r} of campaign {campaign.name!r} has no objectives, so there is no front. "
                "Do: leave out --front, or declare [[objectives]] in its task.toml"
            )
        listed = {"elites": report.elites, "front": report.front, "all": report.records}
        lines: tuple[Any, ...] = listed[chosen](campaign, limit or None)
        if as_json:
            emit_all(lines)
        elif not lines:
            say(_nothing(campaign))
        else:
            say(_record_table(campaign, lines) if chosen == "all" else _elite_table(campaign, lines))


def _nothing(campaign: Campaign) -> str:
    """Why there is nothing to list."""
    if not len(campaign.state.history):
        return f"campaign {campaign.name} has no programs yet"
    return f"campaign {campaign.name} has no program that holds a place; evolve program list {campaign.name} --all lists its records"


def _elite_table(campaign: Campaign, lines: tuple[Any, ...]) -> str:
    task, fitness, some_miss = campaign.task, campaign.task.fitness, any(line.violation for line in lines)
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
            " ".join(f"{key}={value:.4g}" for key, value in line.descriptors.items()),
        )
        for line in lines
    ]
    aims = [objective.name for objective in task.objectives] + ["violation"] * some_miss
    rest = ("evidence", "islands", "cell", "operator", "trust", "isolation", "descriptors")
    return table(("program", fitness.name, *aims, *rest), rows)


def _record_table(campaign: Campaign, lines: tuple[Any, ...]) -> str:
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
    return table(headings, rows)


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
    with opened(reference) as (campaign, number):
        if artifact is not None:
            emit_text(_artifact(campaign, number, artifact))
            return
        means = PLAIN
        if draw is not None:
            means = confined(campaign.task, wished(sandbox), harmless=True).noted()
            check_draws(campaign.task, means)
        shown = report.whole(campaign, number)
        if as_json:
            emit(shown)
        else:
            say(facts(evidence.told(campaign, shown)))
            _details(shown, code=code, feedback=feedback)
        if draw is not None:
            pictures.draw(campaign, number, draw, means)
            say(f"picture  {draw}", err=as_json)


def _artifact(campaign: Campaign, number: RecordId, name: str) -> str:
    known = report.settled(campaign, number).record.evaluation.artifacts
    if name not in known:
        raise ConfigError(
            f"{report.record_name(campaign, number)} has no artifact {name!r}.{did_you_mean(name, known)} "
            f"Do: evolve program show {report.record_name(campaign, number)}"
        )
    return campaign.log.text(TextId(known[name]))


def _details(shown: report.Shown, *, code: bool, feedback: bool) -> None:
    if feedback:
        say(f"\nfeedback\n{quoted(shown.feedback) if shown.feedback else '(none)'}")
    if code:
        for path, text in shown.files.items():
            say_file(path, text)


@dataclass(frozen=True, slots=True)
class Compared:
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
    with opened(reference) as (campaign, number):
        name, files = report.record_name(campaign, number), report.program_of(campaign, number)
        if other is None:
            parents = campaign.state.history.parents(number)
            if not parents:
                raise ConfigError(f"{name} has no parent to compare with. Do: name two programs")
            found = _between(
                report.record_name(campaign, parents[0]), report.program_of(campaign, parents[0]), name, files
            )
        else:
            found = _against(other, name, files)
    if as_json:
        emit(found)
    else:
        say_exactly(found.diff or f"{found.old} and {found.new} are the same program")


def _against(reference: str, old: str, old_program: Program) -> Compared:
    with opened(reference) as (campaign, number):
        new = report.record_name(campaign, number)
        return _between(old, old_program, new, report.program_of(campaign, number))


def _between(old: str, old_program: Program, new: str, new_program: Program) -> Compared:
    found = report.differences(old_program, new_program, (old, new))
    return Compared(old, new, "".join(file.text for file in found))


@program.command("lineage")
@click.argument("reference", metavar="[NAME/]ID")
@json_option
@debug_option
def show_lineage(reference: str, as_json: bool) -> None:
    """Print a program's line of first parents, from the seed, with what each step changed in the fitness."""
    with opened(reference) as (campaign, number):
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
            step.trust,
            wording.level(step.isolation, weaker=step.weaker),
        )
        for step in steps
    ]
    say(table(("program", fitness.name, "change", "operator", "parents", "trust", "isolation"), rows))
