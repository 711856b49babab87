"""The group of all commands: what it lists, loads and refuses."""

from importlib.metadata import EntryPoint

import click
import pytest

from evolve import cli


@click.command()
def greet() -> None:
    """A third party's command."""
    click.echo("hello")


NO_COMMAND = 7


@pytest.fixture
def third_party(monkeypatch):
    """Entry points of other packages: a command, a thing that is none, and a module that there is not."""
    here = __name__
    points = [
        EntryPoint("greet", f"{here}:greet", cli.GROUP),
        EntryPoint("seven", f"{here}:NO_COMMAND", cli.GROUP),
        EntryPoint("gone", "no_such_module_anywhere:command", cli.GROUP),
        EntryPoint("run", f"{here}:greet", cli.GROUP),
    ]
    monkeypatch.setattr(cli, "entry_points", lambda group: points if group == cli.GROUP else ())


def test_help_lists_every_command_with_a_line(call):
    """In their order."""
    result = call("--help")
    assert result.exit_code == 0
    places = [result.output.index(f"\n  {name} ") for name in cli.COMMANDS]
    assert sorted(places) == places


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(call, name):
    """Its module imports, and its text is there."""
    result = call(name, "--help")
    assert result.exit_code == 0
    assert f"Usage: evolve {name}" in result.output


def test_the_version_is_told(call):
    """That of the package."""
    assert call("--version").output == "evolve 0.1.0\n"


def test_an_unknown_command_is_a_usage_error_with_a_suggestion(call):
    """Exit code 2, as for a wrong option."""
    result = call("campain")
    assert result.exit_code == 2
    assert "there is no command 'campain'. Did you mean 'campaign'?" in result.stderr


def test_a_third_partys_command_is_listed_and_runs(call, third_party):
    """It is loaded when it is called."""
    assert "greet" in call("--help").output
    assert call("greet").output == "hello\n"


def test_a_bundled_command_cannot_be_replaced(call, third_party):
    """The name is taken."""
    assert "Search for better programs" in call("run", "--help").output
    assert call("--help").output.count("\n  run ") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("seven", "the command 'seven' is test_commands:NO_COMMAND, a int, and no click command"),
        ("gone", "plugin 'gone' raised ModuleNotFoundError"),
    ],
)
def test_a_broken_third_party_command_is_an_error_that_names_it(call, third_party, name, message):
    """One line, and only when it is called."""
    result = call(name)
    assert result.exit_code == 1
    assert result.stderr.startswith("evolve: error: ")
    assert message in result.stderr
