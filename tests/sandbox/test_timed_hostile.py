"""Programs that would forge their time: what they gain is nothing, or is seen beside it."""

import sys
import time
from collections.abc import Iterator

import pytest
from every_level import LEVELS, needs_numpy, opened

from evolve.sandbox.box import Box
from evolve.sandbox.status import SessionFailed, Status
from evolve.sandbox.timing import Segment
from evolve.types import Program

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="clocks of other processes are Linux's"),
]

_TRICKS = """
import ctypes, os, signal, struct, sys, threading, time
def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass
def frame():
    place = sys._getframe()
    while place.f_code.co_name != "_call":
        place = place.f_back
    return place.f_locals
def say_done_early():
    os.write(4, frame()["mark"])
    burn(0.05)
def say_something_else():
    os.write(4, bytes([frame()["mark"][0] ^ 1]))
    burn(1)
def answer_later():
    class Later(list):
        def __iter__(self):
            burn(0.05)
            return super().__iter__()
    return Later([[1]])
def answer_early(_):
    place, text = sys._getframe(), b'["ok",null]'
    while place.f_code.co_name != "perform":
        place = place.f_back
    os.write(4, place.f_locals["request"].ticket + struct.pack(">QI", 4 + len(text), len(text)) + text)
    burn(0.05)
def die():
    os.kill(os.getpid(), signal.SIGKILL)
def leave():
    os._exit(0)
def never():
    time.sleep(100)
def block():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
def turn_back_the_clocks():
    begin = [time.perf_counter(), time.process_time()]
    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
        setattr(time, name, lambda: 0.0)
    for _ in range(300_000):
        pass
def fork_a_helper(seconds):
    here, there = os.pipe()
    if os.fork() == 0:
        burn(seconds)
        os.write(there, b"done")
        time.sleep(100)
    os.read(here, 4)
def write_for_ever(values):
    def work():
        while True:
            values[0] += 1
    threading.Thread(target=work, daemon=True).start()
    await_more(values)
def await_more(values):
    # Until the thread has had a turn, however busy the machine is.
    before = int(values[0])
    while int(values[0]) == before:
        time.sleep(0.001)
def nothing():
    pass
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("number", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_byte * 48)]
class Spec(ctypes.Structure):
    _fields_ = [("times", ctypes.c_long * 4)]
def set_alarms_that_wake(values):
    signal.signal(signal.SIGCONT, lambda *_: None)
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(1, 21):
        timer, event = ctypes.c_void_p(), Event(None, signal.SIGCONT, 0)
        assert libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer)) == 0
        spec = Spec((ctypes.c_long * 4)(0, 0, 0, number * 49_000_000))
        assert libc.timer_settime(timer, 0, ctypes.byref(spec), None) == 0
    write_for_ever(values)
"""
PROGRAM = Program({"seed.py": _TRICKS})


@pytest.fixture(scope="module", params=LEVELS)
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    with opened(request.param) as box:
        yield box


def failed(box: Box, function: str, *arguments: object) -> SessionFailed:
    """How a timed call fails, or the one after it."""
    with pytest.raises(SessionFailed) as caught, box.open(PROGRAM, "seed", 20, "timed") as session:  # noqa: PT012
        session.timed(function, *arguments, seconds=0.4 if function == "never" else 10)
        session.timed("nothing")
    return caught.value


@pytest.mark.parametrize(
    ("function", "status"),
    [
        ("say_done_early", Status.BAD_FRAME),
        ("say_something_else", Status.BAD_FRAME),
        ("die", Status.SIGNAL),
        ("leave", Status.NO_RESULT),
        ("never", Status.TIMEOUT),
    ],
)
def test_who_breaks_the_rules_of_timing_fails(box: Box, function: str, status: Status) -> None:
    """As itself, and the next session is as ever."""
    assert failed(box, function).status is status
    with box.open(PROGRAM, "seed", 20, "timed") as session:
        assert session.timed("nothing").value is None


def test_work_that_is_done_after_the_answer_was_promised_is_outside(box: Box) -> None:
    """However it is put off."""
    with box.open(PROGRAM, "seed", 20, "timed") as session:
        session.timed("nothing")
        assert session.timed("answer_later").outside >= 0.05


def test_who_answers_early_is_stopped_then_and_its_real_answer_is_one_too_many(box: Box) -> None:
    """What it answers is what counts, and nothing comes after."""
    assert failed(box, "answer_early", 1).status is Status.BAD_FRAME


def test_neither_blocked_signals_nor_clocks_of_its_own_change_a_time(box: Box) -> None:
    """The one that stops cannot be blocked; the clocks are the judge's and the kernel's."""
    with box.open(PROGRAM, "seed", 60, "timed") as session:
        session.timed("block")
        found = session.timed("turn_back_the_clocks")
    assert min(found.cpu, found.wall) > 0.001


def test_a_helper_is_refused_or_counted(box: Box) -> None:
    """Its time is nobody else's."""
    with box.open(PROGRAM, "seed", 20, "timed") as session:
        if box.isolation.startswith(("strict", "standard")):
            with pytest.raises(SessionFailed, match="PermissionError"):
                session.timed("fork_a_helper", 0.05)
        else:
            assert session.timed("fork_a_helper", 0.05).cpu >= 0.05


def test_nobody_writes_while_the_judge_looks(box: Box) -> None:
    """A thread that never ends is stopped as well."""
    needs_numpy(box)
    with Segment(4096) as segment, box.open(PROGRAM, "seed", 20, "timed") as session:
        view = segment.view(0, (1,), "int64")
        seen: list[tuple[int, int]] = []

        def look() -> None:
            before = int(view[0])
            time.sleep(0.02)
            seen.append((before, int(view[0])))

        window = segment.window(0, (1,), "int64")
        session.timed("write_for_ever", window, meanwhile=look)
        again = session.timed("await_more", window, meanwhile=look)
    assert [before == after for before, after in seen] == [True, True]
    assert 0 < seen[0][0] < seen[1][0]
    assert again.outside > 0


def test_a_program_that_wakes_itself_fails(box: Box) -> None:
    """What it was looked at for meanwhile may be anything."""
    needs_numpy(box)
    with Segment(4096) as segment, box.open(PROGRAM, "seed", 20, "timed") as session:
        window = segment.window(0, (1,), "int64")
        with pytest.raises(SessionFailed) as caught:
            session.timed("set_alarms_that_wake", window, meanwhile=lambda: time.sleep(1.0))
    assert (caught.value.status, caught.value.message) == (
        Status.BAD_FRAME,
        "the program went on while it was stopped (set_alarms_that_wake())",
    )
