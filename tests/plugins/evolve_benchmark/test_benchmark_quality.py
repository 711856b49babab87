"""Facts about how a program is asked, with sessions that are played, and about scores, their means and their standard error."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from evolve import SessionFailed
from evolve.sandbox.status import Status
from evolve_benchmark.quality import CallLimits, LateAnswer, ask, ask_in_time, mean, score, standard_error, suite_mean

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


def test_a_score_is_how_many_times_as_good_as_the_reference():
    """Whichever values are better, and exactly where both are exact."""
    assert score(Fraction(3), Fraction(4), "larger") == Fraction(3, 4)
    assert score(Fraction(3), Fraction(4), "smaller") == Fraction(4, 3)
    assert score(0.5, Fraction(2), "larger") == 0.25


def test_the_means_of_two_numbers():
    """Of fractions, the arithmetic and the harmonic one are fractions."""
    scores = [Fraction(1), Fraction(4)]
    assert mean("arithmetic", scores) == Fraction(5, 2)
    assert mean("harmonic", scores) == Fraction(8, 5)
    assert mean("geometric", scores) == pytest.approx(2.0)


@pytest.mark.parametrize(("how", "most"), [("harmonic", 1.02), ("geometric", 2.0), ("arithmetic", 2e6)])
def test_how_far_one_huge_score_of_fifty_lifts_a_mean(how, most):
    """The harmonic mean hardly moves; the arithmetic one is worthless without `at_most`."""
    lifted = mean(how, [1.0] * 49 + [1e8])
    assert most / 2 < lifted < most * 1.01


def test_every_kind_of_a_suite_weighs_the_same():
    """However many instances it has."""
    assert suite_mean("arithmetic", [[1.0] * 9, [3.0]]) == 2.0


@pytest.mark.parametrize("how", ["arithmetic", "geometric", "harmonic"])
def test_the_standard_error_is_the_spread_of_the_mean(how):
    """Of scores that are drawn again and again, in two kinds of different size and spread."""
    rng = np.random.default_rng(1)
    draws = [[np.exp(rng.normal(0, 0.1, 40)).tolist(), np.exp(rng.normal(0.3, 0.3, 15)).tolist()] for _ in range(300)]
    spread = np.std([float(suite_mean(how, kinds)) for kinds in draws])
    told = np.mean([standard_error(how, kinds) for kinds in draws])
    assert told == pytest.approx(spread, rel=0.15)


def test_of_equal_weights_the_standard_error_is_the_usual_one():
    """Standard deviation over the root of the count."""
    scores = [1.0, 2.0, 4.0]
    assert standard_error("arithmetic", [scores]) == pytest.approx(np.std(scores, ddof=1) / math.sqrt(3))


def test_one_instance_of_a_kind_has_no_standard_error():
    """Nothing tells how far another one would lie."""
    assert standard_error("harmonic", [[1.0, 2.0], [1.0]]) is None
