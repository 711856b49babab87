"""`evolve program`: the programs of a campaign, one of them with its evidence, two compared, and where one comes from.

Invariant: a score is shown with its isolation and trust; what is written here opens every log for reading only."""

from dataclasses import dataclass
from pathlib import Path

import click

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli import costs, evidence, importing, pictures, rulings
from evolve.cli.blaming import blame_program
from evolve.cli.fitted import Fit, fitted
from evolve.cli.isolation import note_isolation, sandbox_option
from evolve.cli.listing import list_programs
from evolve.cli.nouns import noun
from evolve.cli.output import debug_option, emit, emit_all, emit_text, facts, json_option, quoted
from evolve.cli.program_judge import judge_program
from evolve.cli.references import opened
from evolve.cli.say import say, say_exactly, say_file
from evolve.engine.isolation import confine, wanted_level
from evolve.pictures import check_draws
from evolve.sandbox.means import PLAIN
from evolve.types import ConfigError, Program, RecordId, TextId
from evolve.types.suggest import did_you_mean


@noun
def program() -> None:
    """List, show, compare, judge, add, rule out, export and publish programs. NAME/ID is a record of a campaign; a bare ID is one of the campaign written
    last, and `best` stands for its best program."""


program.add_command(judge_program)
program.add_command(list_programs)
program.add_command(blame_program)
program.add_command(importing.add_program)
program.add_command(rulings.quarantine_program)
program.add_command(rulings.release_program)


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
            means = note_isolation(confine(campaign.task, wanted_level(sandbox), harmless=True))
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
    """Print a program's line of first parents, from the seed, with what each step changed in the fitness, and what its calls of models cost."""
    with opened(reference) as (campaign, number):
        steps, fitness = report.lineage(campaign, number), campaign.task.fitness
        whole = report.lineage_cost(campaign, number)
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
    headings = ("program", fitness.name, "change", "operator", "parents", *cost, "trust", "isolation")
    say(fitted(headings, rows, Fit(once=("trust", "isolation"))))
    if called:
        say(f"\ncost  {costs.line(whole)}")
