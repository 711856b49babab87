"""The process that starts the judge workers, and outlives all that they start."""

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from judge_fakes import FakeClock

from evolve.evaluation.spawner import GRACE, Children, Spawner, SpawnerProcess, clean_environment
from evolve.sandbox.processes import by_parent
from evolve.types import SandboxError


@dataclass
class FakeChildren(Children):
    """A family: `alive` maps each living descendant to its parent (0 is the spawner); a dead one's children come to the spawner."""

    alive: dict[int, int] = field(default_factory=dict)
    dead: list[tuple[int, int]] = field(default_factory=list)
    killed: list[int] = field(default_factory=list)
    commands: list[tuple] = field(default_factory=list)

    def start(self, command, files, environment):
        if not environment:
            raise OSError("no more processes")
        self.commands.append((tuple(command), sorted(files), environment))
        pid = 100 + len(self.commands)
        self.alive[pid] = 0
        return pid

    def all(self):
        return {pid for pid, parent in self.alive.items() if parent == 0} | {pid for pid, _ in self.dead}

    def peek(self):
        return self.all()

    def kill(self, pid):
        self.killed.append(pid)
        if pid in self.alive:
            self.ends(pid, -9)

    def ends(self, pid, code):
        del self.alive[pid]
        self.dead.append((pid, code))
        self.alive = {child: 0 if parent == pid else parent for child, parent in self.alive.items()}

    def reap(self):
        ended, self.dead = self.dead, []
        return ended


@pytest.fixture
def engine():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        clock = FakeClock()

        def sleep(seconds):
            clock.now += seconds

        yield ours, Spawner(theirs, FakeChildren(), {"WORD": "hello"}, clock=clock, sleep=sleep)


def ask_start(ours, slot):
    with open(os.devnull) as file:
        socket.send_fds(ours, [json.dumps({"start": slot}).encode()], [file.fileno(), file.fileno()])


def test_a_worker_is_started_with_its_two_descriptors(engine):
    """Its output twice, its socket as number 3, in the clean environment; the spawner keeps neither open."""
    ours, spawner = engine
    before = len(list(Path("/proc/self/fd").iterdir()))
    ask_start(ours, 4)
    assert spawner.obey()
    command, files, environment = spawner.children.commands[0]
    assert command[-1] == str(os.getpid())
    assert (files, environment, spawner.workers) == ([1, 2, 3], {"WORD": "hello"}, {4: 101})
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_a_worker_runs_in_the_tasks_own_python(engine):
    """Without the folders in which the engine's modules lie."""
    ours, spawner = engine
    spawner.python = "/other/bin/python"
    spawner.environment = {"WORD": "hello", "PYTHONPATH": "/engine"}
    ask_start(ours, 0)
    spawner.obey()
    command, _, environment = spawner.children.commands[0]
    assert (command[0], environment) == ("/other/bin/python", {"WORD": "hello"})


def test_a_worker_that_cannot_be_started_ends_the_spawner(engine):
    """The engine's end of file then says that nothing can be evaluated."""
    ours, spawner = engine
    spawner.environment = {}
    ask_start(ours, 0)
    with pytest.raises(OSError, match="no more processes"):
        spawner.obey()


def test_a_worker_is_killed_when_asked_and_its_end_told(engine):
    """To kill one that has ended is harmless."""
    ours, spawner = engine
    ask_start(ours, 4)
    spawner.obey()
    for _ in range(2):
        ours.send(b'{"kill": 4}')
        assert spawner.obey()
        spawner.collect()
    assert json.loads(ours.recv(100)) == {"ended": 4, "code": -9}
    assert spawner.children.killed == [101]


def test_what_a_dead_worker_leaves_is_swept_up_with_all_its_descendants(engine):
    """Other workers stay; only what came back to the spawner is ended."""
    ours, spawner = engine
    for slot in (0, 1):
        ask_start(ours, slot)
        spawner.obey()
    spawner.children.alive |= {7: 101, 8: 7, 9: 8, 10: 102}
    spawner.children.ends(101, 1)
    spawner.collect()
    assert spawner.sweep_at == spawner.clock() + GRACE
    spawner.sweep()
    assert spawner.children.alive == {102: 0, 10: 102}


def test_an_orphan_is_swept_up_while_its_worker_lives(engine):
    """As of a template that something has killed: nobody tells of its end. It has its time as well."""
    ours, spawner = engine
    ask_start(ours, 0)
    spawner.obey()
    spawner.look()
    assert spawner.sweep_at is None
    spawner.children.alive |= {7: 101, 8: 7, 9: 8}
    spawner.children.ends(7, -9)
    spawner.children.dead = []
    spawner.look()
    assert spawner.sweep_at == spawner.clock() + GRACE
    ours.shutdown(socket.SHUT_WR)
    ended, wake = socket.socketpair()
    with ended, wake:
        spawner.clock = FakeClock(step=GRACE)
        spawner.serve(ended)
    assert spawner.children.alive == {101: 0}


def test_at_the_end_every_descendant_ends(engine):
    """Workers at once; templates and what hides behind them when they have had their time."""
    ours, spawner = engine
    ask_start(ours, 0)
    spawner.obey()
    spawner.children.alive |= {7: 101, 8: 7}
    ours.close()
    assert not spawner.obey()
    spawner.end()
    assert (spawner.children.alive, spawner.children.all()) == ({}, set())
    assert spawner.children.killed[0] == 101


def test_it_serves_until_the_engine_ends(engine):
    """It wakes for messages, for ended children, and for the sweep that is due."""
    ours, spawner = engine
    ended, wake = socket.socketpair()
    with ended, wake:
        spawner.children.alive = {55: 0, 66: 55}
        spawner.workers = {0: 55}
        spawner.children.ends(55, 0)
        spawner.clock = FakeClock(step=GRACE)
        wake.send(b"!")
        ask_start(ours, 1)
        ours.shutdown(socket.SHUT_WR)
        spawner.serve(ended)
    assert json.loads(ours.recv(100)) == {"ended": 0, "code": 0}
    assert 66 in spawner.children.killed
    assert spawner.workers == {1: 101}


ORPHANED = """
import socket, sys, time
from evolve.evaluation.spawner import Children, Spawner, adopt_orphans
adopt_orphans()
ours, theirs = socket.socketpair()
children = Children()
worker = children.start(["/bin/sh", "-c", "(sleep 60 & exit 0); sleep 60"], {}, {})
spawner = Spawner(theirs, children, {}, workers={0: worker})
deadline = time.monotonic() + 10
while spawner.sweep_at is None and time.monotonic() < deadline:
    time.sleep(0.01)
    spawner.look()
spawner.sweep()
print(children.all() == {worker}, spawner.workers == {0: worker})
spawner.end()
print(children.all())
"""


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_real_orphans_are_found_at_a_glance():
    """And ended, with their worker alive."""
    ran = subprocess.run([sys.executable, "-c", ORPHANED], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("True True\nset()\n", "")


SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
ORPHAN = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
# In a process of its own, because `reap` waits for any child, and a test runner has others.
ADOPTING = f"""
import os, sys, time
from evolve.evaluation.spawner import Children, adopt_orphans
adopt_orphans()
children = Children()
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


@pytest.mark.integration
def test_a_child_gets_the_named_descriptors_and_the_environment():
    """And an empty standard input."""
    read, write = os.pipe()
    script = "import os; os.write(5, os.environ['WORD'].encode() + os.read(0, 9))"
    pid = Children().start([sys.executable, "-c", script], {5: write}, {"WORD": "hello"})
    os.close(write)
    assert os.read(read, 100) == b"hello"
    os.close(read)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_an_orphan_becomes_a_child_that_can_be_ended():
    """What a child leaves behind is not lost."""
    assert ran(ADOPTING) == "True True set() []"


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_children_are_found_by_their_parent():
    """And are gone once they are reaped."""
    with subprocess.Popen(SLEEP) as process:
        assert process.pid in Children().all() & Children().peek()
        assert by_parent().get(process.pid) is None
        Children().kill(process.pid)
    assert process.returncode == -signal.SIGKILL
    assert process.pid not in Children().all() | Children().peek()


def test_only_named_variables_reach_a_judge():
    """No key, whatever it is called."""
    engine = {"PATH": "/bin", "HOME": "/home", "OPENAI_API_KEY": "secret", "PYTHONSTARTUP": "x", "AWS_SECRET": "secret"}
    kept = clean_environment(engine)
    assert (kept["PATH"], kept["HOME"], kept["OMP_NUM_THREADS"]) == ("/bin", "/home", "1")
    assert "secret" not in kept.values()
    assert "PYTHONSTARTUP" not in kept


def test_a_debugger_is_let_into_all_or_none():
    """And tracebacks are the engine's own business."""
    assert "EVOLVE_DEBUG" not in clean_environment({"EVOLVE_DEBUG": "1"})
    assert clean_environment({"EVOLVE_DEBUG": "attach"})["EVOLVE_DEBUG"] == "attach"


def test_modules_are_found_where_the_engine_finds_them():
    """In a checkout as in an installation; never in the working folder by chance."""
    paths = clean_environment({})["PYTHONPATH"].split(os.pathsep)
    assert paths == [path for path in sys.path if path]


@pytest.fixture
def spawner_process(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    started = SpawnerProcess()
    yield started
    started.close()


@pytest.mark.integration
def test_the_end_of_a_worker_is_told(spawner_process):
    """This one has no engine to talk to, and ends at once; what it printed and where it listened is closed."""
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    with ours:
        spawner_process.start_worker(3, theirs, write)
        theirs.close()
        os.close(write)
        ours.shutdown(socket.SHUT_WR)
        assert spawner_process.receive() == {"ended": 3, "code": 0}
    assert os.read(read, 1000) == b""
    os.close(read)


@pytest.mark.integration
def test_a_worker_is_killed_when_asked(spawner_process):
    """Its exit code is the signal."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        spawner_process.start_worker(1, theirs, 2)
        spawner_process.kill_worker(1)
        assert spawner_process.receive() == {"ended": 1, "code": -9}


@pytest.mark.integration
def test_a_closed_spawner_has_ended_its_spawner():
    """In seconds, and with success."""
    started = SpawnerProcess()
    started.close()
    assert started.process.returncode == 0


@pytest.mark.integration
def test_a_spawner_that_is_gone_is_heard(spawner_process):
    """As the end of file."""
    spawner_process.process.kill()
    assert spawner_process.receive() is None


@pytest.mark.integration
def test_a_python_that_cannot_be_run_is_one_clear_error(monkeypatch):
    """And nothing stays open."""
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxError, match=r"spawner does not start.*Try: check that /no/such/python can be run"):
        SpawnerProcess()
