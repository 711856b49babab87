"""Where threads run: one core for those of the engine, every core for what they start."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

from evolve import cores
from evolve.config import settings_from
from evolve.cores import Core, current, on_all_cores, usable

T = TypeVar("T")

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2 or current() is None,
    reason="there is one core, no choice of it, or nobody who tells which it is",
)
ALL = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()
_TELLS = "import os; print(*sorted(os.sched_getaffinity(0)))"


class Machine:
    """A time that stands still, and the system's choice of a core."""

    def __init__(self) -> None:
        self.now = 100.0
        self.number: int | None = ALL[-1]
        self.cores: list[Core] = []

    def core(self) -> Core:
        core = Core(kept=True, clock=lambda: self.now, where=lambda: self.number)
        self.cores.append(core)
        return core


@pytest.fixture
def machine():
    """This thread runs anywhere afterwards, whatever a test has left."""
    found = Machine()
    yield found
    for core in found.cores:
        core.close()
        if core._witness.ident is not None:
            core._witness.join(60)  # the next test counts threads, or tells each of them where it may run
    vars(cores._mine).clear()
    os.sched_setaffinity(0, ALL)


def here() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0)))


def on_another_thread(act: Callable[[], T]) -> T:
    found: list[T] = []
    thread = threading.Thread(target=lambda: found.append(act()))
    thread.start()
    thread.join()
    return found[0]


def test_a_thread_is_kept_where_the_system_has_put_it(machine: Machine) -> None:
    core = machine.core()
    assert here() == ALL
    core.choose()
    assert here() == (ALL[-1],)
    assert current() == ALL[-1]
    core.leave()
    assert here() == ALL


def test_the_system_chooses_anew_after_some_seconds(machine: Machine) -> None:
    """And has a moment for that, in which the thread may go where it will."""
    core = machine.core()
    core.choose()
    machine.number = ALL[0]
    machine.now += 4.9
    core.choose()
    assert here() == (ALL[-1],)
    machine.now += 0.2
    core.choose()
    assert here() == ALL
    core.choose()
    assert here() == ALL
    machine.now += 0.03
    core.choose()
    assert here() == (ALL[0],)


@pytest.mark.parametrize("place", [ALL[0], ALL[-1]])
def test_who_says_from_outside_where_the_process_may_run_is_heard(machine: Machine, place: int) -> None:
    """As `taskset -ap` does, also where it names the core that was chosen, and when it is all cores again."""
    core = machine.core()
    core.choose()
    for told in ((place,), ALL):
        for task in os.listdir("/proc/self/task"):  # noqa: PTH208 names are enough
            with suppress(ProcessLookupError):  # one that an earlier test has left may end at this moment
                os.sched_setaffinity(int(task), told)
        assert core.usable == usable() == told
        with on_all_cores():
            assert here() == told
        assert set(here()) <= set(told)
        machine.now += 6
        core.choose()
        assert here() == told
        machine.now += 1
        machine.number = place
        core.choose()
        assert here() == (place,)


def test_other_threads_follow_when_they_join(machine: Machine) -> None:
    core = machine.core()
    core.choose()

    def joined() -> tuple[int, ...]:
        core.join()
        return here()

    assert on_another_thread(joined) == (ALL[-1],)
    machine.number, machine.now = ALL[0], machine.now + 6
    core.choose()
    assert on_another_thread(joined) == (ALL[-1],)
    machine.now += 1
    core.choose()
    assert on_another_thread(joined) == (ALL[0],)


def test_a_thread_that_a_kept_one_has_started_is_free_when_there_is_no_core_any_more(machine: Machine) -> None:
    core = machine.core()
    core.choose()
    go_on, started = threading.Event(), threading.Event()
    found = []

    def act() -> None:
        found.append(here())
        started.set()
        go_on.wait()
        core.join()
        found.append(here())

    thread = threading.Thread(target=act)
    thread.start()
    started.wait()
    machine.number = None
    for _ in range(2):
        machine.now += 6
        core.choose()
    go_on.set()
    thread.join()
    assert found == [(ALL[-1],), ALL]
    assert here() == ALL


def test_what_is_started_on_all_cores_has_them(machine: Machine) -> None:
    core = machine.core()
    core.choose()
    with on_all_cores():
        assert here() == ALL
        told = subprocess.run([sys.executable, "-c", _TELLS], capture_output=True, text=True, check=True).stdout
        assert on_another_thread(here) == ALL
    assert tuple(map(int, told.split())) == ALL
    assert here() == (ALL[-1],)
    core.leave()
    with on_all_cores():
        assert here() == ALL
    assert here() == ALL


def test_an_error_there_brings_the_thread_back(machine: Machine) -> None:
    core = machine.core()
    core.choose()
    with pytest.raises(ValueError, match="it"), on_all_cores():
        raise ValueError("it")
    assert here() == (ALL[-1],)


def test_what_this_process_may_use_is_the_same_for_a_thread_that_is_kept(machine: Machine) -> None:
    """So that settings which are read while a campaign runs have as many judges as before."""
    before = settings_from({"task": "t"}).judges
    machine.core().choose()
    assert here() == (ALL[-1],)
    assert usable() == ALL
    assert settings_from({"task": "t"}).judges == before


def test_where_the_system_does_not_tell_nobody_is_kept(machine: Machine, monkeypatch, tmp_path: Path) -> None:
    machine.number = None
    core = machine.core()
    core.choose()
    assert here() == ALL
    machine.number, machine.now = max(ALL) + 1, machine.now + 6
    core.choose()
    machine.now += 6
    core.choose()
    assert here() == ALL
    monkeypatch.setattr(cores, "_THIS_THREAD", tmp_path / "none")
    assert current() is None


def test_one_core_is_no_choice(machine: Machine) -> None:
    os.sched_setaffinity(0, {ALL[0]})
    core = machine.core()
    os.sched_setaffinity(0, ALL)
    core.choose()
    core.join()
    assert here() == ALL


def test_after_the_end_nobody_is_kept_and_no_thread_is_left(machine: Machine) -> None:
    before = threading.active_count()
    core = machine.core()
    core.choose()
    assert threading.active_count() == before + 1
    core.close()
    core.join()
    core.choose()
    assert here() == ALL
    core._witness.join(60)
    assert threading.active_count() == before


def test_nobody_is_kept_where_nobody_should_be(machine: Machine) -> None:
    core = Core(kept=False, where=lambda: ALL[0])
    core.choose()
    core.join()
    assert here() == ALL
