"""Timed calls: what they take is what the judge and the kernel say, at every level of isolation."""

import sys
import time
from collections.abc import Iterator

import pytest
from every_level import LEVELS, needs_numpy, opened

from evolve.sandbox.box import Box
from evolve.sandbox.channel import Channel
from evolve.sandbox.means import PLAIN
from evolve.sandbox.session import Session
from evolve.sandbox.status import SessionFailed, SessionReport, Status
from evolve.sandbox.timing import Segment, TimingUnavailable
from evolve.types import Limits, Program, SandboxError

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="clocks of other processes are Linux's"),
]

WORKER = Program(
    {
        "seed.py": """
import resource, time, threading
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return "burnt"
def thread(seconds):
    worker = threading.Thread(target=burn, args=(seconds,))
    worker.start()
    worker.join()
def sleep(seconds):
    time.sleep(seconds)
def fail():
    raise ValueError("on purpose")
def double(values):
    values *= 2
    return float(values.sum())
def nothing():
    pass
def pages_for_freed_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        blocks = [bytes(100_000) for _ in range(50)]
        del blocks
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
class Slow(list):
    def __iter__(self):
        burn(0.1)
        return super().__iter__()
def hand_over_slowly(*_):
    return Slow([[1]])
"""
    }
)


@pytest.fixture(scope="module", params=LEVELS)
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    with opened(request.param) as box:
        yield box


def test_work_and_sleep_are_told_apart(box: Box) -> None:
    """Processor time of all threads, and wall time."""
    with box.open(WORKER, "seed", 60, "timed") as session:
        burnt, threaded, slept = (
            session.timed("burn", 0.1),
            session.timed("thread", 0.1),
            session.timed("sleep", 0.1),
        )
    assert burnt.value == "burnt"
    assert min(burnt.wall, burnt.cpu, threaded.cpu, slept.wall) >= 0.1
    assert max(slept.cpu, threaded.outside, slept.outside) < 0.05


def test_what_is_done_before_and_after_is_outside(box: Box) -> None:
    """To take the program apart from its answer, which is worked on when it is handed over, where one byte says done."""
    with box.open(WORKER, "seed", 60, "timed") as session:
        session.timed("nothing")
        late = session.timed("hand_over_slowly")
        session.call("burn", 0.1)
        after = session.timed("nothing")
    assert late.value == [[1]]
    assert late.cpu < 0.05
    assert min(late.outside, after.outside) >= 0.1


def test_arguments_say_go_and_the_answer_says_done(box: Box) -> None:
    """So that what is put off until the answer is handed over is timed."""
    with box.open(WORKER, "seed", 60, "timed") as session:
        session.timed("nothing")
        late = session.timed("hand_over_slowly", 1)
    assert late.value == [[1]]
    assert min(late.cpu, late.wall) >= 0.1
    assert late.outside < 0.05


def test_memory_that_was_freed_is_kept(box: Box) -> None:
    """By whatever program, so that none is faster for telling its allocator so; 5 MB are 1,200 pages, each time."""
    with box.open(WORKER, "seed", 60, "timed") as session:
        session.timed("pages_for_freed_memory")
        assert session.timed("pages_for_freed_memory").value < 100


def test_an_exception_is_that_of_the_program_and_the_session_goes_on(box: Box) -> None:
    """As with every call; so is a function that is not there."""
    with box.open(WORKER, "seed", 60, "timed") as session:
        for function, status in (("fail", Status.ERROR), ("missing", Status.NO_ENTRY)):
            with pytest.raises(SessionFailed) as caught:
                session.timed(function)
            assert caught.value.status is status
        assert "on purpose" not in caught.value.message
        assert session.timed("burn", 0.0).value == "burnt"


def test_the_program_stands_still_while_the_judge_looks(box: Box) -> None:
    """And is told apart by its state, not by its word."""
    needs_numpy(box)
    with Segment(1 << 16) as segment, box.open(WORKER, "seed", 60, "timed") as session:
        view = segment.view(8, (1000,), "float64")
        view[:] = 1.5
        seen: list[float] = []
        found = session.timed(
            "double", segment.window(8, (1000,), "float64"), meanwhile=lambda: seen.append(view.sum())
        )
        assert (found.value, seen) == (3000.0, [3000.0])
        view[:] = 1.0
        assert session.timed("double", segment.window(808, (2, 2), "float64")).value == 8.0


def test_what_the_judge_raises_meanwhile_passes_and_the_program_goes_on(box: Box) -> None:
    """It was not the program's fault."""

    def fail() -> None:
        raise RuntimeError("the judge's own")

    with box.open(WORKER, "seed", 60, "timed") as session:
        with pytest.raises(RuntimeError, match="the judge's own"):
            session.timed("nothing", meanwhile=fail)
        assert session.timed("burn", 0.0).value == "burnt"


@pytest.fixture(scope="module")
def plain() -> Iterator[Box]:
    with opened((PLAIN, sys.executable)) as box:
        yield box


def test_work_has_a_limit(plain: Box) -> None:
    """Of wall time; the session ends with it."""
    with plain.open(WORKER, "seed", 60, "timed") as session:
        for function in ("sleep", "burn"):
            with pytest.raises(SessionFailed) as caught:
                session.timed(function, 30, seconds=0.2)
            assert caught.value.status is Status.TIMEOUT
    assert session.usage.seconds < 20


def test_only_a_session_that_is_for_it_is_timed(plain: Box) -> None:
    """In others a program may start processes that nobody counts; and one that is starts no commands."""
    with plain.open(WORKER, "seed", 60) as session, pytest.raises(SandboxError, match="timed=True"):
        session.timed("nothing")
    with plain.open(WORKER, "seed", 60, "timed") as session, pytest.raises(SandboxError, match="it is timed"):
        session.run(["true"])
    with pytest.raises(SandboxError, match="session that is over"):
        session.timed("nothing")


def test_a_session_without_a_clock_says_so() -> None:
    """At once, and what to do."""
    channel = Channel(100, 100)
    channel.hand_over()
    session = Session(channel, lambda _: SessionReport(0, True, 0.0, 0, 0), 1.0, Limits(), "timed")
    with pytest.raises(TimingUnavailable, match="Try: "):
        session.timed("nothing")
    session.close()


def test_the_least_time_of_a_call_is_small_and_even(plain: Box) -> None:
    """Half of the calls of nothing lie within a factor of the median that no transport of data would keep."""
    with plain.open(WORKER, "seed", 60, "timed") as session:
        times = sorted(session.timed("nothing").cpu for _ in range(30))
    assert times[22] < 10 * times[7]


def test_a_program_that_was_ended_between_two_calls_was_late(box: Box) -> None:
    """A judge that computes for longer than a session lasts finds nobody there; that the program's time is over is no crash of the program's."""
    with box.open(WORKER, "seed", 0.3, "timed") as session:
        session.timed("nothing")
        time.sleep(1.7)
        with pytest.raises(SessionFailed) as caught:
            session.timed("nothing")
    assert caught.value.status is Status.TIMEOUT
