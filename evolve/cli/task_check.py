"""`evolve task check`: whether a task may be trusted, before a campaign is spent on it.

Invariant: exit code 0 says that nothing failed; every problem is told with its remedy."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import click

import evolve.task
from evolve import wording
from evolve.campaign import logs, workspace
from evolve.cli.granting import devices_option, granted
from evolve.cli.isolation import note_isolation, sandbox_option
from evolve.cli.output import debug_option, emit, facts, json_option, table
from evolve.cli.parameters import parameters
from evolve.cli.say import say
from evolve.conformance import Conformance, Finding, check
from evolve.engine.isolation import confine, wanted_level
from evolve.evaluation.machine import usable_cores
from evolve.task.grants import NOTHING_GRANTED, told
from evolve.types import Task

_JUDGES = 2


@click.command("check")
@click.argument("task")
@click.option("--set", "assignments", multiple=True, metavar="task.KEY=VALUE", help="A parameter of the task.")
@sandbox_option
@devices_option
@json_option
@debug_option
def check_task(
    task: str, assignments: tuple[str, ...], sandbox: str | None, devices: tuple[str, ...], as_json: bool
) -> None:
    """Try a task: its seed twice, what it declares, and programs that fail in every common way."""
    grant = granted(devices)
    loaded = evolve.task.load(task, parameters(assignments))
    means = note_isolation(confine(loaded, wanted_level(sandbox), harmless=evolve.task.is_bundled(Path(loaded.folder))))
    found = check(loaded, min(_JUDGES, usable_cores()), means, logs(workspace()), grant, _tell)
    if as_json:
        emit(found)
    else:
        say(_page(loaded, found))
    if not found.passed:
        click.get_current_context().exit(1)


def _tell(part: str) -> None:
    """A check may take a minute: what it does is said as it begins."""
    say(f"trying {part} ...", err=True)


def _alike(finding: Finding) -> tuple[str, ...]:
    """What makes one row of what was not tried, one after the other for one reason; of all others each has its own."""
    return ("", finding.happened) if finding.verdict == "not tried" else (finding.tried,)


def _row(alike: Sequence[Finding]) -> tuple[str, str, str]:
    more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
    return f"{alike[0].tried}{more}", alike[0].verdict, alike[0].happened


def _page(task: Task, found: Conformance) -> str:
    """What was tried, how it ended, what it costs, and what to do."""
    rows = [_row(list(alike)) for _, alike in groupby(found.findings, _alike)]
    parts = [facts(_head(task, found)), table(("tried", "verdict", "what happened"), rows)]
    if found.held_out:
        cases = [
            (line.case, line.outcome, wording.number(line.fitness, task.fitness), wording.seconds(line.seconds))
            for line in found.held_out
        ]
        parts.append(table(("held-out case", "outcome", task.fitness.name, "took"), cases))
    remedies = [f"{finding.tried}: {finding.remedy}" for finding in found.findings if finding.remedy]
    if remedies:
        parts.append("what to do\n" + "\n".join(f"  {remedy}" for remedy in remedies))
    return "\n\n".join([*parts, _verdict(found)])


def _head(task: Task, found: Conformance) -> list[tuple[str, str]]:
    cost = f"{wording.seconds(found.seconds)} for one evaluation, {wording.seconds(found.cpu_seconds)} of CPU in the candidate"
    return [
        ("task", f"{found.task}, version {found.version[:16]}"),
        ("seed", f"{task.fitness.name} {wording.number(found.fitness, task.fitness)}"),
        ("cost", cost),
        ("noise", _noise(found)),
        ("isolation", found.isolation),
        ("grants", told(task.limits) or NOTHING_GRANTED),
    ]


def _noise(found: Conformance) -> str:
    if found.noise is None:
        return "unknown"
    if found.deterministic and found.noise == 0.0:
        return "none, the task is deterministic"
    return f"a standard deviation of {found.noise:.3g} for one measurement"


def _verdict(found: Conformance) -> str:
    counts = [
        f"{count} {verdict}"
        for verdict in ("passed", "warned", "failed", "not tried")
        if (count := sum(finding.verdict == verdict for finding in found.findings))
    ]
    word = "may be used" if found.passed else "is NOT ready"
    return f"{found.task} {word}: {', '.join(counts)}"
