"""A campaign with a model, its calls as a cassette, and the same campaign again from it."""

import json
import sys

import pytest

from evolve.cli.output import one_line

pytestmark = pytest.mark.integration

EVALUATOR = """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    value = candidate.call("value")
    return Evaluation.ok(-abs(value - 7.0), descriptors={"size": min(10.0, abs(value))})
"""
TASK = 'schema = 1\ndeterministic = true\n[[axes]]\nname = "size"\nlow = 0\nhigh = 10\nbins = 5\n[[stages]]\nname = "evaluate"\nseconds = 5\n'
ORACLE = """import hashlib, sys
asked = sys.stdin.read()
number = int(hashlib.sha256(asked.partition("==== ")[2].encode()).hexdigest(), 16)
if number % 5 == 0:
    sys.exit("it has no idea")
print(f"Hypothesis: nearer.\\n\\n```seed.py\\ndef value():\\n    return {number % 900 / 100}\\n```")
"""


@pytest.fixture
def task(home):
    """A number to find, and a program that guesses: another one for each question, and none for some."""
    folder = home / "elsewhere" / "number"
    folder.mkdir()
    (folder / "task.toml").write_text(TASK)
    (folder / "README.md").write_text("Find the number.\n")
    (folder / "seed.py").write_text("def value():\n    return 5.0\n")
    (folder / "evaluator.py").write_text(EVALUATOR)
    (home / "oracle.py").write_text(ORACLE)
    return folder


def lines(result):
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_recorded_campaign_is_replayed_to_the_same_archive(call, home, task):
    """Equal events, tokens included, and nobody is asked; a campaign file takes the place of the command's words."""
    model = f"oracle=command:{sys.executable} {home}/oracle.py"
    words = (
        "--deterministic",
        "--budget",
        "16programs",
        "--workers",
        "1",
        "--set",
        'operators.names=["rewrite","tune_literals"]',
    )
    lines(call("run", "./number", "--name", "first", "--model", model, *words, "--json"))
    calls = lines(call("model", "calls", "first", "--limit", "0", "--json"))
    assert len(calls) > 3
    assert {bool(made["error"]) for made in calls} == {True, False}

    path, file = home / "answers.jsonl", home / "search.toml"
    assert lines(call("model", "calls", "first", "--cassette", path, "--json"))[0]["answers"] == len(calls)
    file.write_text(call("campaign", "config", "first").stdout)
    (home / "oracle.py").unlink()
    again = call("run", "-c", file, "--name", "second", "--model", f"oracle=cassette:{path}", "--json")
    lines(again)
    first, second = (lines(call("campaign", "replay", name, "--json"))[0] for name in ("first", "second"))
    assert (second["digest"], second["equal"]) == (first["digest"], True), one_line(again.stderr)
