"""Commands on a further task of a folder, with real judges."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

EVALUATOR = """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(-abs(candidate.call("value") - trial.parameters.target))
"""
FILES = {
    "task.toml": "schema = 1\ndeterministic = true\n[parameters]\ntarget = 7.0\n",
    "far.toml": 'schema = 1\ndeterministic = true\nprogram = { files = ["far.py"], entry = "far" }\n[parameters]\ntarget = 70.0\n',
    "README.md": "Find the number.\n",
    "seed.py": "def value():\n    return 5.0\n",
    "far.py": "def value():\n    return 50.0\n",
    "evaluator.py": EVALUATOR,
}


@pytest.fixture
def folder(home: Path) -> Path:
    """The folder `number` with the tasks `number` and `number/far`."""
    folder = home / "elsewhere" / "tasks" / "number"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def test_a_campaign_on_it_runs_and_goes_on(call, home, folder):
    """Called with a dash; its campaign file names the task file."""
    begun = call("run", "number/far", "--budget", "4programs", "--workers", "1", "--json")
    assert begun.exit_code == 0, begun.output
    assert json.loads(begun.stdout.splitlines()[0])["fitness"] == -20.0
    for words in (["--continue", "number-far"], ["number/far", "--continue"]):
        budget = "6programs" if words[0] == "--continue" else "8programs"
        more = call("run", *words, "--budget", budget, "--workers", "1")
        assert more.exit_code == 0, more.output
    assert [path.stem for path in (home / "archive" / "campaigns").glob("*.db")] == ["number-far"]
    other = call("run", "number", "--continue", "number-far", "--budget", "9programs")
    assert "campaign 'number-far' is on the task 'number/far', got 'number'" in other.stderr
    assert call("campaign", "replay", "number-far").exit_code == 0


def test_it_is_listed_and_checked(call, folder):
    """Like any other."""
    names = [json.loads(line)["name"] for line in call("task", "list", "--json").stdout.splitlines()]
    assert [name for name in names if name.startswith("number")] == ["number", "number/far"]
    checked = call("task", "check", "number/far", "--json")
    told = json.loads(checked.stdout)
    assert (told["task"], told["fitness"]) == ("number/far", -20.0)


def test_a_campaign_file_may_name_it(call, home, folder):
    """By its name, and by its path from the file."""
    for number, name in enumerate(("number/far", "./tasks/number/far.toml")):
        file = home / "elsewhere" / f"search{number}.toml"
        file.write_text(f'schema = 1\ntask = "{name}"\nbudget = "2programs"\nworkers = 1\n')
        told = call("run", "-c", file, "--dry-run", "--json")
        assert told.exit_code == 0, told.output
        assert json.loads(told.stdout)["task"] == "number/far"
