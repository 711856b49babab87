"""Nobody who descends from a process is overlooked."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evolve.sandbox.processes import (
    all_descendants,
    by_parent,
    children,
    descendants,
    is_living,
    thread_states,
    threads_sleep,
)

BORN = {10: 1, 11: 10, 12: 10, 13: 12, 20: 1}
"""The parents. 10 has two threads, 10 and 15, of which the second has started 12."""


@pytest.fixture(params=[True, False], ids=["listed", "by their parents"])
def processes(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A /proc; the kernel that made it lists children or does not. The names of its programs hold spaces and parentheses."""
    for pid, parent in BORN.items():
        (tmp_path / str(pid) / "task" / str(pid)).mkdir(parents=True)
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a (b) c) S {parent} 0 0\n")
    (tmp_path / "10/task/15").mkdir()
    if request.param:
        for path, pids in {"10/task/10": "11 ", "10/task/15": "12 ", "12/task/12": "13 "}.items():
            (tmp_path / path / "children").write_text(pids)
        for pid in (11, 13, 20):
            (tmp_path / f"{pid}/task/{pid}/children").write_text("")
    (tmp_path / "8").mkdir()
    (tmp_path / "8" / "stat").mkdir()  # one that ends while it is looked at
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
    assert (children(1, nowhere), descendants(1, nowhere), dict(by_parent(nowhere)), is_living(1, nowhere)) == (
        [],
        [],
        {},
        False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_who_has_ended_is_a_child_until_it_is_reaped_and_does_not_live() -> None:
    """Both ways see it."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    seen = [process.pid in found for found in (children(os.getpid()), all_descendants(os.getpid()))]
    assert (seen, is_living(process.pid), is_living(os.getpid())) == ([True, True], False, True)
    process.wait()
    assert process.pid not in children(os.getpid())
