"""`evolve plugin check`: what installed plugins promise, tried out.

Invariant: exit code 1 where a check failed, 0 where all passed or were skipped for a reason that is told."""

from dataclasses import asdict
from importlib.metadata import EntryPoint

import click

from evolve.cli.conformance import Finding, findings
from evolve.cli.options import DEBUG, debug_option, json_option
from evolve.cli.output import emit_all, table
from evolve.cli.say import say
from evolve.plugins import BUNDLED, installed
from evolve.types import ConfigError
from evolve.types.suggest import did_you_mean


@click.command("check")
@click.argument("name", required=False)
@json_option
@debug_option
def check_plugins(name: str | None, as_json: bool) -> None:
    """Load plugin NAME, or every plugin, and try out all that it registers.

    Operators, strategies, evaluators and trackers pass the suites of evolve.testing: equal inputs give equal answers, a replay
    rebuilds a strategy, a tracker is told of a rehearsed campaign and leaves nothing open, settings refuse unknown keys, names
    are free. Exit code 1 where something fails.
    """
    points, bundled = _meant(name)
    found = list(findings(points, bundled))
    if as_json:
        emit_all({key: value for key, value in asdict(finding).items() if key != "trace"} for finding in found)
    else:
        say(_report(found))
    context = click.get_current_context()
    failed = [finding for finding in found if finding.verdict == "failed"]
    if context.meta.get(DEBUG):
        for finding in failed:
            say(f"\n{finding.plugin}: {finding.about} {finding.check}\n{finding.trace}", err=True)
    if failed:
        context.exit(1)


def _meant(name: str | None) -> tuple[list[EntryPoint], list[str]]:
    """The installed and the bundled plugins that are to be checked."""
    points = list(installed())
    if name is None:
        return points, list(BUNDLED)
    named = [point for point in points if point.name == name]
    if not named and name not in BUNDLED:
        known = [*BUNDLED, *(point.name for point in points)]
        raise ConfigError(
            f"there is no plugin {name!r}.{did_you_mean(name, known)} Do: install its package (pip install -e .); `evolve plugin list` "
            "shows what there is"
        )
    return named, [] if named else [name]


def _report(found: list[Finding]) -> str:
    """A row for each check, then what failed and what was skipped, in sentences."""
    rows = [(finding.plugin, finding.about, finding.check, finding.verdict) for finding in found]
    told = [
        f"{finding.verdict}: {finding.plugin}, {finding.about}: {finding.message}"
        for finding in found
        if finding.message
    ]
    counts = {
        verdict: sum(finding.verdict == verdict for finding in found) for verdict in ("passed", "failed", "skipped")
    }
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    return "\n".join([table(("plugin", "about", "check", "result"), rows), "", *told, summary or "nothing to check"])
