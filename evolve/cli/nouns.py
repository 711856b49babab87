"""Groups of commands that are named by a noun.

Invariant: each of them lists when no verb is given."""

from collections.abc import Callable

import click
from click_default_group import DefaultGroup

_GROUP: type[click.Group] = DefaultGroup


def noun(function: Callable[[], None]) -> click.Group:
    """The group `function.__name__`, with the default verb `list`."""
    return click.group(cls=_GROUP, default="list", default_if_no_args=True)(function)
