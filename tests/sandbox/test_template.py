"""The template's own part: what it keeps for itself, and what it does with a candidate that leaves too much."""

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from standard_box import MEANS as STANDARD
from standard_box import PYTHON, needs_standard

from evolve.sandbox.box import Box
from evolve.sandbox.means import PLAIN, Means
from evolve.sandbox.status import SessionFailed, Status
from evolve.types import Limits, Program

pytestmark = pytest.mark.integration

BOXES = [
    pytest.param(sys.executable, PLAIN, id="reduced"),
    pytest.param(PYTHON, STANDARD, id="standard", marks=needs_standard),
]
EIGHT = Program({"seed.py": "def f():\n    return 8\n"})
MB = 1 << 20
_SOMEBODY = 65_531


def value(box: Box, program: Program, seconds: float = 20.0) -> object:
    with box.open(program, "seed", seconds) as session:
        return session.call("f")


@pytest.mark.parametrize(("python", "means"), BOXES)
def test_a_candidate_that_makes_files_without_end_is_ended(python: str, means: Means) -> None:
    """In folders inside one another as well; as its own failure, and the next session is as ever."""
    source = (
        "import itertools, os\ndef f():\n    for number in itertools.count():\n        if number % 100 == 0:\n"
        "            os.mkdir(f'd{number}')\n            os.chdir(f'd{number}')\n        open(f'{number:0200}', 'x').close()\n"
    )
    box = Box(Limits(memory=256 * MB, inodes=500), python, means=means)
    try:
        with pytest.raises(SessionFailed) as failed:
            value(box, Program({"seed.py": source}))
        assert (failed.value.status, failed.value.message) == (
            Status.MEMORY_LIMIT,
            "f() made more than 500 files, which is all that its folder may hold",
        )
        assert value(box, EIGHT) == 8
    finally:
        box.close()


@pytest.mark.parametrize(("python", "means"), BOXES)
@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="the system does not tell the limits of others")
def test_the_limits_of_candidates_are_not_the_templates(python: str, means: Means) -> None:
    """It cleans up after them, which must not fail for want of what they have used up."""
    source = "import os, resource\ndef f(): return [os.getppid(), [resource.getrlimit(w) for w in (resource.RLIMIT_DATA, resource.RLIMIT_AS, resource.RLIMIT_FSIZE)]]\n"
    box = Box(Limits(memory=256 * MB), python, means=means)
    try:
        with box.open(Program({"seed.py": source}), "seed", 20) as session:
            template, limits = session.call("f")
            told = Path(f"/proc/{template}/limits").read_text()
    finally:
        box.close()
    assert limits == [[256 * MB] * 2, [256 * MB] * 2, [32 * MB] * 2]
    ours = Path("/proc/self/limits").read_text()
    for name in ("Max data size", "Max address space", "Max file size"):
        assert re.findall(f"{name}.*", told) == re.findall(f"{name}.*", ours)


_UNCLEAN = """
import json, os, socket, sys
from types import SimpleNamespace
from evolve.sandbox.inner.template import TemplateServer

class Folder:
    path = "."
    def renew(self, seconds):
        return False

class CandidateConfinement:
    def prepare(self, seconds):
        pass
    def enter(self, template, files, job):
        os._exit(0)

jail = SimpleNamespace(threads=1, limits=False, namespaces=False, memory=0)
judge, template = socket.socketpair()
if os.fork() == 0:
    TemplateServer(template, jail, [Folder()], CandidateConfinement(), None, None).serve()
    os._exit(0)
template.close()
socket.send_fds(judge, [json.dumps({"open": 5, "job": "run", "at": 0}).encode()], [0])
judge.send(json.dumps({"end": 1}).encode())
code = json.loads(judge.recv(4096))["code"]
try:
    judge.send(b"more")
    print(code, "sent")
except BrokenPipeError:
    print(code, "refused")
"""


def test_a_template_whose_folder_cannot_be_cleaned_in_time_serves_no_more() -> None:
    """It reports the session, and takes no other: the judge then starts a new one."""
    ran = subprocess.run([sys.executable, "-c", _UNCLEAN], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("0 refused\n", "")


_TASKS = """
import os, signal, threading, time

def start(count):
    done = threading.Event()
    started = [threading.Thread(target=done.wait, daemon=True) for _ in range(count)]
    for thread in started:
        thread.start()
    done.set()
    for thread in started:
        thread.join()
    return count

def fork():
    pids = []
    try:
        while len(pids) < 100:
            pids.append(os.fork())
            if pids[-1] == 0:
                time.sleep(20)
    except BlockingIOError:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    return len(pids)

def hold(count):
    for _ in range(count):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    time.sleep(20)
"""
_BESIDE = """
import json, sys, threading
from evolve.sandbox.box import Box; from evolve.sandbox.status import SessionFailed
from evolve.sandbox.means import Means
from evolve.types import Limits, Program

done = threading.Event()
beside = [threading.Thread(target=done.wait, daemon=True) for _ in range(40)]
for thread in beside:
    thread.start()
box = Box(Limits(tasks=16), means=Means(**json.loads(sys.argv[1])))
with box.open(Program({"seed.py": sys.argv[2]}), "seed", 15) as session:
    print(session.call("start", 15), session.call("fork"))
    done.set()
    for thread in beside:
        thread.join()
    try:
        session.call("hold", 30)
    except SessionFailed as failure:
        print(failure)
box.close()
"""


@needs_standard
def test_what_their_user_runs_beside_is_not_held_against_candidates() -> None:
    """The kernel's limit is one on all processes of a user, who is the judge's own here. They get their number, and no more where others leave room."""
    root = Path(__file__).parents[2]
    if os.geteuid() == 0 and any(not folder.stat().st_mode & 0o001 for folder in (root, *root.parents)):
        pytest.skip("other users cannot read the engine here")
    somebody = _SOMEBODY if os.geteuid() == 0 else None
    ran = subprocess.run(
        [PYTHON, "-c", _BESIDE, json.dumps(asdict(replace(STANDARD, cgroup=""))), _TASKS],
        capture_output=True,
        text=True,
        timeout=60,
        cwd="/",
        env={"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        user=somebody,
        group=somebody,
        extra_groups=None if somebody is None else [],
    )
    words = "memory_limit: hold() had more than 16 processes and threads, which is all that the program may have"
    assert (ran.stdout, ran.stderr) == (f"15 15\n{words}\n", "")
