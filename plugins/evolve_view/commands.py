"""Commands `evolve view` and `evolve report`.

The server listens on the loopback alone, and the address that is printed opens the pages; nothing else does. A file is replaced only if it is a report,
or if the person says so; it is there whole, or as it was."""

import secrets
import socket
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from evolve import pictures
from evolve.campaign import Campaign, existing_path, workspace
from evolve.commands import (
    CELL,
    atomic_write,
    brief,
    choose_isolation,
    confine,
    debug_option,
    load_plugins,
    one_line,
    sandbox_option,
    say,
)
from evolve.types import ConfigError, EvolveError
from evolve_view.report import MARK, TaskPicture, render_report

_LOOPBACK = "127.0.0.1"
_WEB = ("starlette", "uvicorn", "h11")
"""Modules that the extra `web` brings."""
_STDOUT = "-"


@click.command("view")
@click.argument("name", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of 127.0.0.1; without it, a free one.")
@debug_option
def view(name: str | None, port: int) -> None:
    """Look at campaigns in a browser: a local server that follows them while they run. Ctrl-C ends it."""
    guard, open_campaigns, serving = (_import_web(part) for part in ("guard", "open_campaigns", "serving"))
    home = workspace()
    named = {Path(name).stem: existing_path(home, name)} if name else {}
    with _listen(port) as listener:
        own = listener.getsockname()[1]
        access = guard.Access(secrets.token_urlsafe(24), guard.addresses(own))
        start = "".join(f"c/{campaign}" for campaign in named)
        say(f"http://{access.addresses[0]}/{start}?token={access.token}")
        say(f"all campaigns of {home}; Ctrl-C ends the server", err=True)
        serving.serve(listener, open_campaigns.OpenCampaigns(home, load_plugins(), named), access)


def _import_web(part: str) -> Any:
    """Imports a module of this package that needs the extra `web`; raises `ConfigError` without it."""
    try:
        return import_module(f"evolve_view.{part}")
    except ModuleNotFoundError as error:
        if error.name not in _WEB:
            raise
        raise ConfigError(
            f"the pages need {error.name}, which is not installed. Try: pip install 'evolve[web]'"
        ) from error


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"port {port} of {_LOOPBACK} cannot be used: {error.strerror}. Try: --port with another number, or leave it out"
        ) from error
    listener.listen()
    return listener


@click.command("report")
@click.argument("name", required=False)
@click.option("-o", "--output", metavar="FILE", help="Where to; - is stdout.  [default: NAME-report.html]")
@click.option("--force", is_flag=True, help="Replace a file that is no report.")
@click.option("--no-picture", is_flag=True, help="Leave out the picture that the task draws.")
@sandbox_option
@debug_option
def report(name: str | None, output: str | None, force: bool, no_picture: bool, sandbox: str | None) -> None:
    """Write what a campaign found into one HTML file, which needs no network.

    NAME is a campaign or the path of its log; without it, the one written last. A campaign that runs is reported as it is now.
    """
    with Campaign.open(name, load_plugins(), workspace()) as campaign:
        target = None if output == _STDOUT else Path(output or f"{one_line(campaign.name)}-report.html")
        if target is not None:
            _check(target, force=force)
        picture = TaskPicture() if no_picture else _draw_best(campaign, sandbox)
        _write(target, render_report(campaign, datetime.now(UTC), picture))
        if target is not None:
            say(f"report  {target} ({target.stat().st_size / 1000:,.0f} kB)")


def _check(target: Path, *, force: bool) -> None:
    """Raises `ConfigError` for what must not be replaced."""
    if target.is_dir():
        raise ConfigError(f"{target} is a folder. Try: name a file in it, -o {target / 'report.html'}")
    if target.exists() and not force and not _is_report(target):
        raise ConfigError(
            f"{target} is there already, and is no report. Try: name another file (-o), or replace it with --force"
        )


def _is_report(target: Path) -> bool:
    try:
        with target.open("rb") as file:
            return MARK.encode() in file.read(100)
    except OSError as error:
        raise ConfigError(f"{target} cannot be read: {error.strerror}. Try: name another file with -o") from error


def _draw_best(campaign: Campaign, sandbox: str | None) -> TaskPicture:
    """Draws the best program as the task does; a report does without where that fails."""
    best = campaign.state.archive.best
    if best is None:
        return TaskPicture()
    try:
        means = confine(campaign.task, choose_isolation(sandbox), harmless=True).means
        if not pictures.drawable(campaign.task, means):
            return TaskPicture()
        return TaskPicture(svg=pictures.picture(campaign.task, pictures.drawing_of(campaign, best.record), means))
    except EvolveError as error:
        return TaskPicture(why=brief(one_line(str(error)), CELL))


def _write(target: Path | None, text: str) -> None:
    """Prints a text exactly, or puts it into a file that is there whole."""
    data = text.encode("utf-8", "replace")
    if target is None:
        click.echo(data, nl=False)
        return
    try:
        with atomic_write(target, replace=True) as made:
            made.write_bytes(data)
    except OSError as error:
        raise ConfigError(
            f"the report cannot be written to {target}: {error.strerror}. Try: name another file with -o"
        ) from error
