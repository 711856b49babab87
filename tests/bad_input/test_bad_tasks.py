"""Tasks that cannot judge: one clear message, an exit code, and no campaign but for the evidence of a seed that failed."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from command_line import ANSWER, TASK, Call, campaigns, checked, error_of, process, write

pytestmark = pytest.mark.integration

BROKEN_TASKS = {
    "no evaluator": ({"evaluator.py": None}, "there is no file 'evaluator.py'"),
    "an evaluator that does not import": (
        {"evaluator.py": "import no_such_module\n"},
        "does not load: ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "an evaluator that does not parse": ({"evaluator.py": "def evaluate(:\n"}, "does not load: SyntaxError: "),
    "an evaluator that leaves": ({"evaluator.py": "raise SystemExit(3)\n"}, "does not load: SystemExit: 3"),
    "an evaluator without its mark": ({"evaluator.py": "def evaluate(): ...\n"}, "has 0 functions marked @evaluator"),
    "an evaluator of an unknown plugin": (
        {"task.toml": 'schema = 1\nevaluator = { plugin = "near" }\n'},
        "no evaluator is called 'near'",
    ),
    "no seed": ({"seed.py": None}, "there is no file 'seed.py'"),
    "an unknown key": ({"task.toml": "schema = 1\ndeterministc = true\n"}, "Did you mean 'deterministic'?"),
    "no TOML": ({"task.toml": "schema = \n"}, "this is not TOML"),
    "a preload that is missing": (
        {"task.toml": 'schema = 1\n[sandbox]\npreload = ["no_such_module"]\n'},
        "No module named 'no_such_module'",
    ),
}


@pytest.mark.parametrize(("files", "message"), BROKEN_TASKS.values(), ids=BROKEN_TASKS)
def test_a_broken_task_is_one_message_and_makes_nothing(
    call: Call, home: Path, files: Mapping[str, str | None], message: str
) -> None:
    """Found before a campaign is opened."""
    write("number", files)
    result = call("run", "number", "--budget", "3programs", "--workers", "1")
    assert message in error_of(result)
    assert (result.stdout, home.exists()) == ("", False)


BROKEN_SEEDS = {
    "a seed that raises": (
        {"seed.py": "def value():\n    raise ValueError('not me')\n"},
        "crashed: ValueError: not me",
    ),
    "a seed that does not parse": ({"seed.py": "def value(:\n"}, "invalid: SyntaxError: "),
    "a seed that lacks the function": ({"seed.py": "x = 1\n"}, "invalid: "),
    "a seed that is wrong": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return Evaluation.wrong('too small')")},
        "wrong: too small",
    ),
    "an evaluator that raises": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return value / 0")},
        "internal: the evaluator raised ZeroDivisionError: ",
    ),
    "an evaluator that returns NaN": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return Evaluation.ok(float('nan'))")},
        "invalid: the fitness is nan, not a finite number",
    ),
    "an evaluator that returns a text": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return 'good'")},
        "internal: the evaluator returned a str, wanted an Evaluation",
    ),
    "an evaluator whose fitness is a text": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return Evaluation.ok('good')")},
        "internal: the evaluator raised TypeError: a fitness is a number, got 'good'",
    ),
    "an evaluator that forgets an axis": (
        {"task.toml": TASK["task.toml"] + '[[axes]]\nname = "size"\nlow = 0\nhigh = 1\nbins = 2\n'},
        "invalid: no descriptor for the task's axis 'size'",
    ),
}


@pytest.mark.parametrize(("files", "message"), BROKEN_SEEDS.values(), ids=BROKEN_SEEDS)
def test_a_seed_that_fails_its_own_evaluator_is_one_message(
    call: Call, home: Path, digest: Callable[[str], str], files: Mapping[str, str | None], message: str
) -> None:
    """The record is kept as evidence, in a log that is whole."""
    write("number", files)
    message_shown = error_of(call("run", "number", "--budget", "3programs", "--workers", "1"))
    assert "the seed of task 'number' fails its own evaluator" in message_shown
    assert message in message_shown
    assert f"The log of campaign 'number' is kept: {home}" in message_shown
    assert campaigns(home) == ["number.db"]
    assert len(digest("number")) == 64


def test_an_evaluator_that_fails_later_stops_the_campaign(call: Call, home: Path, digest: Callable[[str], str]) -> None:
    """Once only the seed has passed, three times; what had settled is kept, and a mended task is another version."""
    broken = "if value != 5.0:\n        raise KeyError('weights')\n    " + ANSWER
    write("number", {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, broken)})
    result = call("run", "number", "--budget", "100programs", "--workers", "1")
    assert result.exit_code == 1
    warning, message = result.stderr.splitlines(keepends=True)
    assert warning.startswith("evolve: warning: evaluations fail, and no program is to blame")
    checked(message)
    assert "fails on everything but the seed, which passed 3 times meanwhile" in message
    assert "the evaluator raised KeyError: 'weights'" in message
    assert len(digest("number")) == 64
    write("number", TASK)
    assert "has changed since campaign 'number' began" in error_of(call("run", "--continue", "--budget", "200programs"))
    again = call("run", "number", "--budget", "3programs", "--workers", "1")
    assert (again.exit_code, campaigns(home)) == (0, ["number-2.db", "number.db"])


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"evaluator.py": "def setup():\n    return 1 / 0\n\nsetup()\n"}, "in setup"),
        ({"seed.py": "def value():\n    return helped()\n\ndef helped():\n    return 1 / 0\n"}, "in helped"),
    ],
    ids=["evaluator", "seed"],
)
def test_debug_shows_the_traceback(home: Path, files: Mapping[str, str], place: str) -> None:
    """Ours, and that of the task's code, which the message leaves out."""
    write("number", files)
    for option, expected in (("", False), ("--debug", True)):
        words = ["run", "number", "--budget", "3programs", "--workers", "1", *option.split()]
        with process(*words) as running:
            _, errors = running.communicate(timeout=60)
        assert running.returncode == 1
        assert ("Traceback (most recent call last)" in errors, place in errors) == (expected, expected)
        assert "ZeroDivisionError: division by zero" in errors
