"""Facts about how a program is asked, with sessions that are played."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from evolve import SessionFailed
from evolve.sandbox.status import Status
from evolve_benchmark.questions import CallLimits, LateAnswer, ask, ask_in_time

QUESTIONS = [(number,) for number in range(5)]


class Played:
    """Answers a number with its square. `slow` says how often in all a number is late; `broken` numbers raise. All calls are noted, a list for each session."""

    def __init__(self, slow: dict[int, int] | None = None, broken: frozenset[int] = frozenset()) -> None:
        self.sessions: list[list[tuple[int, float | None]]] = []
        self._slow = dict(slow or {})
        self._broken = broken

    @contextmanager
    def open(self) -> Iterator["Played"]:
        """A process."""
        self.sessions.append([])
        yield self

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Any:
        """The square, if all goes well."""
        (number,) = arguments
        self.sessions[-1].append((number, seconds))
        if number in self._broken:
            raise SessionFailed(Status.ERROR, "broken")
        if self._slow.get(number, 0) > 0:
            self._slow[number] -= 1
            raise SessionFailed(Status.TIMEOUT, "late")
        return number**2


def limits(late: int = 2) -> CallLimits:
    return CallLimits(seconds=0.1, start=2.0, late=late, first=(99,))


def test_without_a_limit_one_process_answers_all():
    """In the order of the questions."""
    played = Played()
    assert ask(played.open, "square", QUESTIONS) == [0, 1, 4, 9, 16]
    assert played.sessions == [[(number, None) for number in range(5)]]


def test_with_a_limit_the_first_call_does_not_count():
    """It has another limit, for it imports the program."""
    played = Played()
    assert ask_in_time(played.open, "square", QUESTIONS, limits()) == [0, 1, 4, 9, 16]
    assert played.sessions == [[(99, 2.0), (0, 0.1), (1, 0.1), (2, 0.1), (3, 0.1), (4, 0.1)]]


def test_late_once_is_asked_again_in_a_new_process():
    """And is not late where that answers in time."""
    played = Played(slow={2: 1})
    assert ask_in_time(played.open, "square", QUESTIONS, limits(late=0)) == [0, 1, 4, 9, 16]
    assert [[number for number, _ in calls] for calls in played.sessions] == [[99, 0, 1, 2], [99, 2, 3, 4]]


def test_late_twice_is_late_and_the_others_are_asked():
    """In a third process."""
    played = Played(slow={2: 2})
    found = ask_in_time(played.open, "square", QUESTIONS, limits())
    assert isinstance(found[2], LateAnswer)
    assert [*found[:2], *found[3:]] == [0, 1, 9, 16]
    assert [len(calls) for calls in played.sessions] == [4, 2, 3]


def test_with_too_many_late_calls_the_program_is_late():
    """As the last of them says."""
    with pytest.raises(SessionFailed, match="late"):
        ask_in_time(Played(slow={0: 2, 1: 2, 2: 2}).open, "square", QUESTIONS, limits(late=2))


def test_the_last_question_may_be_late():
    """Nothing is asked after it."""
    found = ask_in_time(Played(slow={4: 2}).open, "square", QUESTIONS, limits())
    assert isinstance(found[4], LateAnswer)


@pytest.mark.parametrize("number", [2, 99])
def test_another_failure_is_the_programs(number):
    """At whichever call."""
    with pytest.raises(SessionFailed, match="broken"):
        ask_in_time(Played(broken=frozenset({number})).open, "square", QUESTIONS, limits())
