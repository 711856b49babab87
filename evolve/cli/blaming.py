"""`evolve program blame`: which record brought each line of a program.

Invariant: a program's line stands behind a mark, so that none passes for what is said of it."""

from itertools import groupby

import click

from evolve import report, wording
from evolve.cli.output import CELL, brief, debug_option, emit_all, json_option, one_line
from evolve.cli.references import opened
from evolve.cli.say import say
from evolve.sandbox.output import MARK, readable
from evolve.types import Fitness

_LINE = 400
"""Characters of a line of code."""


@click.command("blame")
@click.argument("reference", metavar="[NAME/]ID")
@json_option
@debug_option
def blame_program(reference: str, as_json: bool) -> None:
    """Print which record brought each line of a program, along its line of first parents, and what that step gained."""
    with opened(reference) as (campaign, number):
        lines, fitness = report.blame(campaign, number), campaign.task.fitness
    if as_json:
        emit_all(lines)
        return
    for path, members in groupby(lines, lambda line: line.path):
        say(f"--- {brief(one_line(path), CELL)}")
        say(_told(list(members), fitness))


def _told(lines: list[report.BlameLine], fitness: Fitness) -> str:
    """Each line of a file; who brought it stands beside the first of several."""
    rows, before = [], 0
    for line in lines:
        by = ("", "", "") if line.record == before else _by(line, fitness)
        rows.append((*by, str(line.number)))
        before = line.record
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{record:>{widths[0]}}  {operator:<{widths[1]}}  {change:>{widths[2]}}  {number:>{widths[3]}}{MARK}{_shown(line.text)}"
        for line, (record, operator, change, number) in zip(lines, rows, strict=True)
    )


def _by(line: report.BlameLine, fitness: Fitness) -> tuple[str, str, str]:
    made = " ".join(filter(None, (line.operator or line.kind, line.model)))
    change = "" if line.change is None else wording.difference(line.change, fitness)
    return str(line.record), brief(one_line(made), CELL), change


def _shown(text: str) -> str:
    return brief(readable(text.replace("\r", "").replace("\n", " ")), _LINE)
