"""The program's function, called with one instance after the other in processes of its own.

A program has seen an instance before its call only where it was late with it, in another process. A question is late when it was late twice,
so that a moment in which the machine did something else costs a program nothing."""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from evolve import SessionFailed

LATE = "timeout"
"""Status of a call that did not end in time."""
Arguments: TypeAlias = tuple[Any, ...]


class AnsweringSession(Protocol):
    """Part of a candidate's session that is used here."""

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Any:
        """Returns the answer of one of its functions."""
        ...


Open: TypeAlias = Callable[[], AbstractContextManager[AnsweringSession]]


@dataclass(frozen=True, slots=True)
class LateAnswer:
    """Stands in the place of an answer that did not come in time; `failure` is what the session said."""

    failure: SessionFailed


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Seconds of a call, and of the first call of a process, which gets the arguments `first`; so many calls may be `late`."""

    seconds: float
    start: float
    late: int
    first: Arguments


def ask(open_session: Open, function: str, questions: Sequence[Arguments]) -> list[Any]:
    """Returns the answers in the order of the questions, all of one process; raises `SessionFailed`."""
    with open_session() as session:
        return [session.call(function, *arguments) for arguments in questions]


def ask_in_time(open_session: Open, function: str, questions: Sequence[Arguments], limits: CallLimits) -> list[Any]:
    """Returns the answers in the order of the questions, `LateAnswer` for some; raises `SessionFailed` where too many are late, or a call fails otherwise.

    A late call ends its process. Each process is called once with arguments that do not count, for its first call imports the program."""
    found: list[Any] = [None] * len(questions)
    waiting, tried, late = deque(range(len(questions))), set[int](), 0
    while waiting:
        with open_session() as session:
            session.call(function, *limits.first, seconds=limits.start)
            failure = _ask_until_late(session, function, questions, waiting, found, limits.seconds)
        if failure is None:
            break
        index = waiting[0]
        if index in tried:
            found[waiting.popleft()] = LateAnswer(failure)
            late += 1
        tried.add(index)
        if late > limits.late:
            raise failure
    return found


def _ask_until_late(
    session: AnsweringSession,
    function: str,
    questions: Sequence[Arguments],
    waiting: deque[int],
    found: list[Any],
    seconds: float,
) -> SessionFailed | None:
    """Asks what is waiting; returns the failure of the call that was late, whose question waits still."""
    while waiting:
        try:
            found[waiting[0]] = session.call(function, *questions[waiting[0]], seconds=seconds)
        except SessionFailed as failure:
            if failure.status != LATE:
                raise
            return failure
        waiting.popleft()
    return None
