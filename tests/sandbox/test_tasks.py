"""Processes and threads as the kernel counts them: on a folder that looks like /proc, and on real ones."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evolve.sandbox.processes import Process, Room, every, threads

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system has no /proc")


def put(folder: Path, pid: int, user: int, count: int, state: str = "S (sleeping)") -> None:
    place = folder / str(pid)
    place.mkdir(exist_ok=True)
    place.joinpath("status").write_text(
        f"Name:\tUid: 5\nUmask:\t0022\nState:\t{state}\nTgid:\t{pid}\nUid:\t{user}\t7\t7\t7\nGid:\t9\t9\t9\t9\nThreads:\t{count}\n"
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
    assert Room(1000, 32, tmp_path).limit() == 36
    assert Room(7, 32, tmp_path).limit() == 32
    assert threads([10, 12, 13, 99], tmp_path) == 11
    assert sorted(every(tmp_path), key=lambda process: process.pid) == [
        Process(10, 1000, 3, lives=True),
        Process(11, 1000, 1, lives=False),
        Process(12, 1001, 8, lives=True),
    ]


@pytest.mark.parametrize(("step", "old"), [(1 / 1024, 1024), (0.125, 99)])
def test_a_count_holds_for_a_hundred_times_as_long(tmp_path: Path, step: float, old: int) -> None:
    """And for a second at least."""
    room = Room(1000, 32, tmp_path, Clock(step))
    assert room.limit() == 32
    put(tmp_path, 10, user=1000, count=1)
    assert [room.limit() for _ in range(old)] == [32] * (old - 1) + [33]


def test_without_such_a_folder_there_are_none(tmp_path: Path) -> None:
    """Elsewhere the kernel's limit is not used so."""
    assert list(every(tmp_path / "none")) == []


@needs_proc
def test_real_processes_and_threads_are_found() -> None:
    """This one, with one thread more, and a child."""
    done = threading.Event()
    before = threads([os.getpid()])
    thread = threading.Thread(target=done.wait)
    thread.start()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert threads([os.getpid(), child.pid]) == before + 2
        assert Process(child.pid, os.getuid(), 1, lives=True) in list(every())
        assert child.stdin is not None
        child.stdin.write(b"\n")
    done.set()
    thread.join()
