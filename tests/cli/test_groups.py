"""Groups of commands, and commands of plugins."""

import os
from importlib.metadata import EntryPoint

import click
import pytest

from evolve import cli
from evolve.cli import plugin_commands


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("campaign", "lst"), "list"), (("program", "shwo", "best"), "show"), (("task", "chek"), "check")],
)
def test_a_misspelt_verb_is_told_as_one(call, words, meant):
    """And is no name of a campaign."""
    result = call(*words)
    assert result.exit_code == 2
    assert f"there is no command {words[1]!r}. Did you mean {meant!r}?" in result.stderr


@pytest.mark.parametrize("noun", ["campaign", "program", "task", "model", "plugin"])
def test_two_words_without_a_verb_are_told_as_an_unknown_command(call, noun):
    """No `list` takes a second word."""
    result = call(noun, "foo", "bar")
    assert result.exit_code == 2
    assert "there is no command 'foo'. Known: " in result.stderr


def test_a_campaign_may_be_called_nearly_like_a_verb(call, short):
    """Then it is meant."""
    (short / "archive" / "campaigns" / "number.db").rename(short / "archive" / "campaigns" / "lists.db")
    assert call("program", "lists").exit_code == 0


def test_what_is_no_verb_belongs_to_list(call, short):
    """The default verb."""
    assert call("program", "number").stdout == call("program", "list", "number").stdout


@click.command()
def greet() -> None:
    """A third party's command."""
    click.echo("hello")


NO_COMMAND = 7


@pytest.fixture
def third_party(monkeypatch):
    """Entry points of other packages: a command, a thing that is none, and a module that there is not."""
    here = __name__
    named = {
        "greet": f"{here}:greet",
        "seven": f"{here}:NO_COMMAND",
        "gone": "no_such_module_anywhere:command",
        "run": f"{here}:greet",
        "program.greet": f"{here}:greet",
        "program.seven": f"{here}:NO_COMMAND",
        "program.show": f"{here}:greet",
        "unknown.greet": f"{here}:greet",
    }
    points = [EntryPoint(name, reference, "evolve.commands") for name, reference in named.items()]
    monkeypatch.setattr(plugin_commands, "entry_points", lambda group: points if group == "evolve.commands" else ())


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
    assert "  greet     A third party's command." in call("--help").output
    assert call("greet").output == "hello\n"


def test_a_third_party_adds_to_a_group(call, third_party):
    """By a name with a dot, beside the commands that the group has."""
    help = call("program", "--help").output
    assert "  greet       A third party's command." in help
    assert f"  seven       ({__name__}:NO_COMMAND)" in help
    assert call("program", "greet").output == "hello\n"
    assert "there is no command 'greeet'. Did you mean 'greet'?" in call("program", "greeet").stderr
    assert "is no click command" not in call("program", "show", "--help").output
    assert "[NAME/]ID" in call("program", "show", "--help").output


def test_help_imports_no_plugin(call, monkeypatch, tmp_path):
    """The line of a command is read from its source; a module that does not parse is named as it is."""
    package = tmp_path / "loud_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "commands.py").write_text('def shout():\n    """Shout once. And again."""\n')
    (package / "wrong.py").write_text("def shout(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    points = [
        EntryPoint("shout", "loud_package.commands:shout", "evolve.commands"),
        EntryPoint("other", "loud_package:other", "evolve.commands"),
        EntryPoint("wrong", "loud_package.wrong:shout", "evolve.commands"),
    ]
    assert [plugin_commands.read_summary(point) for point in points] == [
        "Shout once.",
        "(loud_package:other)",
        "(loud_package.wrong:shout)",
    ]


def test_a_bundled_command_cannot_be_replaced(call, third_party):
    """The name is taken."""
    assert "Search for better programs" in call("run", "--help").output
    assert call("--help").output.count("\n  run ") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("seven", "the command 'seven' is test_groups:NO_COMMAND, a int, and no click command"),
        ("gone", "plugin 'gone' raised ModuleNotFoundError"),
        ("program seven", "the command 'program.seven' is test_groups:NO_COMMAND, a int, and no click command"),
    ],
)
def test_a_broken_third_party_command_is_an_error_that_names_it(call, third_party, name, message):
    """One line, and only when it is called."""
    result = call(*name.split())
    assert result.exit_code == 1
    assert result.stderr.startswith("evolve: error: ")
    assert message in result.stderr


def test_a_workspace_can_be_named_before_the_command(call, short, tmp_path, monkeypatch):
    """It comes before the variable, and holds for what the command starts."""
    monkeypatch.setenv("EVOLVE_HOME", str(tmp_path / "empty"))
    assert "number" in call("--workspace", str(short), "campaign", "list").stdout
    assert os.environ["EVOLVE_HOME"] == str(short)
