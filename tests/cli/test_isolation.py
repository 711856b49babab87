"""From what a person wants to the means of a command."""

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import Result

import evolve.task
from evolve.cli import COMMANDS
from evolve.cli import evolve as commands
from evolve.engine import isolation
from evolve.engine.isolation import VARIABLE, WantedLevel, confine, confine_campaign, wanted_level
from evolve.hookspecs import OperatorEntry
from evolve.sandbox.machine.host import Host
from evolve.sandbox.machine.offer import ProbeResult, offer
from evolve.sandbox.means import NOTHING, PLAIN, Means
from evolve.types import ConfigError, Level, SandboxError, Task
from tests.written import Written

EVOLVE = Path(__file__).parents[2] / "evolve"
MACHINES = {
    Level.STRICT: Host("linux", "x86_64", landlock=7, seccomp=True),
    Level.STANDARD: Host("linux", "x86_64", namespaces="unshare: Operation not permitted", landlock=7, seccomp=True),
    Level.REDUCED: Host("darwin", "arm64", namespaces="this system has none", landlock_error="this system has none"),
}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[Level], Means]:
    """Has the probe find a machine of a level; its means. Nobody has said which level is wanted."""
    monkeypatch.delenv(VARIABLE)

    def found(level: Level) -> Means:
        offered = offer(MACHINES[level])
        means = PLAIN if level is Level.REDUCED else offered.means
        monkeypatch.setattr(isolation, "probe", lambda python: ProbeResult(python, means, offered.findings))
        return means

    return found


@pytest.fixture
def bundled() -> Task:
    """A task that ships with evolve."""
    return evolve.task.load("circle_packing")


@pytest.mark.parametrize(
    ("option", "variable", "setting", "wish"),
    [
        ("none", "strict", Level.REDUCED, WantedLevel(Level.NONE, said=True)),
        (None, "strict", Level.REDUCED, WantedLevel(Level.STRICT, said=True)),
        (None, "standard", Level.STRICT, WantedLevel(Level.STANDARD, said=True)),
        (None, "", Level.REDUCED, WantedLevel(Level.REDUCED, said=True)),
        (None, "", Level.STANDARD, WantedLevel()),
    ],
)
def test_the_option_comes_before_the_variable_and_that_before_the_setting(
    option: str | None, variable: str, setting: Level, wish: WantedLevel
) -> None:
    """Without any of them it is `standard`, and nobody has said so."""
    assert wanted_level(option, setting, {VARIABLE: variable}) == wish


def test_a_variable_that_names_no_level_is_an_error() -> None:
    """It is never taken for the default."""
    with pytest.raises(
        ConfigError, match=r"EVOLVE_SANDBOX is 'stric', which is no level.* 'strict'.* Try: set it to one"
    ):
        wanted_level(None, Level.STANDARD, {VARIABLE: "stric"})


@pytest.mark.parametrize("level", list(MACHINES))
def test_the_best_is_taken_and_told(machine: Callable[[Level], Means], circle_task: Task, level: Level) -> None:
    """Where less was wanted, too."""
    means = machine(level)
    found = confine(circle_task, WantedLevel(Level.REDUCED, said=True))
    assert (found.means, found.line.startswith(means.line)) == (means, True)
    assert ("To get strict: " in found.line) == (level is not Level.STRICT)


def test_none_needs_no_probe(machine: Callable[[Level], Means], circle_task: Task) -> None:
    """It is exactly none on any machine."""
    assert confine(circle_task, WantedLevel(Level.NONE, said=True)).means == NOTHING


@pytest.mark.parametrize(
    ("wish", "harmless", "runs"),
    [
        (WantedLevel(), True, True),
        (WantedLevel(), False, False),
        (WantedLevel(Level.STANDARD, said=True), True, False),
        (WantedLevel(Level.STRICT, said=True), True, False),
        (WantedLevel(Level.REDUCED, said=True), False, True),
    ],
)
def test_what_runs_where_there_is_nothing_but_reduced(
    machine: Callable[[Level], Means], bundled: Task, wish: WantedLevel, harmless: bool, runs: bool
) -> None:
    """What no model wrote, or what a person wants there; whoever has said more is not given less."""
    machine(Level.REDUCED)
    if not runs:
        with pytest.raises(
            SandboxError,
            match=r"reaches 'reduced': no namespaces and seccomp and landlock \(only Linux has it\).*could read the files",
        ):
            confine(bundled, wish, harmless=harmless)
        return
    found = confine(bundled, wish, harmless=harmless)
    assert (found.means, found.unasked) == (PLAIN, harmless)


def test_nothing_is_waived_above_reduced(machine: Callable[[Level], Means], bundled: Task) -> None:
    """A wish for strict is one."""
    machine(Level.STANDARD)
    with pytest.raises(SandboxError, match=r"at least at 'strict', and this machine reaches 'standard'"):
        confine(bundled, WantedLevel(Level.STRICT, said=True), harmless=True)
    assert confine(bundled, WantedLevel(), harmless=True).unasked is False


@pytest.mark.integration
def test_a_task_with_a_python_that_cannot_be_used_is_told_so(circle_task: Task) -> None:
    """It is the task's error, and not the machine's."""
    with pytest.raises(evolve.types.TaskError, match="cannot be run: No such file"):
        confine(replace(circle_task, python="/nowhere/python"), WantedLevel())


def test_a_campaign_goes_on_at_no_less_than_it_had(machine: Callable[[Level], Means], tmp_path: Path) -> None:
    """Neither on a weaker machine nor because somebody asks for it; at more it does."""
    with Written(tmp_path).campaign as campaign:
        with campaign.log.transaction():
            campaign.state.reached.add("standard: landlock 7, seccomp")
        machine(Level.REDUCED)
        with pytest.raises(
            SandboxError,
            match=r"evaluated at the isolation level 'standard'.*at 'reduced' \(no namespaces and seccomp and landlock \(only Linux",
        ):
            confine_campaign(campaign, WantedLevel(Level.REDUCED, said=True))
        with pytest.raises(SandboxError, match=r"at 'none' \(--sandbox none\)"):
            confine_campaign(campaign, WantedLevel(Level.NONE, said=True))
        for level in (Level.STANDARD, Level.STRICT):
            means = machine(level)
            assert confine_campaign(campaign, WantedLevel(Level.REDUCED, said=True)).means == means


def test_a_campaign_with_a_model_is_not_harmless(bundled: Task) -> None:
    """Nor is one on somebody's own task."""
    plugins = evolve.plugins.load()
    names = ("tune_literals", "mutate_ast")
    assert isolation.is_harmless(bundled, names, plugins)
    assert not isolation.is_harmless(replace(bundled, folder="/elsewhere/circle_packing"), names, plugins)
    tuned = plugins.operators["tune_literals"]
    entry: OperatorEntry = replace(tuned.entry, needs_model=True)
    plugins.operators["tune_literals"] = replace(tuned, entry=entry)
    assert not isolation.is_harmless(bundled, names, plugins)


# --- no command forgets


def judging() -> Iterator[tuple[str, ast.Call]]:
    """Every place in the engine where judges are started, but for the definition."""
    for path in sorted(EVOLVE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "LocalExecutor":
                yield f"{path.relative_to(EVOLVE)}:{node.lineno}", node


def test_whoever_starts_judges_says_by_which_means() -> None:
    """The default is for tests and for those who use the library."""
    found = dict(judging())
    assert found
    assert [place for place, call in found.items() if "means" not in {word.arg for word in call.keywords}] == []


def option_of(words: str) -> bool:
    """Whether a command has `--sandbox`."""
    noun, _, verb = words.partition(" ")
    command = commands.get_command(click.Context(commands), noun)
    assert command is not None
    inner = command.commands[verb] if isinstance(command, click.Group) else command
    return "--sandbox" in {option for parameter in inner.params for option in parameter.opts}


@pytest.mark.parametrize(
    "words",
    ["run", "program evaluate", "program add", "task check", "campaign rejudge"],
)
def test_every_command_that_judges_takes_the_level(words: str) -> None:
    """By the same option."""
    assert words.partition(" ")[0] in COMMANDS
    assert option_of(words)


# --- from the command line to the record


def lines(result: Result) -> list[Mapping[str, object]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.integration
def test_what_is_asked_for_is_recorded_and_shown(call: Callable[..., Result], home: Path) -> None:
    """With every record, and in the settings of the campaign."""
    ran = call("run", "circle_packing", "--budget", "2programs", "--workers", "1", "--sandbox", "none", "--json")
    assert ran.exit_code == 0, ran.output
    assert {line["isolation"] for line in lines(ran)} == {NOTHING.line}
    assert f"\nisolation {NOTHING.line}\n" in ran.stderr
    assert '\n  sandbox = "none"\n' in call("campaign", "show").stdout


@pytest.mark.integration
def test_a_run_at_more_binds_those_that_follow(call: Callable[..., Result], home: Path) -> None:
    """The level of a campaign may rise, and then it stays."""
    for budget, level, code in (("2programs", "none", 0), ("3programs", "reduced", 0), ("4programs", "none", 1)):
        more = ("run", "circle_packing") if level == "none" and not code else ("run", "--continue")
        ran = call(*more, "--budget", budget, "--workers", "1", "--sandbox", level)
        assert ran.exit_code == code, ran.output
    assert "here it would go on at 'none' (--sandbox none)" in ran.stderr


def test_a_level_that_there_is_not_is_a_wrong_option(call: Callable[..., Result]) -> None:
    """With those that there are."""
    refused = call("run", "circle_packing", "--sandbox", "total")
    assert (refused.exit_code, "'strict', 'standard', 'reduced', 'none'" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "number", "--budget", "2programs"),
        ("run", "number", "--dry-run"),
        ("task", "check", "number"),
        ("program", "evaluate", "tasks/number/seed.py", "--task", "number"),
    ],
)
def test_nothing_is_judged_below_the_level_that_is_wanted(
    call: Callable[..., Result], home: Path, machine: Callable[[Level], Means], words: tuple[str, ...]
) -> None:
    """A task of one's own, on a machine with `reduced` alone: nothing is made."""
    machine(Level.REDUCED)
    assert call("task", "new", "number").exit_code == 0
    refused = call(*words)
    assert (refused.exit_code, "at least at 'standard', and this machine reaches 'reduced'" in refused.stderr) == (
        1,
        True,
    )
    assert not (home / "archive").exists()
