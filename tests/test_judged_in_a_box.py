"""What a candidate finds when it is evaluated as a campaign judges it: by a judge process of the engine's, at the best level of this machine."""

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evolve.task
from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.sandbox.machine.probe import probe
from evolve.types import Level, Outcome

MEANS = probe().means
TASK = {
    "task.toml": "schema = 1\n",
    "README.md": "Say what you see.\n",
    "seed.py": """
import os
import socket

def value():
    with open("/proc/self/limits") as limits:
        return [limits.read(), oct(os.umask(0)), socket.gethostname(), os.getpid(), os.path.exists(os.environ["HOME"])]
""",
    "evaluator.py": """from evolve import Candidate, Evaluation, Trial, evaluator

@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(1.0, artifacts={"seen": [candidate.call("value") for _ in range(2)]})
""",
}

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(MEANS.level is not Level.STRICT, reason=f"this machine reaches {MEANS.line}"),
]


def seen(folder: Path) -> list[list[object]]:
    """What two sessions of the seed have seen."""
    for name, text in TASK.items():
        (folder / name).write_text(text)
    task = evolve.task.load(folder)
    with contextlib.closing(LocalExecutor(task, 1, means=MEANS)) as executor:
        executor.describe()
        report = decode_report(
            executor.submit("0.0", encode_job(Job("0.0", "evaluate", files=task.seed.files))).result(60)
        )
    assert report.evaluation.outcome is Outcome.OK, report
    found: list[list[object]] = json.loads(report.texts[report.evaluation.artifacts["seen"]])
    return found


def test_it_is_the_same_for_all(tmp_path: Path) -> None:
    """A crash calls no program of the host, and neither the machine's name nor how many were before can be told."""
    (limits, mask, name, pid, home), second = seen(tmp_path)
    core = re.search(r"^Max core file size +(\d+) ", str(limits), re.MULTILINE)
    assert core is not None
    assert (core[1], mask, name, home) == ("1", "0o22", "candidate", True)
    assert second[1:] == [mask, name, pid, home]


def test_the_users_own_file_mask_changes_nothing(tmp_path: Path) -> None:
    """Hardened machines have 077, and candidates may be another user."""
    run = [sys.executable, "-m", "evolve", "run", "circle_packing", "--budget", "3programs", "--sandbox", "strict"]
    done = subprocess.run(
        run, env={**os.environ, "EVOLVE_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=120, umask=0o077
    )
    assert (done.returncode, "3 programs evaluated" in done.stdout) == (0, True), done.stderr
