"""The child processes of one process, as the operating system knows them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from evolve.evaluation.children import OwnChildren, children_of

pytestmark = pytest.mark.integration

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
ORPHAN = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
# In a process of its own, because `reap` waits for any child, and a test runner has others.
ADOPTING = f"""
import os, sys, time
from evolve.evaluation.children import OwnChildren, adopt_orphans
adopt_orphans()
children = OwnChildren()
parent = children.start([sys.executable, "-c", {ORPHAN!r}], {{}}, {{}})
while not (ended := children.reap()):
    time.sleep(0.01)
(orphan,) = children.all()
children.kill(orphan)
while not (killed := children.reap()):
    time.sleep(0.01)
print(ended == [(parent, 0)], killed == [(orphan, -9)], children.all(), children.reap())
"""


def ran(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    return done.stdout.strip()


def test_a_child_gets_the_named_descriptors_and_the_environment():
    """And an empty standard input."""
    read, write = os.pipe()
    script = "import os; os.write(5, os.environ['WORD'].encode() + os.read(0, 9))"
    pid = OwnChildren().start([sys.executable, "-c", script], {5: write}, {"WORD": "hello"})
    os.close(write)
    assert os.read(read, 100) == b"hello"
    os.close(read)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_an_orphan_becomes_a_child_that_can_be_ended():
    """What a child leaves behind is not lost."""
    assert ran(ADOPTING) == "True True set() []"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_children_are_found_by_their_parent():
    """And are gone once they are reaped."""
    with subprocess.Popen(SLEEP) as process:
        assert process.pid in OwnChildren().all() & OwnChildren().peek()
        assert children_of(process.pid) == set()
        OwnChildren().kill(process.pid)
    assert process.returncode == -signal.SIGKILL
    assert process.pid not in children_of(os.getpid()) | OwnChildren().peek()


def test_a_program_with_a_strange_name_is_found(tmp_path):
    """A name may hold spaces and parentheses; a process may end while it is looked at."""
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (a) b (c) S 42 7 7 0")
    (tmp_path / "8").mkdir()
    (tmp_path / "8" / "stat").mkdir()
    assert children_of(42, tmp_path) == {7}


def test_a_system_without_proc_has_no_list(tmp_path):
    """Then only known children can be ended."""
    assert children_of(1, tmp_path / "none") == set()


def test_a_process_whose_parent_has_changed_is_told_so():
    """It ended between the fork and this call."""
    script = "import os; from evolve.evaluation.children import die_with_parent; print(die_with_parent({}))"
    assert ran(script.format("os.getppid()")) == "True"
    assert ran(script.format("os.getppid() + 1")) == "False"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a parent-death signal")
def test_a_process_dies_with_its_parent():
    """However the parent ends."""
    child = "import os, time; from evolve.evaluation.children import die_with_parent; die_with_parent(os.getppid()); print(os.getpid(), flush=True); time.sleep(60)"
    parent = f"import os, subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE); print(p.stdout.readline().decode(), flush=True); os._exit(0)"
    pid = int(ran(parent))
    deadline = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _alive(pid)


def _alive(pid):
    """A zombie that nobody reaps counts as dead."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
