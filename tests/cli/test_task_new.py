"""`evolve task new` and `evolve task copy`."""

import json

import pytest

from evolve.task import making


@pytest.mark.parametrize("kind", making.kinds())
def test_a_new_task_runs_on_the_first_try_and_improves(call, home, kind):
    """Thirty programs are judged, and the best is better than the seed."""
    told = call("task", "new", "mine", "--kind", kind)
    assert told.exit_code == 0, told.output
    assert "evolve run tasks/mine --budget 10s" in told.stdout
    ran = call("run", "tasks/mine", "--budget", "30programs", "--json")
    assert ran.exit_code == 0, ran.output
    records = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (records[-1]["event"], records[-1]["programs"]) == ("ended", 30)
    best = min(record["fitness"] for record in records[:-1] if record["outcome"] == "ok")
    assert best < records[0]["fitness"]
    more = call("run", "--continue", "--budget", "35programs")
    assert more.exit_code == 0, more.output
    assert "mine" in call("task", "list").stdout


def test_what_was_made_is_told_as_json(call, home):
    """And a copy, too."""
    made = json.loads(call("task", "new", "mine", "--json").stdout)
    assert made == {
        "task": "tasks/mine",
        "kind": "function",
        "files": ["README.md", "evaluator.py", "seed.py", "task.toml"],
    }
    copied = json.loads(call("task", "copy", "mine", "other", "--json").stdout)
    assert (copied["task"], copied["kind"], copied["files"]) == ("other", "copy", made["files"])


def test_what_is_there_is_not_overwritten(call, home):
    """One line, and exit code 1."""
    call("task", "new", "mine")
    again = call("task", "new", "mine")
    assert again.exit_code == 1
    assert again.stderr.startswith("evolve: error: there is something at 'tasks/mine' already. Do: ")
