"""As if a machine had less than it has, so that what holds on others can be tried on this one.

Invariant: means are only taken away, and what is left is never called more than it is."""

from collections.abc import Sequence
from dataclasses import replace

import click

from evolve.sandbox.means import PLAIN, Means
from evolve.types import Level

_WAYS = "landlock=VERSION, namespaces=no, cgroup=no"


def lessened(means: Means, pretended: Sequence[str]) -> Means:
    """These means without what is named; raises `click.UsageError` for what cannot be taken away. Without namespaces and Landlock nothing but
    the plain box is left, as on a machine that has neither."""
    for one in pretended:
        means = _without(means, one)
    return PLAIN if pretended and means.level is Level.REDUCED else means


def _without(means: Means, one: str) -> Means:
    mean, _, value = one.partition("=")
    if mean == "landlock" and value.isascii() and value.isdecimal():
        if int(value) > means.landlock:
            raise click.UsageError(
                f"--pretend {one}: this machine has version {means.landlock} of Landlock, and not more"
            )
        return replace(means, landlock=int(value))
    if one == "namespaces=no":
        return replace(means, namespaces=False)
    if one == "cgroup=no":
        return replace(means, cgroup="")
    raise click.UsageError(f"--pretend {one}: not one of {_WAYS}")
