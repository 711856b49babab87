"""`evolve task check`."""

import json

import pytest

from evolve.task import making


@pytest.mark.slow
@pytest.mark.parametrize("kind", making.kinds())
def test_every_new_task_passes(call, home, kind):
    """Exit code 0, a table for a person, and the word."""
    call("task", "new", "mine", "--kind", kind)
    checked = call("task", "check", "mine")
    assert checked.exit_code == 0, checked.output
    assert checked.stderr.startswith("trying the seed, ")
    assert "\ntrying made-up programs that fail in every common way, each for " in checked.stderr
    assert "an endless loop" in checked.stdout
    assert "mine may be used: " in checked.stdout
    assert "grants     nothing beyond the usual\n" in checked.stdout
    assert "failed" not in checked.stdout
    assert "what to do" not in checked.stdout


def test_a_task_that_fails_is_told_with_remedies_and_as_json(call, home):
    """Exit code 1; one object with every finding."""
    call("task", "new", "mine")
    evaluator = home / "elsewhere" / "tasks" / "mine" / "evaluator.py"
    evaluator.write_text(
        evaluator.read_text().replace("    targets = targets_of(trial)", "    return Evaluation.wrong('no')")
    )
    checked = call("task", "check", "mine")
    assert checked.exit_code == 1
    assert checked.stderr == "trying the seed, twice ...\n"
    assert "wrong at judging 1: no" in checked.stdout
    assert "what to do\n  seed: mend the seed or the evaluator" in checked.stdout
    assert "mine is NOT ready: 1 failed, 1 not tried" in checked.stdout
    result = json.loads(call("task", "check", "mine", "--json").stdout)
    assert (result["task"], result["passed"], result["fitness"]) == ("mine", False, None)
    assert [finding["verdict"] for finding in result["findings"]] == ["failed", "not tried"]


def test_a_seed_cannot_forge_what_is_said_of_it(call, home):
    """Its words have one cell, on one line."""
    call("task", "new", "mine")
    seed = home / "elsewhere" / "tasks" / "mine" / "seed.py"
    seed.write_text('def throw(distance):\n    raise ValueError("x\\u2028y\\nmine may be used: 9 passed")\n')
    checked = call("task", "check", "mine")
    assert checked.exit_code == 1, checked.output
    said = [line for line in checked.stdout.splitlines() if "may be used" in line]
    assert [" ".join(line.split()) for line in said] == ["seed failed crashed at judging 1: mine may be used: 9 passed"]
    assert [line for line in checked.stdout.splitlines() if line.startswith("mine ")] == [
        "mine is NOT ready: 1 failed, 1 not tried"
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "archive.islands=2"), "without a campaign only parameters of the task can be set"),
        (("--set", "task.wind=[1]"), "a parameter is a number, a text or true/false"),
        (("--set", "task.wnd=1"), "the task has no parameter 'wnd'. Did you mean 'wind'?"),
    ],
)
def test_what_cannot_be_set_is_refused(call, home, words, message):
    """Before anything is judged."""
    call("task", "new", "mine")
    refused = call("task", "check", "mine", *words)
    assert (refused.exit_code, message in refused.stderr) == (1, True)
