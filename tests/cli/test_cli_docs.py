"""The page about the command line names everything that there is."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from evolve.cli import evolve

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yields every command, bundled plugins' included, with its words."""
    yield from _within("evolve", evolve)


def _within(words: str, group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{words} {name}", command
        if isinstance(command, click.Group):
            yield from _within(f"{words} {name}", command)


def section(words: str) -> str:
    """The text under the heading of a command, up to the next heading."""
    found = re.search(rf"^##+ {words}$(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/cli.md has no heading for `{words}`"
    return found[1]


@pytest.mark.parametrize(("words", "command"), list(commands()))
def test_every_command_and_option_is_on_the_page(words, command):
    """Under a heading of its own, with an example of every command that does something."""
    text = section(words)
    for option in command.params:
        for name in (*option.opts, *option.secondary_opts):
            shared = name in ("--json", "--debug") and f"`{name}`" in PAGE
            assert shared or not name.startswith("--") or f"`{name}`" in text, f"{name} of `{words}` is not on the page"
    if not isinstance(command, click.Group):
        assert f"\n{words}" in text


def test_the_page_names_no_option_that_there_is_not():
    """Every option in a table belongs to a command."""
    known = {
        name for _, command in commands() for option in command.params for name in option.opts + option.secondary_opts
    }
    assert set(re.findall(r"^\| `(--[a-z-]+)`", PAGE, re.MULTILINE)) <= known
