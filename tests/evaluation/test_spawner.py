"""The process that starts the judge workers, and outlives all that they start."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from judge_fakes import FakeClock

from evolve.evaluation.spawner import GRACE, Spawner


@dataclass
class FakeChildren:
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
    assert len(list(Path("/proc/self/fd").iterdir())) == before


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
    """The engine's end of file then says that nothing can be judged."""
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
from evolve.evaluation.children import OwnChildren, adopt_orphans
from evolve.evaluation.spawner import Spawner
adopt_orphans()
ours, theirs = socket.socketpair()
children = OwnChildren()
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
