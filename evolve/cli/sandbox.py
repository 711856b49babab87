"""`evolve sandbox`: isolation of candidates on this machine."""

from dataclasses import dataclass

import click

from evolve.cli.output import emit, facts, json_option, say, table
from evolve.engine.isolation import VARIABLE, wanted_level
from evolve.sandbox.machine.offer import MeanFinding, ProbeResult, describe_means, explain_unreached
from evolve.sandbox.machine.probe import attempts_at, probe
from evolve.types import Level, SandboxError


@click.group()
def sandbox() -> None:
    """Isolation of candidates on this machine."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The one object of `evolve sandbox probe --json`. `isolation` is recorded with every score; `held` are the attempts that failed, by what
    they tried."""

    level: Level
    isolation: str
    python: str
    means: tuple[MeanFinding, ...]
    held: tuple[str, ...]


@sandbox.command("probe")
@click.option(
    "--python", default="", metavar="PYTHON", help="For candidates in this interpreter.  [default: evolve's own]"
)
@json_option
def probe_machine(python: str, as_json: bool) -> None:
    """Attack the box of this machine with small programs, and print the level of isolation, its means, and what is missing for a better one."""
    wish = wanted_level(None)
    found = probe(python, fresh=True)
    held = tuple(attempt.__doc__ or "" for attempt in attempts_at(found.level))
    if as_json:
        emit(ProbeReport(found.level, found.means.line, found.python, found.findings, held))
    else:
        say(_format(found, held))
    if wish.said and not found.level.reaches(wish.level):
        raise SandboxError(f"{VARIABLE} is {str(wish.level)!r}: {explain_unreached(wish.level, found)}")


def _format(found: ProbeResult, held: tuple[str, ...]) -> str:
    means = [
        (finding.mean, "had" if finding.had else "missing", finding.told or finding.cause) for finding in found.findings
    ]
    parts = [
        facts([("isolation", describe_means(found, found.means)), ("python", found.python)]),
        table(("mean", "", "what"), means),
        table(("a candidate tried to", ""), [(attempt, "held") for attempt in held]),
    ]
    remedies = [f"  {finding.mean}: {finding.remedy}" for finding in found.findings if not finding.had]
    if remedies:
        parts.append("\n".join(["what to do", *remedies]))
    return "\n\n".join(parts)
