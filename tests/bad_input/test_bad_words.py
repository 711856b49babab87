"""Words of the command line that cannot be meant: one clear message, an exit code, nothing half made, nothing changed."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from command_line import MORE, TASK, Call, campaigns, error_of, write

pytestmark = pytest.mark.integration

WRONG_WORDS = {
    "an unknown task": (["numbr"], "no task is called 'numbr'. Did you mean 'number'?"),
    "a folder that is no task": (["./tasks"], "has no task.toml"),
    "no task": ([], "there is no TASK"),
    "an unknown setting": (["number", "--set", "archive.ilands=2"], "'archive.ilands'. Did you mean 'islands'?"),
    "an unknown section": (["number", "--set", "archiv.islands=2"], "'archiv'. Did you mean 'archive'?"),
    "a setting of the wrong type": (["number", "--set", "archive.islands=many"], "got 'many'"),
    "a setting without a value": (["number", "--set", "archive.islands"], "written key=value, got 'archive.islands'"),
    "a parameter that the task lacks": (["number", "--set", "task.n=3"], "no parameter 'n'"),
    "a negative budget": (["number", "--budget", "-3s"], "got '-3s', but it is not above zero"),
    "a budget of nothing": (["number", "--budget", "0programs"], "not above zero"),
    "a budget without a unit": (["number", "--budget", "60"], "got '60'"),
    "a budget that is no number": (["number", "--budget", "soon"], "got 'soon', but it is not a number and a unit"),
    "a budget without end": (["number", "--budget", "infs"], "not a finite number"),
    "an unknown strategy": (["number", "--strategy", "iland"], "'iland'. Did you mean 'islands'?"),
    "an unknown operator": (
        ["number", "--set", 'operators.names=["tune_literal"]'],
        "'tune_literal'. Did you mean 'tune_literals'?",
    ),
    "an operator that a baseline may not use": (
        ["number", "--strategy", "random", "--set", 'operators.names=["tune_literals"]'],
        "history-free operators only, got 'tune_literals'",
    ),
    "an unknown setting of a strategy": (["number", "--set", "strategy.settings.resorce=1"], "no setting 'resorce'"),
    "an unknown setting of an operator": (
        ["number", "--set", "operators.settings.tune_literals.x=1"],
        "'tune_literals' has no setting",
    ),
    "settings of an operator that is not used": (
        ["number", "--set", "operators.settings.tune_literal.x=1"],
        "'tune_literal', which this campaign does not use. Did you mean 'tune_literals'?",
    ),
    "the task as a setting": (["number", "--set", "task=other"], "the task is an argument"),
    "a budget given twice": (
        ["number", "--budget", "5s", "--budget", "7s"],
        "two budgets count seconds, got '5s' and '7s'",
    ),
    "no judges": (["number", "--workers", "0"], "got 0"),
    "a negative seed": (["number", "--seed", "-1"], "got -1"),
    "an end by the clock": (["number", "--deterministic", "--budget", "5s"], "cannot end by the clock, got"),
    "a name that is a path": (["number", "--name", "../number"], "got '../number'"),
    "more of nothing": (["--continue"], "there is no campaign in"),
    "more of an unknown campaign": (["--continue", "nothing"], "there is no campaign 'nothing'"),
}


@pytest.mark.parametrize(("words", "message"), WRONG_WORDS.values(), ids=WRONG_WORDS)
def test_a_wrong_word_is_one_message_and_makes_nothing(call: Call, home: Path, words: list[str], message: str) -> None:
    """What, got, do this; exit code 1; no workspace is made."""
    result = call("run", *words)
    assert message in error_of(result)
    assert (result.stdout, home.exists()) == ("", False)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "number", "--bdget", "3s"],
        ["run", "number", "--workers", "two"],
        ["run", "number", "other"],
        ["rnu", "number"],
        ["campaign", "replya"],
    ],
)
def test_a_wrong_option_is_a_usage_error(call: Call, home: Path, words: list[str]) -> None:
    """Exit code 2, with where to read on."""
    result = call(*words)
    assert (result.exit_code, result.stdout, home.exists()) == (2, "", False)
    assert "--help" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["other", "--continue", "number", *MORE], "is on the task 'number', got 'other'"),
        (["--continue", "number"], "the budget of campaign 'number' is spent, 3programs: 3 programs"),
        (["number", "--name", "number", *MORE], "there is a campaign 'number' already"),
        (["--continue", "numbr", *MORE], "Did you mean 'number'?"),
        (["--continue", "number", "--strategy", "random", *MORE], "got --strategy"),
        (["--continue", "number", "--seed", "7", *MORE], "got --seed"),
        (["--continue", "number", "--set", "archive.islands=2", *MORE], "cannot change in a campaign that has begun"),
        (["--continue", "number", "--budget", "9programs", "--workers", "0"], "got 0"),
        (["--continue", "number", "--budget", "-1s"], "not above zero"),
    ],
)
def test_what_does_not_fit_a_campaign_leaves_it_as_it_is(
    call: Call, home: Path, finished: str, digest: Callable[[str], str], words: list[str], message: str
) -> None:
    """No event is added."""
    before = digest(finished)
    assert message in error_of(call("run", *words))
    assert (digest(finished), "other.db" in campaigns(home)) == (before, False)


@pytest.mark.parametrize("files", [{"evaluator.py": TASK["evaluator.py"] + "# changed\n"}, {"extra.csv": "1,2\n"}])
def test_a_changed_task_is_another_version(
    call: Call, finished: str, digest: Callable[[str], str], files: Mapping[str, str]
) -> None:
    """Its scores would not compare."""
    before = digest(finished)
    write("number", files)
    assert "has changed since campaign 'number' began" in error_of(call("run", "--continue", *MORE))
    assert digest(finished) == before


def test_a_task_that_is_gone_is_missed(call: Call, finished: str, digest: Callable[[str], str]) -> None:
    """To judge, not to look at what there is."""
    before = digest(finished)
    Path("tasks/number").rename("elsewhere")
    assert "the folder of task 'number' is gone: it was " in error_of(call("run", "--continue", *MORE))
    assert digest(finished) == before
    assert call("run", "./elsewhere", "--continue", *MORE).exit_code == 0


@pytest.mark.parametrize("identity", ["number/first", "number/-1", "number/1.0", "1e0", "number/"])
def test_an_unreadable_program_is_one_message(call: Call, finished: str, identity: str) -> None:
    """With the form that a name has."""
    assert f"a program is named NAME/ID, got {identity!r}" in error_of(call("program", "show", identity))


@pytest.mark.parametrize("number", ["0", "999", "9" * 30])
def test_a_program_that_is_not_there_is_one_message(call: Call, finished: str, number: str) -> None:
    """With those that there are."""
    message = error_of(call("program", "show", f"number/{number}"))
    assert f"campaign 'number' has no record {number}: it has 1 to 4" in message
