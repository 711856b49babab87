"""Options that all commands share. `evolve --help` imports this module, which therefore imports nothing but click."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

DEBUG = "evolve.debug"
"""The key in `click.Context.meta` of the wish for tracebacks."""

Command = TypeVar("Command", bound=Callable[..., Any])


def _set_debug(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted or os.environ.get("EVOLVE_DEBUG", "") not in ("", "0"):
        context.meta[DEBUG] = True


def debug_option(command: Command) -> Command:
    """Adds `--debug`: an error comes with its traceback, as it does where `EVOLVE_DEBUG` is set."""
    return click.option(
        "--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show the traceback of an error."
    )(command)


def json_option(command: Command) -> Command:
    """Adds `--json`, given to the command as `as_json`, and `--debug`."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object per line on stdout, nothing else.")(
        debug_option(command)
    )
