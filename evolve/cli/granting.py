"""`--devices`: which cores and GPUs a command may use.

Invariant: a command that was told which cores it may use, and everything that it starts, runs on no other ones."""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from evolve.devices import EVERYTHING, Grant, found_gpus, parse
from evolve.devices.processors import usable

Command = TypeVar("Command", bound=Callable[..., Any])


def devices_option(command: Command) -> Command:
    """`--devices`, given to the command as `devices`."""
    told = "What may be used: cpu, cpu:0-3, gpu, gpu:0,1, a GPU's uuid; may be repeated. [default: all of it]"
    return click.option("--devices", multiple=True, metavar="WHICH", help=told)(command)


def granted(words: Sequence[str]) -> Grant:
    """What the words grant; this process is kept to their cores. Raises `ConfigError`. Call it before any process or thread is started, and before it is asked how many
    cores there are."""
    if not words:
        return EVERYTHING
    grant = parse(words, found_gpus(), usable())
    if grant.cores is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, grant.cores)
    return grant
