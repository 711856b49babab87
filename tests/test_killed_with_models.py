"""An engine that is killed while calls are in flight: what had been answered is evaluated after the restart and never paid again."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from killing import kill_some, order

from evolve.campaign import Campaign
from evolve.engine.members import AHEAD
from evolve.plugins import load
from evolve.types import Outcome, Replied, Settled, canonical
from evolve.types.codec import encode
from tests.models import fault_server
from tests.models.fault_server import FaultServer, Step

pytestmark = pytest.mark.integration

IN_FLIGHT = 4
PROGRAMS = 16


def written_task(folder: Path) -> Path:
    """A program of one number, which is its score."""
    files = {
        "task.toml": 'schema = 1\ndeterministic = true\n[[stages]]\nname = "evaluate"\nseconds = 5.0\n',
        "README.md": "Find a large number.\n",
        "seed.py": "def value():\n    return 1.0\n",
        "evaluator.py": "from evolve import Candidate, Evaluation, Trial, evaluator\n\n\n@evaluator\n"
        'def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:\n    return Evaluation.ok(candidate.call("value"))\n',
    }
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def rewrites(count: int, delay: float, act: str = "") -> list[Step]:
    """Answers that are each a whole program with another number, which it gives after an `act`."""
    return [
        Step(
            text=f"Hypothesis: {number} is more.\n\n```seed.py\ndef value():\n    {act}return {number}.5\n```\n",
            delay=delay,
        )
        for number in range(2, 2 + count)
    ]


def command(task: Path, server: FaultServer, *more: str, programs: int = PROGRAMS) -> list[str]:
    return [
        *(sys.executable, "-m", "evolve", "run", str(task), "--budget", f"{programs}programs"),
        *("--set", 'operators.names=["rewrite"]', "--name", "killed", "--workers", "1"),
        *("--set", f"models.members=[{member(server)}]"),
        *more,
    ]


def member(server: FaultServer) -> str:
    return f'{{name = "m", concurrency = {IN_FLIGHT}, settings = {{model = "{fault_server.MODEL}", base_url = "{server.url}"}}}}'


@pytest.mark.parametrize("instant", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_answers_that_arrived_before_a_kill_are_judged_and_not_paid_again(tmp_path: Path, instant: int) -> None:
    environment = {**os.environ, "EVOLVE_HOME": str(tmp_path / "home")}
    task = written_task(tmp_path / "number")
    with FaultServer([fault_server.OK, *rewrites(80, delay=0.15)]) as server:
        with subprocess.Popen(command(task, server), env=environment, stdout=subprocess.DEVNULL) as engine:
            deadline = time.monotonic() + 60
            while server.count < 1 + 2 * IN_FLIGHT and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(random.Random(instant).uniform(0.0, 0.3))
            engine.kill()
        asked_before = server.count
        assert asked_before > IN_FLIGHT
        with Campaign.open("killed", load(), tmp_path / "home") as campaign:
            answered = {(event.event.step, event.event.index) for event in campaign.log.events(only=Replied)}
            in_flight = asked_before - len(answered)
            assert in_flight <= IN_FLIGHT + IN_FLIGHT // AHEAD, "no more was lost than was in flight or had just come"
        goes_on = [sys.executable, "-m", "evolve", "run", "--continue", "killed"]
        subprocess.run(goes_on, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
        asked = server.count
    with Campaign.open("killed", load(), tmp_path / "home") as campaign:
        calls = Counter((event.event.step, event.event.index) for event in campaign.log.events(only=Replied))
        steps = Counter(
            event.event.record.origin.step
            for event in campaign.log.events(only=Settled)
            if event.event.record.origin.kind == "proposal"
        )
        assert [key for key, count in calls.items() if count > 1 and key[0]] == [], "nothing was paid twice"
        assert {step for step, _ in answered if step} <= set(steps), "what had been answered was evaluated"
        assert set(steps.values()) == {1}
        assert campaign.state.progress.programs == PROGRAMS
        assert asked == sum(calls.values()) + in_flight, (
            "all that the server was asked is in the log, but for what was in flight"
        )


@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_whatever_of_its_processes_is_killed_each_answer_is_judged_once_and_rightly(tmp_path: Path, kills: int) -> None:
    """Engine, spawner, workers and templates, in any order; the budget is exact."""
    # A quick machine evaluates dozens of programs between two kills.
    home, programs, rng = tmp_path / "home", 12 * kills + 60, random.Random(kills)
    environment = {**os.environ, "EVOLVE_HOME": str(home)}
    roles = order(kills, rng)
    before: list[str] = []
    with FaultServer([fault_server.OK, *rewrites(40 * kills + 200, 0.15, "import time; time.sleep(0.1); ")]) as server:
        words = command(written_task(tmp_path / "number"), server, programs=programs)
        while roles:
            with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as engine:
                kill_some(engine.pid, roles, rng, lambda: server.count // (2 * IN_FLIGHT))
                engine.kill()
                assert engine.wait() == -signal.SIGKILL, engine.communicate()[1]
            assert settled(home)[: len(before)] == before, "nothing that had settled is lost"
            before = settled(home)
            words = [sys.executable, "-m", "evolve", "run", "--continue", "killed"]
        subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=400)
    assert settled(home)[: len(before)] == before
    with Campaign.open("killed", load(), home) as campaign:
        records = [event.event.record for event in campaign.log.events(only=Settled) if event.event.record.program]
        steps = Counter((record.origin.step, record.origin.index) for record in records)
        calls = Counter((event.event.step, event.event.index) for event in campaign.log.events(only=Replied))
        outcomes = Counter(record.evaluation.outcome for record in records)
        assert set(steps.values()) == {1}, "nothing settled twice"
        assert [key for key, count in calls.items() if count > 1 and key[0]] == [], "nothing was paid twice"
        assert set(outcomes) <= {Outcome.OK, Outcome.INTERNAL}
        assert outcomes[Outcome.INTERNAL] <= kills / 3, "a job fails by several kills alone"
        for record in records:
            said = campaign.log.program(record.program or "").files["seed.py"].rpartition("return ")[2]
            assert record.evaluation.fitness in (float(said), None)
        assert campaign.state.progress.programs == programs
        assert campaign.state.difference is None
    print(f"evaluated {dict(outcomes)}")


def settled(home: Path) -> list[str]:
    """The records of the log, in their order."""
    with Campaign.open("killed", load(), home) as campaign:
        return [canonical(encode(event.event)) for event in campaign.log.events(only=Settled)]
