"""The life of a campaign of each method, with a model: killed while calls are in flight, it goes on; it is evaluated again by a newer version of its
task and goes on; it replays, with equal decisions; and it is read where the method's package is not installed."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evolve.campaign import Campaign
from evolve.plugins import load
from evolve.sandbox.machine.probe import probe
from evolve.types import Asked, EvolveError, Propose, Replied, Settled
from tests.promised import not_here

pytestmark = pytest.mark.integration

ANSWERS = Path(__file__).with_name("answers.py")
QUICK = "puct"
"""The one that the quick tests take; the slow ones take all."""
PRESETS = sorted(name for name, registered in load().presets.items() if registered.plugin == "evolve_methods")
WITHOUT = """
import sys
from evolve import plugins
plugins.BUNDLED = tuple(name for name in plugins.BUNDLED if name != "evolve_methods")
from evolve.__main__ import main
main()
"""
TASK = {
    "task.toml": 'schema = 1\n[[stages]]\nname = "evaluate"\nseconds = 5.0\n',
    "README.md": "Find numbers whose sum is large, and of which none is.\n",
    "seed.py": "def values():\n    return [1.0, 2.0, 3.0]\n",
    "evaluator.py": "from evolve import Candidate, Evaluation, Trial, evaluator\n\n\n@evaluator\n"
    "def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:\n"
    '    first, *rest = candidate.call("values")\n'
    '    return Evaluation.ok(sum(rest) - first, cases={"rest": sum(rest), "first": -first})\n',
}


@pytest.mark.parametrize(
    "preset", [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PRESETS]
)
def test_a_campaign_is_killed_evaluated_again_replayed_and_read_without_its_package(
    tmp_path: Path, preset: str
) -> None:
    if preset == "agent" and not probe().means.namespaces:
        not_here("an agent's box needs namespaces")
    task = tmp_path / "numbers"
    task.mkdir()
    for name, text in TASK.items():
        (task / name).write_text(text)
    live_through(task, preset, tmp_path / "home")


def live_through(task: Path, preset: str, home: Path) -> None:
    """Takes a campaign of a task of one file through all of it."""
    command = f"{sys.executable} {ANSWERS}"
    member = f'{{name = "m", kind = "command", concurrency = 3, settings = {{argv = "{command}"}}}}'
    first = ["run", str(task), "--preset", preset, "--name", "lived", "--workers", "1", "--budget", "32calls"]
    first += ["--set", f"models.members=[{member}]"]
    with subprocess.Popen([sys.executable, "-m", "evolve", *first], env=environment(home)) as engine:
        wait_for_calls(home, 8)
        engine.kill()
    begun = read(home)
    assert 8 <= begun.calls < 32, "it was killed on its way"

    ask(home, "run", "--continue", "lived")
    ended = read(home)
    assert ended.calls > begun.calls
    assert ended.records[: len(begun.records)] == begun.records, "what had settled is as it was"

    evaluator = task / "evaluator.py"
    evaluator.write_text(f"{evaluator.read_text()}\n# A newer version.\n")
    ask(home, "campaign", "rejudge", "lived")
    ask(home, "run", "--continue", "lived", "--budget", "64calls")
    grown = read(home)
    assert grown.calls > ended.calls
    assert set(grown.proposals.values()) <= {1}, "nothing settled twice"
    assert grown.parents > 1

    (told,) = lines(ask(home, "campaign", "replay", "lived", "--decisions", "--json").stdout)
    assert told["equal"]
    assert told["decisions"]["compared"] > 0
    assert told["decisions"]["different"] == 0

    for words in (
        ("campaign", "show", "lived"),
        ("campaign", "list"),
        ("campaign", "replay", "lived"),
        ("program", "list", "lived"),
        ("program", "show", "lived/best"),
        ("model", "calls", "lived"),
        ("report", "lived", "--output", str(home / "report.html")),
    ):
        shown = subprocess.run(
            [sys.executable, "-c", WITHOUT, *words], env=environment(home), capture_output=True, text=True
        )
        assert shown.returncode == 0, (words, shown.stderr)
    goes_on = [sys.executable, "-c", WITHOUT, "run", "--continue", "lived", "--budget", "80calls"]
    refused = subprocess.run(goes_on, env=environment(home), capture_output=True, text=True)
    assert refused.returncode != 0
    assert "a package that is not installed" in refused.stderr
    assert read(home).calls == grown.calls


class Life:
    """What the log of the campaign holds."""

    def __init__(self, campaign: Campaign) -> None:
        settled = [event.event.record for event in campaign.log.events(only=Settled)]
        made = [record for record in settled if record.origin.kind == "proposal"]
        asked = [event.event.action for event in campaign.log.events(only=Asked)]
        self.records = [(record.id, record.origin, record.evaluation.fitness) for record in settled]
        self.proposals = Counter((record.origin.step, record.origin.index) for record in made)
        self.calls = sum(1 for event in campaign.log.events(only=Replied) if event.event.step)
        self.parents = len({action.selection.parents for action in asked if isinstance(action, Propose)})


def read(home: Path) -> Life:
    with Campaign.open("lived", load(), home) as campaign:
        return Life(campaign)


def wait_for_calls(home: Path, wanted: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.05)
        try:
            if read(home).calls >= wanted:
                return
        except EvolveError:
            continue
    raise AssertionError(f"there were never {wanted} calls")


def ask(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [sys.executable, "-m", "evolve", *words], env=environment(home), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, (words, done.stderr)
    return done


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "EVOLVE_HOME": str(home)}
