"""A running campaign, seen by another process of the same ordinary user: what it can read of keys, and of whom."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from evolve.sandbox.processes import children

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux closes a process to others"),
]

NOBODY = 64123
SECRET = "sk-planted-in-the-environment"
PLANTED = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "EVOLVE_TOKEN", "PYTHONSTARTUP")
TASK = {
    "task.toml": 'schema = 1\n[[stages]]\nname = "evaluate"\nseconds = 60\n',
    "README.md": "Find the number.\n",
    "seed.py": "def value():\n    import time\n    time.sleep(50)\n    return 5.0\n",
    "evaluator.py": """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(candidate.call("value"))
""",
}
LOOK = """
import json, sys
def look(path):
    try:
        with open(path, "rb") as file:
            return file.read(100000).decode(errors="replace") if path.endswith("environ") else "open"
    except OSError as error:
        return type(error).__name__
print(json.dumps({pid: {name: look(f"/proc/{pid}/{name}") for name in ("environ", "mem")} for pid in sys.argv[1:]}))
"""


@dataclass(frozen=True)
class Seen:
    """The pids of a campaign by what they are, what root (or who runs the tests) reads of each, and what the same user can."""

    roles: Mapping[str, int]
    everyone: tuple[int, ...]
    texts: Mapping[int, str]
    looked: Mapping[int, Mapping[str, str]]


def ordinary_user(environment: Mapping[str, str]) -> tuple[str, int | None]:
    """A Python that an ordinary user can run with the engine in it, and that user where the tests' own is root."""
    if os.geteuid() != 0:
        return sys.executable, None
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        command = [python, "-P", "-c", "import evolve.campaign, evolve.cli.run"]
        try:
            if subprocess.run(command, user=NOBODY, env=environment, cwd="/", capture_output=True).returncode == 0:
                return python, NOBODY
        except OSError:
            continue
    pytest.skip("no Python with the engine's modules can be run by an ordinary user here")


def descendants(pid: int) -> list[int]:
    """All of them, parents first."""
    found = [pid]
    for parent in found:
        found.extend(children(parent))
    return found[1:]


def words(pid: int) -> str:
    """The command line of a process; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def judging(pid: int) -> bool:
    """Whether this is a judge worker, and a candidate's process runs below it."""
    return "evolve.evaluation.worker" in words(pid) and len(descendants(pid)) >= 2


def told(pid: int) -> str:
    """Command line and environment of a process, as far as they may be read."""
    try:
        return words(pid) + Path(f"/proc/{pid}/environ").read_text(errors="replace")
    except OSError:
        return words(pid)


def waited(what: Callable[[], bool]) -> None:
    """Until it is so, for half a minute at most."""
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that an ordinary user may use, with the task in it."""
    folder = Path(tempfile.mkdtemp(prefix="evolve-test-"))
    (folder / "number").mkdir()
    for name, text in TASK.items():
        (folder / "number" / name).write_text(text)
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def seen(place: Path) -> Iterator[Seen]:
    """A campaign whose first candidate is running."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(place),
        "EVOLVE_HOME": str(place),
        "EVOLVE_SANDBOX": os.environ["EVOLVE_SANDBOX"],
    }
    python, user = ordinary_user(environment)
    command = [python, "-P", "-m", "evolve", "run", "./number", "--budget", "60s", "--set", "workers=1"]
    engine = subprocess.Popen(
        command,
        cwd=place,
        env=environment | dict.fromkeys(PLANTED, SECRET),
        user=user,
        group=user,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        waited(lambda: engine.poll() is not None or any(map(judging, descendants(engine.pid))))
        assert engine.poll() is None, engine.stderr.read().decode()
        time.sleep(0.5)  # until a template has forked its candidate, where it has one of its own
        everyone = descendants(engine.pid)
        (spawner,) = (pid for pid in everyone if "evolve.evaluation.spawner" in words(pid))
        (worker,) = (pid for pid in everyone if "evolve.evaluation.worker" in words(pid))
        (outer,) = children(worker)
        pids = [str(pid) for pid in (engine.pid, *everyone)]
        looked = subprocess.run(
            [python, "-I", "-c", LOOK, *pids], user=user, group=user, capture_output=True, check=True
        )
        yield Seen(
            {"engine": engine.pid, "spawner": spawner, "worker": worker, "template": outer},
            tuple(everyone),
            {pid: told(pid) for pid in everyone},
            {int(pid): found for pid, found in json.loads(looked.stdout).items()},
        )
    finally:
        engine.send_signal(signal.SIGINT)
        time.sleep(0.2)
        engine.send_signal(signal.SIGINT)
        engine.communicate(timeout=30)


def test_no_process_below_the_engine_is_told_a_key(seen: Seen) -> None:
    """Neither in its environment nor in its command line."""
    assert [words(pid) for pid, text in seen.texts.items() if SECRET in text] == []
    assert [pid for pid, found in seen.looked.items() if SECRET in found["environ"]] == []
    assert len(seen.everyone) >= 4


@pytest.mark.parametrize("role", ["engine", "spawner", "worker", "template"])
def test_the_engine_and_its_judges_cannot_be_read_by_another_process_of_the_user(seen: Seen, role: str) -> None:
    """Neither the environment that it began with nor its memory."""
    assert seen.looked[seen.roles[role]] == {"environ": "PermissionError", "mem": "PermissionError"}
