"""`evolve view`: the pages of a workspace's campaigns, on this machine alone.

Invariant: it listens on the loopback alone, and the address that is printed opens the pages; nothing else does."""

import secrets
import socket
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from evolve.campaign import existing_path, workspace
from evolve.cli.options import debug_option
from evolve.cli.output import say
from evolve.plugins import load
from evolve.types import ConfigError

_LOOPBACK = "127.0.0.1"
_WANTED = ("starlette", "uvicorn", "jinja2", "pygments")
"""The modules that the extra `web` brings."""


@click.command("view")
@click.argument("name", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of 127.0.0.1; without it, a free one.")
@click.option("--edit", is_flag=True, help="Allow what changes something: hints.")
@debug_option
def view(name: str | None, port: int, edit: bool) -> None:
    """Look at campaigns in a browser: a local server that follows them while they run. Ctrl-C ends it."""
    guard, shelf, serving = (_module(part) for part in ("guard", "shelf", "serving"))
    home = workspace()
    named = {Path(name).stem: existing_path(home, name)} if name else {}
    with _listener(port) as listener:
        own = listener.getsockname()[1]
        access = guard.Access(secrets.token_urlsafe(24), guard.addresses(own), edit)
        start = "".join(f"c/{campaign}" for campaign in named)
        say(f"http://{access.addresses[0]}/{start}?token={access.token}")
        serving.serve(listener, shelf.Shelf(home, load(), named), access)


def _module(part: str) -> Any:
    """A module of `evolve.web`, which is there with its extra; raises `ConfigError` without it."""
    try:
        return import_module(f"evolve.web.{part}")
    except ModuleNotFoundError as error:
        if error.name not in _WANTED:
            raise
        raise ConfigError(
            f"the pages need {error.name}, which is not installed. Do: pip install 'evolve[web]'"
        ) from error


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"port {port} of {_LOOPBACK} cannot be used: {error.strerror}. Do: --port with another number, or leave it out"
        ) from error
    listener.listen()
    return listener
