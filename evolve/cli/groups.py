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
        """Returns the verb's command, and that of `list` for a word that is no verb."""
        # The default group would take a plugin's verb for an argument of `list`.
        if cmd_name in find_commands(self.prefix):
            return PluginGroup.get_command(self, ctx, cmd_name)
        found: click.Command | None = super().get_command(ctx, cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Returns the verb's command with its arguments; raises a usage error for a verb that there is not."""
        word, verbs = args[0], self.list_commands(ctx)
        if word not in verbs and not word.startswith("-") and self._is_meant_as_verb(args, verbs):
            raise click.UsageError(f"there is no command {word!r}.{did_you_mean(word, verbs)}", ctx)
        resolved: tuple[str | None, click.Command | None, list[str]] = super().resolve_command(ctx, args)
        return resolved

    @staticmethod
    def _is_meant_as_verb(args: list[str], verbs: list[str]) -> bool:
        # No `list` takes two words, so that the first of two is no name of a campaign.
        if len(args) > 1 and not args[1].startswith("-"):
            return True
        # A campaign may be called nearly as a verb is.
        near = difflib.get_close_matches(args[0], verbs, n=1, cutoff=_NEAR)
        return bool(near) and args[0] not in {log.stem for log in campaigns(workspace())}


def noun_group(function: Callable[[], None]) -> click.Group:
    """Returns the group `function.__name__` with the default verb `list`."""
    return click.group(cls=NounGroup, default="list", default_if_no_args=True)(function)
