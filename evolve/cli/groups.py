"""Groups of commands under one noun, such as `evolve campaign`; the verb `list` is the default."""

import difflib
from collections.abc import Callable

import click
from click_default_group import DefaultGroup

from evolve.campaign import campaigns, workspace
from evolve.cli.plugin_commands import PluginGroup, find_commands
from evolve.types.errors import did_you_mean

_DEFAULT_GROUP: type[click.Group] = DefaultGroup
_NEAR = 0.7


class NounGroup(_DEFAULT_GROUP, PluginGroup):  # type: ignore[valid-type,misc]
    """Commands under one noun; a word behind the noun that is no verb belongs to the verb `list`."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns the verb's command; raises a usage error for a misspelt verb."""
        if cmd_name in find_commands(self.prefix):
            return PluginGroup.get_command(self, ctx, cmd_name)
        verbs = self.list_commands(ctx)
        near = difflib.get_close_matches(cmd_name, verbs, n=1, cutoff=_NEAR)
        # A campaign may be called nearly as a verb is.
        if near and cmd_name not in {*verbs, *(log.stem for log in campaigns(workspace()))}:
            raise click.UsageError(f"there is no command {cmd_name!r}.{did_you_mean(cmd_name, verbs)}", ctx)
        found: click.Command | None = super().get_command(ctx, cmd_name)
        return found


def noun_group(function: Callable[[], None]) -> click.Group:
    """Returns the group `function.__name__` with the default verb `list`."""
    return click.group(cls=NounGroup, default="list", default_if_no_args=True)(function)
