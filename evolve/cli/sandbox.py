"""`evolve sandbox`: how well candidates are isolated on this machine.

Invariant: what is shown was tried just now, and everything that is missing comes with its cause and its remedy."""

from dataclasses import dataclass

import click

from evolve.cli.output import debug_option, emit, facts, json_option, say, table
from evolve.cli.redteam import redteam
from evolve.sandbox.machine.choice import line
from evolve.sandbox.machine.offer import Finding
from evolve.sandbox.machine.probe import Found, probe
from evolve.types import Level


@click.group()
def sandbox() -> None:
    """How well candidates are isolated on this machine."""


sandbox.add_command(redteam)


@dataclass(frozen=True, slots=True)
class Probed:
    """The one object of `evolve sandbox probe --json`. `isolation` is what is recorded with every score."""

    level: Level
    isolation: str
    python: str
    means: tuple[Finding, ...]


@sandbox.command("probe")
@click.option(
    "--python", default="", metavar="PYTHON", help="For candidates in this interpreter.  [default: evolve's own]"
)
@json_option
@debug_option
def probe_machine(python: str, as_json: bool) -> None:
    """Try what this machine has, and print the level of isolation, its means, and what is missing for a better one."""
    found = probe(python, fresh=True)
    if as_json:
        emit(Probed(found.level, found.means.line, found.python, found.findings))
    else:
        say(_page(found))


def _page(found: Found) -> str:
    rows = [
        (finding.mean, "had" if finding.had else "missing", finding.told or finding.cause) for finding in found.findings
    ]
    parts = [
        facts([("isolation", line(found, found.means)), ("python", found.python)]),
        table(("mean", "", "what"), rows),
    ]
    remedies = [f"  {finding.mean}: {finding.remedy}" for finding in found.findings if not finding.had]
    if remedies:
        parts.append("\n".join(["what to do", *remedies]))
    return "\n\n".join(parts)
