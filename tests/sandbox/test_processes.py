"""Processes of the machine: who descends from whom, how many tasks a user has, and the end of those that a template left."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from evolve.sandbox.processes import (
    Process,
    TaskLimit,
    all_descendants,
    by_parent,
    children,
    descendants,
    every,
    thread_states,
    threads,
    threads_sleep,
)

BORN = {10: 1, 11: 10, 12: 10, 13: 12, 20: 1}
"""The parents. 10 has two threads, 10 and 15, of which the second has started 12."""


@pytest.fixture(params=[True, False], ids=["listed", "by their parents"])
def processes(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A /proc; the kernel that made it lists children or does not. The names of its programs hold spaces and parentheses."""
    for pid, parent in BORN.items():
        (tmp_path / str(pid) / "task" / str(pid)).mkdir(parents=True)
        put(tmp_path, pid, user=0, count=1, parent=parent)
    (tmp_path / "10/task/15").mkdir()
    if request.param:
        for path, pids in {"10/task/10": "11 ", "10/task/15": "12 ", "12/task/12": "13 "}.items():
            (tmp_path / path / "children").write_text(pids)
        for pid in (11, 13, 20):
            (tmp_path / f"{pid}/task/{pid}/children").write_text("")
    (tmp_path / "8").mkdir()
    (tmp_path / "8" / "status").mkdir()  # one that ends while it is looked at
    return tmp_path


def test_children_are_those_of_every_thread(processes: Path) -> None:
    """And of the process alone."""
    assert (sorted(children(10, processes)), children(20, processes), children(99, processes)) == ([11, 12], [], [])


@pytest.mark.parametrize("below", [descendants, all_descendants])
def test_descendants_are_of_every_generation(processes: Path, below: Callable[[int, Path], list[int]]) -> None:
    """By the list as by the walk."""
    assert (sorted(below(10, processes)), below(99, processes)) == ([11, 12, 13], [])


def test_the_walk_knows_every_parent(processes: Path) -> None:
    """Though a process ends meanwhile."""
    found = {parent: sorted(born) for parent, born in by_parent(processes).items()}
    assert found == {1: [10, 20], 10: [11, 12], 12: [13]}


def test_every_thread_has_a_state(tmp_path: Path) -> None:
    """And one that has ended meanwhile has none."""
    for thread, stat in {"5": "5 (a) T 1 0\n", "6": "6 (a (b) c) R 1 0\n", "7": ""}.items():
        (tmp_path / "5/task" / thread).mkdir(parents=True)
        (tmp_path / "5/task" / thread / "stat").write_text(stat)
    assert (sorted(thread_states(5, tmp_path)), thread_states(6, tmp_path)) == ([b"R", b"T"], [])


def test_threads_sleep_where_each_waits_somewhere(tmp_path: Path) -> None:
    """By the name of that place, which is 0 for one that runs, or that nobody may ask."""
    for thread, place in {"5": "do_signal_stop", "6": "futex_wait"}.items():
        (tmp_path / "5/task" / thread).mkdir(parents=True)
        (tmp_path / "5/task" / thread / "wchan").write_text(place)
    assert threads_sleep(5, tmp_path)
    (tmp_path / "5/task/6/wchan").write_text("0")
    assert not threads_sleep(5, tmp_path)


def test_a_system_without_proc_has_nobody(tmp_path: Path) -> None:
    """Then only known children can be ended."""
    nowhere = tmp_path / "none"
    assert (children(1, nowhere), descendants(1, nowhere), dict(by_parent(nowhere))) == (
        [],
        [],
        {},
    )


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_who_has_ended_is_a_child_until_it_is_reaped_and_does_not_live() -> None:
    """Both ways see it."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    seen = [process.pid in found for found in (children(os.getpid()), all_descendants(os.getpid()))]
    assert (seen, thread_states(process.pid)) == ([True, True], [b"Z"])
    process.wait()
    assert process.pid not in children(os.getpid())


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system has no /proc")


def put(folder: Path, pid: int, user: int, count: int, state: str = "S (sleeping)", parent: int = 1) -> None:
    place = folder / str(pid)
    place.mkdir(exist_ok=True)
    place.joinpath("status").write_text(
        f"Name:\tUid: 5\nUmask:\t0022\nState:\t{state}\nTgid:\t{pid}\nPPid:\t{parent}\nUid:\t{user}\t7\t7\t7\nGid:\t9\t9\t9\t9\nThreads:\t{count}\n"
    )


class Clock:
    """Goes on by so many seconds with each look."""

    def __init__(self, step: float) -> None:
        self._step = step
        self._now = 0.0

    def __call__(self) -> float:
        self._now += self._step
        return self._now


def test_what_a_user_has_already_comes_on_top(tmp_path: Path) -> None:
    """Threads of all its processes, by the real user; zombies count too, others do not."""
    put(tmp_path, 10, user=1000, count=3)
    put(tmp_path, 11, user=1000, count=1, state="Z (zombie)")
    put(tmp_path, 12, user=1001, count=8)
    (tmp_path / "13").mkdir()
    (tmp_path / "self").mkdir()
    assert TaskLimit(1000, 32, tmp_path).limit() == 36
    assert TaskLimit(7, 32, tmp_path).limit() == 32
    assert threads([10, 12, 13, 99], tmp_path) == 11
    assert sorted(every(tmp_path), key=lambda process: process.pid) == [
        Process(10, 1, 1000, 3, lives=True),
        Process(11, 1, 1000, 1, lives=False),
        Process(12, 1, 1001, 8, lives=True),
    ]


@pytest.mark.parametrize(("step", "old"), [(1 / 1024, 1024), (0.125, 99)])
def test_a_count_holds_for_a_hundred_times_as_long(tmp_path: Path, step: float, old: int) -> None:
    """And for a second at least."""
    room = TaskLimit(1000, 32, tmp_path, Clock(step))
    assert room.limit() == 32
    put(tmp_path, 10, user=1000, count=1)
    assert [room.limit() for _ in range(old)] == [32] * (old - 1) + [33]


def test_without_such_a_folder_there_are_none(tmp_path: Path) -> None:
    """Elsewhere the kernel's limit is not used so."""
    assert list(every(tmp_path / "none")) == []


@pytest.mark.integration
@needs_proc
def test_real_processes_and_threads_are_found() -> None:
    """This one, with one thread more, and a child."""
    done = threading.Event()
    before = threads([os.getpid()])
    thread = threading.Thread(target=done.wait)
    thread.start()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert threads([os.getpid(), child.pid]) == before + 2
        assert Process(child.pid, os.getpid(), os.getuid(), 1, lives=True) in list(every())
        assert child.stdin is not None
        child.stdin.write(b"\n")
    done.set()
    thread.join()
