"""`evolve sandbox`: how candidates are kept apart on this machine.

Invariant: what is shown was tried just now."""

import click

from evolve.cli.redteam import redteam


@click.group()
def sandbox() -> None:
    """How well candidates are isolated on this machine."""


sandbox.add_command(redteam)
