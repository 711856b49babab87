"""Groups of commands that are named by a noun.

Invariant: each of them lists when no verb is given; a word that is nearly a verb, and no campaign's name, is a misspelt verb."""

import difflib
from collections.abc import Callable, Sequence

import click
from click_default_group import DefaultGroup

from evolve.campaign import campaigns, workspace
from evolve.cli.plugin_commands import PluginGroup, find_commands
from evolve.types.suggest import did_you_mean

_DEFAULT_GROUP: type[click.Group] = DefaultGroup
_NEAR = 0.7


class Noun(_DEFAULT_GROUP, PluginGroup):  # type: ignore[valid-type,misc]
    """Commands under one noun; what follows the noun and is no verb belongs to the verb `list`."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns a verb's command; raises a usage error for a misspelt one."""
        if cmd_name in find_commands(self.prefix):
            return PluginGroup.get_command(self, ctx, cmd_name)
        verbs = self.list_commands(ctx)
        if self._is_misspelt(cmd_name, verbs):
            raise click.UsageError(f"there is no command {cmd_name!r}.{did_you_mean(cmd_name, verbs)}", ctx)
        found: click.Command | None = super().get_command(ctx, cmd_name)
        return found

    def _is_misspelt(self, word: str, verbs: Sequence[str]) -> bool:
        near = difflib.get_close_matches(word, verbs, n=1, cutoff=_NEAR)
        return bool(near) and word not in verbs and word not in {log.stem for log in campaigns(workspace())}


def noun(function: Callable[[], None]) -> click.Group:
    """The group `function.__name__`, with the default verb `list`."""
    return click.group(cls=Noun, default="list", default_if_no_args=True)(function)
