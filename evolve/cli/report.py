"""`evolve report`: what a campaign was asked, what it found and how, in one file that a reader needs nothing else for.

Invariant: a file is replaced only if it is a report, or if the person says so; it is there whole, or as it was."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

import evolve
from evolve import pictures
from evolve.appearing import appearing
from evolve.campaign import Campaign, workspace
from evolve.cli.isolation import sandbox_option
from evolve.cli.output import CELL, brief, debug_option, emit, json_option, one_line, say
from evolve.engine.isolation import confine, wanted_level
from evolve.pages import Findings, Moment, Picture, findings, html, markdown, report_of
from evolve.plugins import load
from evolve.types import ConfigError, EvolveError

MARK = "<!-- evolve report -->"
"""Stands in the first lines of every report."""
_RENDERERS = {"html": html, "markdown": markdown}
_SUFFIXES = {"html": "html", "markdown": "md"}
_STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Reported:
    """A report as values; `file` is empty where none was written."""

    event: str
    file: str
    findings: Findings


@click.command("report")
@click.argument("name", required=False)
@click.option("-o", "--output", metavar="FILE", help="Where to; - is stdout.  [default: NAME-report.html]")
@click.option(
    "--format", "form", type=click.Choice(list(_RENDERERS)), help="What to write.  [default: as FILE ends, else html]"
)
@click.option("--force", is_flag=True, help="Replace a file that is no report.")
@click.option("--no-picture", is_flag=True, help="Leave out the picture that the task draws.")
@sandbox_option
@json_option
@debug_option
def report(
    name: str | None,
    output: str | None,
    form: str | None,
    force: bool,
    no_picture: bool,
    sandbox: str | None,
    as_json: bool,
) -> None:
    """Write what a campaign found, and how, into one file: HTML that needs no network, or Markdown.

    NAME is a campaign or the path of its log; without it, the one written last. A campaign that runs is reported as it is now. With --json its values are
    printed, and a file is written only with -o.
    """
    with Campaign.open(name, load(), workspace()) as campaign:
        chosen = form or ("markdown" if output and output.endswith(".md") else "html")
        target = _target(campaign, output, chosen, as_json=as_json)
        if target is not None:
            _check(target, force=force)
        found = findings(campaign, _moment())
        if target is not None or output == _STDOUT:
            picture = Picture() if no_picture or found.overview.best is None else _picture(campaign, sandbox, found)
            text = _RENDERERS[chosen](report_of(campaign, found, picture), MARK)
            _write(target, text)
        if as_json:
            emit(Reported("report", str(target or ""), found))
        elif target is not None:
            say(f"report  {target} ({target.stat().st_size / 1000:,.0f} kB)")


def _target(campaign: Campaign, output: str | None, form: str, *, as_json: bool) -> Path | None:
    """The file to write; None for stdout, and where only values are wanted. Raises `ConfigError`."""
    if output == _STDOUT:
        if as_json:
            raise ConfigError("--json and -o - both want stdout. Do: name a file, or leave out one of them")
        return None
    if output is None:
        return None if as_json else Path(f"{one_line(campaign.name)}-report.{_SUFFIXES[form]}")
    return Path(output)


def _check(target: Path, *, force: bool) -> None:
    """Raises `ConfigError` for what must not be replaced."""
    if target.is_dir():
        raise ConfigError(f"{target} is a folder. Do: name a file in it, -o {target / 'report.html'}")
    if target.exists() and not force and not _is_report(target):
        raise ConfigError(
            f"{target} is there already, and is no report. Do: name another file (-o), or replace it with --force"
        )


def _is_report(target: Path) -> bool:
    try:
        with target.open("rb") as file:
            return MARK.encode() in file.read(100)
    except OSError as error:
        raise ConfigError(f"{target} cannot be read: {error.strerror}. Do: name another file with -o") from error


def _moment() -> Moment:
    now = datetime.now(UTC)
    return Moment(now.strftime("%Y-%m-%d %H:%M UTC"), now.timestamp(), evolve.__version__)


def _picture(campaign: Campaign, sandbox: str | None, found: Findings) -> Picture:
    """What the task draws of the best program; a report does without where that fails."""
    assert found.overview.best is not None, "there is something to draw"
    try:
        means = confine(campaign.task, wanted_level(sandbox), harmless=True).means
        if not pictures.drawable(campaign.task, means):
            return Picture()
        return Picture(svg=pictures.drawn(campaign, found.overview.best.record, means))
    except EvolveError as error:
        return Picture(why=brief(one_line(str(error)), CELL))


def _write(target: Path | None, text: str) -> None:
    """Prints a text exactly, or puts it into a file that is there whole."""
    data = text.encode("utf-8", "replace")
    if target is None:
        click.echo(data, nl=False)
        return
    try:
        with appearing(target, replace=True) as made:
            made.write_bytes(data)
    except OSError as error:
        raise ConfigError(
            f"the report cannot be written to {target}: {error.strerror}. Do: name another file with -o"
        ) from error
