"""A program of the judge's own, beside the candidate."""

from collections.abc import Callable
from typing import Any

import pytest
from judge_fakes import FakeBox, FakeClock, failure

from evolve.evaluation.candidate import Candidate
from evolve.sandbox.status import SessionFailed, Status
from evolve.types import Program, SandboxError

PROGRAM, REFERENCE = Program({"seed.py": "theirs"}), Program({"seed.py": "ours"})


class Raising(FakeBox):
    """Each failure is that of the session that raised it, as a real session marks it."""

    def session(self, *arguments: Any) -> Any:
        session = super().session(*arguments)
        for answer in self.answers.values():
            if isinstance(answer, SessionFailed):
                answer.session = session
        return session


def pair(theirs: FakeBox, ours: FakeBox, clock: Callable[[], float] | None = None) -> tuple[Candidate, Candidate]:
    """A candidate with a limit of 20 s, and the reference beside it."""
    candidate = Candidate(PROGRAM, theirs.session, 20.0, clock or FakeClock(), lambda: ours.session)
    return candidate, candidate.beside(REFERENCE)


def test_both_have_sessions_that_are_open_at_once() -> None:
    """In boxes of their own; the time of each counts for itself."""
    theirs, ours = FakeBox({"f": 1}), FakeBox({"f": 2})
    candidate, reference = pair(theirs, ours)
    with candidate.session(timed=True) as first, reference.session(timed=True) as second:
        assert [first.call("f"), second.call("f"), first.call("f")] == [1, 2, 1]
    reference.call("f")
    assert (theirs.jobs, ours.jobs) == (["timed"], ["timed", "run"])
    assert (candidate.cpu_seconds, reference.cpu_seconds) == (0.25, 0.5)
    assert (candidate.program, reference.program) == (PROGRAM, REFERENCE)


def test_a_failure_beside_is_the_evaluators() -> None:
    """While that of the candidate passes, also where both are open."""
    candidate, reference = pair(Raising({"f": failure(Status.ERROR)}), Raising({"f": failure(Status.SIGNAL)}))
    with pytest.raises(SandboxError, match="which the evaluator trusts, failed"):
        reference.call("f")
    with pytest.raises(SessionFailed), reference.session(), candidate.session() as first:
        first.call("f")


def test_the_stages_limit_holds_for_both_together() -> None:
    """But what starting the second box takes is nobody's."""
    times = iter([0.0, 100.0, 107.0, 107.0, 117.0, 117.0])
    theirs, ours = FakeBox({"f": 1}), FakeBox({"f": 2})
    candidate = Candidate(PROGRAM, theirs.session, 120.0, lambda: next(times), lambda: ours.session)
    reference = candidate.beside(REFERENCE)
    with candidate.session():
        assert (theirs.opened, reference.program) == ([10.0], REFERENCE)


def test_without_a_second_box_there_is_nobody_beside() -> None:
    with pytest.raises(SandboxError, match="no second box"):
        Candidate(PROGRAM, FakeBox().session, 20.0, FakeClock()).beside(REFERENCE)
