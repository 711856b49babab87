"""The engine that a test kills while it judges: two slots, and many more programs than slots, which burn, sleep, hang, have children and
start other programs. Each judge holds a control group, where there are any, as a box may.

Invariant: every process of a candidate bears the mark in its name or in its arguments, in whatever box it lives."""

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import evolve.task
from evolve.evaluation import Job, LocalExecutor, encode_job
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import PLAIN

JOBS = 100
SLOTS = 2
_FILES = {
    "task.toml": 'schema = 1\n[[stages]]\nname = "evaluate"\nseconds = 1.0\n',
    "README.md": "Do as you like.\n",
    "seed.py": "def value():\n    return 1.0\n",
    "evaluator.py": """from evolve import Candidate, Evaluation, Trial, evaluator
from evolve.sandbox.machine.host import try_cgroup
from evolve.sandbox.walls.cgroup import ControlGroup

KIND, _ = try_cgroup()
HELD = ControlGroup.make(KIND, 1 << 30, 100) if KIND else None


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(candidate.call("value"))
""",
}
_START = """import ctypes, os, subprocess, sys, time
ctypes.CDLL(None).prctl(15, b"MARK", 0, 0, 0)


def value():
    """
_ACTS = (
    "end = time.monotonic() + 0.1\n    while time.monotonic() < end: pass",
    "time.sleep(0.1)",
    "time.sleep(60)",
    "for _ in range(3):\n        if os.fork() == 0:\n            os.setsid()\n            time.sleep(60)\n    time.sleep(0.1)",
    "if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            while True: pass\n        os._exit(0)",
    'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "MARK"], env={}, start_new_session=True)\n    time.sleep(0.1)',
)


def program(number: int, mark: str) -> dict[str, str]:
    """The acts in turn."""
    return {"seed.py": (_START + _ACTS[number % len(_ACTS)] + "\n    return 1.0\n").replace("MARK", mark)}


def written_task(folder: Path) -> Path:
    """The task whose programs these are."""
    folder.mkdir(parents=True)
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    return folder


def main(folder: str, mark: str, level: str) -> None:
    """Says which job has ended, a line each; ends by being killed. Isolation is plain, or the best that the machine has."""
    means = PLAIN if level == "plain" else probe().means
    executor = LocalExecutor(evolve.task.load(folder), SLOTS, means=means)
    executor.describe()
    for number in range(JOBS):
        job = Job(str(number), "evaluate", files=program(number, mark))
        executor.submit(job.id, encode_job(job)).add_done_callback(_saying(job.id))
    time.sleep(600)


def _saying(name: str) -> "Callable[[Future[bytes]], None]":
    return lambda future: print(name, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
