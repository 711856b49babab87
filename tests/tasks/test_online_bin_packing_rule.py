"""Facts about how the judge of `online_bin_packing` asks a rule, with a candidate in this process."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bin_packing_rules as rules
import numpy as np
import pytest
from task_files import judging_files

rule = judging_files("online_bin_packing").rule
CAPACITY = 30
SIZES = range(1, 21)


class InProcess:
    """A candidate whose sessions each make the rule anew, and whose questions are kept."""

    def __init__(self, made: Callable[[], Callable[..., Any]]) -> None:
        self.made = made
        self.sessions: list[list[tuple[int, list[int]]]] = []

    @contextmanager
    def session(self) -> Iterator["Asked"]:
        self.sessions.append([])
        yield Asked(self.made(), self.sessions[-1])


class Asked:
    """A session."""

    def __init__(self, score: Callable[..., Any], questions: list[tuple[int, list[int]]]) -> None:
        self.score = score
        self.questions = questions

    def call(self, function: str, item: int, residual: Any, seconds: float) -> Any:
        assert (function, seconds) == ("score", rule.ANSWER_SECONDS)
        self.questions.append((item, residual.tolist()))
        return self.score(item, residual)

    def map(self, function: str, calls: Any, seconds: float) -> list[Any]:
        assert seconds == rule.ANSWERS_SECONDS
        return [self.call(function, *each, seconds=rule.ANSWER_SECONDS) for each in calls]


def candidate(source: str) -> InProcess:
    return InProcess(lambda: rules.function(source))


def rng() -> Any:
    return np.random.default_rng(1)


def table_of(asked: InProcess) -> Any:
    return rule.tabulated(asked, SIZES, CAPACITY, rng())


def test_a_table_asks_for_every_room_of_every_item_once() -> None:
    """In no order that tells anything."""
    asked = candidate(rules.BEST_FIT)
    table = table_of(asked)
    questions = asked.sessions[0]
    assert sorted(questions) == [(item, list(range(item, CAPACITY + 1))) for item in SIZES]
    assert questions != sorted(questions)
    assert table.rows[18].tolist() == [-np.inf] * 18 + [-left for left in range(13)]


def test_a_table_chooses_the_first_of_the_best() -> None:
    """And no bin that is too small."""
    table = table_of(candidate("def score(item, residual):\n    return residual // 10\n"))
    assert [table.choose(12, np.array(rooms)) for rooms in ([5, 30], [22, 12, 29, 25], [11, 15, 13, 30])] == [1, 0, 3]


@pytest.mark.parametrize(
    ("source", "alone"),
    [
        (rules.BEST_FIT, True),
        (rules.EOH, True),
        ("def score(item, residual):\n    return residual - residual.max() - item\n", True),
        (rules.FIRST_FIT, False),
        (rules.FUNSEARCH, False),
        ("def score(item, residual):\n    return residual - residual.mean()\n", False),
    ],
)
def test_whether_a_rule_looks_at_each_bin_alone_is_found_out(source: str, alone: bool) -> None:
    """The largest room is always that of the new bin, and so the same whatever the bins are."""
    asked = candidate(source)
    assert rule.is_for_each_bin_alone(asked, table_of(asked), rng()) is alone


def test_questions_about_crowds_look_like_real_ones() -> None:
    """Bins that can take the item, the new one last."""
    asked = candidate(rules.BEST_FIT)
    rule.is_for_each_bin_alone(asked, table_of(asked), rng())
    crowds = asked.sessions[1][rule.RECALLED :]
    assert len(crowds) == rule.CROWDS
    assert all(min(residual) >= item and residual[-1] == CAPACITY for item, residual in crowds)


UNSTEADY = {
    "counts its calls": "import itertools\ncount = itertools.count()\ndef score(item, residual):\n    return residual * (next(count) % 7 - 3)\n",
    "draws": "import random\ndraw = random.Random(3)\ndef score(item, residual):\n    return residual * draw.random()\n",
    "remembers": "last = [0]\ndef score(item, residual):\n    last[0], before = item, last[0]\n    return (residual - item) * (before - item)\n",
}


@pytest.mark.parametrize("source", UNSTEADY.values(), ids=UNSTEADY)
def test_a_rule_that_remembers_is_found_out(source: str) -> None:
    """Where it is asked for its table, and where it is played."""
    asked = candidate(source)
    with pytest.raises(rule.Unsteady, match="two answers to one question"):
        rule.is_for_each_bin_alone(asked, table_of(asked), rng())
    _, questions = rule.played(asked, [random.Random(0).randint(1, 20) for _ in range(80)], CAPACITY, rng())
    with pytest.raises(rule.Unsteady):
        rule.recall(asked, questions, rng())


@pytest.mark.parametrize("source", [rules.BEST_FIT, rules.EOH], ids=["best fit", "EoH"])
def test_a_rule_packs_alike_by_its_table_and_item_by_item(source: str) -> None:
    """The table is a shorter way to the same packing."""
    items = [random.Random(5).randint(1, 20) for _ in range(300)]
    asked = candidate(source)
    played, questions = rule.played(asked, items, CAPACITY, rng())
    assert played == rule.packed(items, CAPACITY, table_of(asked).choose)
    rule.recall(asked, questions, rng())


def test_each_instance_is_played_in_a_session_of_its_own() -> None:
    """What it learned about one cannot help with another; and what it does to the rooms that it is shown changes nothing."""
    asked = candidate(
        "def score(item, residual):\n    answer = item - residual\n    residual[:] = 0\n    return answer + 0 * len(residual)\n"
    )
    items = [9, 12, 12, 8, 3, 20]
    packings = [rule.played(asked, items, CAPACITY, rng())[0] for _ in range(2)]
    assert [list(packing.residuals) for packing in packings] == [rules.best_fit(items, CAPACITY)] * 2
    assert [len(questions) for questions in asked.sessions] == [6, 6]


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ([1, 2.5, -3], [1.0, 2.5, -3.0]),
        (np.array([1, 2, 3], np.uint8), [1.0, 2.0, 3.0]),
        (np.array([1, 2, 3], np.float32), [1.0, 2.0, 3.0]),
        (np.array([1e308, -1e308, 5e-324]), [1e308, -1e308, 5e-324]),
    ],
)
def test_numbers_of_any_real_kind_are_scores(answer: Any, scores: list[float]) -> None:
    """As floats of 64 bits."""
    found = rule.scores_from(answer, 3)
    assert (found.tolist(), found.dtype) == (scores, np.float64)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "score\\(\\) must return 3 finite numbers, one per bin, got a NoneType"),
        (1.5, "got a float"),
        ("abc", "got a str"),
        ({"scores": [1, 2, 3]}, "got a dict"),
        ([True, False, True], "got a list"),
        ([1.0, [2.0], 3.0], "got a list"),
        ([1.0, 2.0, 10**400], "too large for floating point"),
        ([1.0, 2.0], "with shape \\(2,\\)"),
        ([], "with shape \\(0,\\)"),
        (np.array([True, False, True]), "an array of bool"),
        (np.array([1j, 2, 3]), "an array of complex128"),
        (np.array([1, "2", None], object), "an array of object"),
        (np.zeros((3, 1)), "with shape \\(3, 1\\)"),
        (np.zeros((1 << 39, 0), np.int8), "with shape \\(549755813888, 0\\)"),
        (np.float64(2.0), "got a float64"),
        (np.zeros(()), "with shape \\(\\)"),
        (np.array([1.0, np.nan, 2.0]), "got nan"),
        (np.array([1.0, 2.0, -np.inf]), "got -inf"),
        (np.array([1.0, 2.0, np.inf], np.float32), "got inf"),
    ],
)
def test_anything_else_is_unusable(answer: Any, message: str) -> None:
    """With what it is."""
    with pytest.raises(rule.Unusable, match=message):
        rule.scores_from(answer, 3)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ([0.0, 0.0], [0.0, 0.0], True),
        ([1.0, 2.0], [1.0, 2.0 + 1e-12], True),
        ([1.0, 2.0], [1.0, 2.0 + 1e-6], False),
        ([1e308, -1e308], [-1e308, 1e308], False),
        ([1e308, 5e-324], [1e308, 5e-324], True),
        ([1e-200, 2e-200], [1e-200, 3e-200], False),
        ([1.0, 2.0, -1e300], [1.0, 2.0 + 1e-12, -1e300], True),
        ([1.0, 2.0, -1e300], [2.0, 1.0, -1e300], False),
        ([1e15 + 1, 1e15], [1e15, 1e15 + 1], False),
        ([3.0, 3.0], [3.0, 3.0 + 1e-12], False),
    ],
)
def test_answers_are_alike_up_to_rounding_that_decides_nothing(
    one: list[float], other: list[float], alike: bool
) -> None:
    """Measured by the largest of them, so that no scale is too small or too large; no bin passes another, however near they are."""
    assert rule._alike(np.array(one), np.array(other)) is alike
