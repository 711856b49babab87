"""The handle that an evaluator holds."""

import pytest
from judge_fakes import FakeBox, FakeClock, failure

from evolve.evaluation.candidate import Candidate
from evolve.sandbox.status import Completed, SessionFailed, Status
from evolve.types import Program

PROGRAM = Program({"seed.py": ""})


def test_a_call_is_a_session_of_one_call():
    """Arguments and keywords reach the function; the session is closed after."""
    box = FakeBox({"pack": [1, 2]})
    candidate = Candidate(PROGRAM, box.session, 20.0, FakeClock())
    assert candidate.call("pack", 3, seed=4) == [1, 2]
    assert box.sessions[0].calls == [("pack", (3,), {"seed": 4})]
    assert box.sessions[0].closed


def test_a_session_holds_for_several_calls():
    """One process for all of them."""
    box = FakeBox({"one": 1, "two": 2})
    candidate = Candidate(PROGRAM, box.session, 20.0, FakeClock())
    with candidate.session() as session:
        assert [session.call("one"), session.call("two")] == [1, 2]
    assert len(box.sessions) == 1


def test_a_run_is_a_session_of_one_command():
    """What it gives is what the session gives."""
    box = FakeBox({"sort": "a b"})
    candidate = Candidate(PROGRAM, box.session, 20.0, FakeClock())
    assert candidate.run(["sort", "-r"], input="b a", seconds=2.0) == Completed(0, "a b", "")
    assert (box.sessions[0].calls, box.opened) == ([("sort", ("-r",), {"input": "b a"})], [2.0])
    assert box.sessions[0].closed


def test_a_build_is_a_session_of_its_own_for_a_build():
    """What it leaves is brought into another."""
    box = FakeBox({"cc": "", "kernel.so": b"ELF", "f": 1})
    candidate = Candidate(PROGRAM, box.session, 20.0, FakeClock())
    made = candidate.build(["cc", "-o", "kernel.so"], keep=("kernel.so",), seconds=2.0)
    assert (made, box.opened, box.jobs, box.sessions[0].closed) == ({"kernel.so": b"ELF"}, [2.0], ["build"], True)
    with candidate.session(files=made) as session:
        assert session.call("f") == 1
    assert (box.jobs, box.sessions[1].placed, box.sessions[0].placed) == (["build", "run"], made, {})


def test_a_build_finds_files_of_the_judges():
    """Such as the glue between a program's function and what calls it."""
    box = FakeBox({"cc": "", "kernel.so": b"ELF"})
    candidate = Candidate(PROGRAM, box.session, 20.0, FakeClock())
    candidate.build(["cc"], ["kernel.so"], files={"glue.c": b"int x;"})
    assert (box.jobs, box.sessions[0].placed) == (["build"], {"glue.c": b"int x;"})


def test_a_session_without_files_places_none():
    """It costs what it did."""
    box = FakeBox({"f": 1})
    with Candidate(PROGRAM, box.session, 20.0, FakeClock()).session(files={}) as session:
        session.call("f")
    assert box.sessions[0].placed == {}


@pytest.mark.parametrize(("seconds", "expected"), [(None, 20.0), (5.0, 5.0), (60.0, 20.0)])
def test_a_session_never_ends_later_than_the_stage(seconds, expected):
    """An evaluator may give a call less time, not more."""
    box = FakeBox({"pack": 1})
    Candidate(PROGRAM, box.session, 20.0, FakeClock()).call("pack", seconds=seconds)
    assert box.opened == [expected]


def test_a_box_that_is_started_anew_takes_nothing_of_the_limit():
    """It is after so many sessions, and after a program that nothing else could end."""
    box, clock = FakeBox({"pack": 1}), FakeClock()

    def slow(*arguments):
        clock.now += 5.0
        return box.session(*arguments)

    candidate = Candidate(PROGRAM, slow, 4.0, clock)
    assert [candidate.call("pack"), candidate.call("pack"), box.opened] == [1, 1, [4.0, 4.0]]


def test_all_sessions_share_the_limit_of_the_stage():
    """What the first used, the second lacks; when nothing is left, the next call times out without a process."""
    box, clock = FakeBox({"pack": 1}), FakeClock()
    candidate = Candidate(PROGRAM, box.session, 20.0, clock)
    clock.now += 15.0
    candidate.call("pack")
    assert box.opened == [5.0]
    clock.now += 5.0
    with pytest.raises(SessionFailed) as failed:
        candidate.call("pack")
    assert failed.value.status is Status.TIMEOUT
    assert len(box.opened) == 1


def test_usage_adds_up_also_where_a_call_fails():
    """Processor time over all sessions, and what was printed last."""
    box = FakeBox({"pack": 1, "break": failure()}, log="hello")
    candidate = Candidate(PROGRAM, box.session, 20.0, FakeClock())
    candidate.call("pack")
    with pytest.raises(SessionFailed):
        candidate.call("break")
    assert candidate.cpu_seconds == 0.5
    assert candidate.log == "hello"
