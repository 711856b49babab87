"""Options of commands that evaluate programs, `--sandbox` and `--devices`, and what they grant on this machine."""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from evolve.cli.output import say
from evolve.devices.inventory import find_gpus, usable
from evolve.devices.leases import EVERYTHING, Grant, parse
from evolve.engine.isolation import LEVELS, VARIABLE, Confinement
from evolve.sandbox.means import Means

_DEVICES = "What may be used: cpu, cpu:0-3, gpu, gpu:0,1, a GPU's uuid; may be repeated. [default: all of it]"
_SANDBOX = f"How candidates must be isolated at least; none: not at all.  [default: ${VARIABLE}, else standard]"
Command = TypeVar("Command", bound=Callable[..., Any])


def sandbox_option(command: Command) -> Command:
    """Adds `--sandbox`, given to the command as `sandbox`."""
    return click.option("--sandbox", type=click.Choice(LEVELS), help=_SANDBOX)(command)


def note_isolation(found: Confinement) -> Means:
    """Returns the means, and prints a note about a level that nobody asked for."""
    if found.unasked:
        say(f"evolve: note: isolation {found.line}", err=True)
    return found.means


def devices_option(command: Command) -> Command:
    """Adds `--devices`, given to the command as `devices`."""
    return click.option("--devices", multiple=True, metavar="WHICH", help=_DEVICES)(command)


def grant_devices(words: Sequence[str]) -> Grant:
    """Returns the devices that the words grant, and keeps this process and everything that it starts to their cores; raises
    `ConfigError`. Call it before any process or thread is started, and before anybody counts cores."""
    if not words:
        return EVERYTHING
    # Every process that is started from here on inherits the cores.
    grant = parse(words, find_gpus(), usable())
    if grant.cores is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, grant.cores)
    return grant
