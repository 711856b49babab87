"""The candidate's rule, asked question by question in processes of its own.

Invariant: no question tells of an item that comes later, and no answer counts but one finite number for each bin that was shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from packing import Integers, Packing, packed

from evolve import Candidate

ANSWER_SECONDS = 2.0
"""Wall time of one answer; that of the first includes the import of the program."""
ANSWERS_SECONDS = 5.0
"""Wall time of some hundred answers."""
ALIKE = 1e-9
"""Two answers that put the bins in the same order and differ by less than this share of their size are one: a library may round otherwise at another place in memory."""
RECALLED = 20
"""How many questions of a kind are asked a second time, in another process and another order."""
CROWDS, CROWD = 20, 60
"""How many questions, of up to how many bins, tell whether a rule looks at each bin alone."""

Scores = NDArray[np.float64]


class Session(Protocol):
    """What is needed of a candidate's session."""

    def call(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Any:
        """The answer of one of its functions."""
        ...

    def map(self, function: str, calls: Sequence[Sequence[Any]], /, seconds: float | None = None) -> list[Any]:
        """The answers of one of its functions to many calls at once."""
        ...


class Unusable(ValueError):
    """An answer that is not one finite number per bin."""


class Unsteady(Exception):
    """Two answers to one question."""


@dataclass(frozen=True, slots=True)
class Question:
    """An item and the room in the bins that can take it, with the answer that was given."""

    item: int
    residual: Integers
    scores: Scores


@dataclass(frozen=True, slots=True)
class Table:
    """What a rule gives to every room for every item: a row per item, whose entry r is the score of a bin with r left."""

    capacity: int
    rows: Mapping[int, Scores]

    def choose(self, item: int, residual: Integers) -> int:
        """The first of the bins with the largest score."""
        return int(self.rows[item].take(residual).argmax())


def tabulated(candidate: Candidate, sizes: Sequence[int], capacity: int, rng: Generator) -> Table:
    """The answers for every size of item, asked in a random order before there is any item."""
    order = rng.permutation(np.array(sizes)).tolist()
    answers = _answers(candidate, [(item, _rooms(item, capacity)) for item in order])
    rows = {item: np.concatenate((np.full(item, -np.inf), scores)) for item, scores in zip(order, answers, strict=True)}
    return Table(capacity, rows)


def _rooms(item: int, capacity: int) -> Integers:
    """Every room that can take the item, the smallest first and the empty bin last."""
    return np.arange(item, capacity + 1, dtype=np.int64)


def is_for_each_bin_alone(candidate: Candidate, table: Table, rng: Generator) -> bool:
    """Whether the table says it all: what a bin gets does not depend on the other bins, nor on their order. Raises `Unsteady`."""
    recalled = [(item, _rooms(item, table.capacity)) for item in rng.permutation(list(table.rows))[:RECALLED].tolist()]
    crowds = [_crowd(table, rng) for _ in range(CROWDS)]
    answers = _answers(candidate, recalled + crowds)
    for (item, rooms), scores in zip(recalled, answers, strict=False):
        _compare(table.rows[item][rooms], scores, item)
    told = zip(crowds, answers[len(recalled) :], strict=True)
    return all(_alike(table.rows[item][rooms], scores) for (item, rooms), scores in told)


def _crowd(table: Table, rng: Generator) -> tuple[int, Integers]:
    """An item and some bins that can take it, the new one last."""
    item = int(rng.choice(list(table.rows)))
    return item, np.append(rng.integers(item, table.capacity + 1, rng.integers(CROWD)), table.capacity)


def played(candidate: Candidate, items: Sequence[int], capacity: int, rng: Generator) -> tuple[Packing, list[Question]]:
    """One instance in a session of its own, item by item, and some of the questions that came up."""
    steps = iter(range(len(items)))
    kept = set(rng.integers(len(items), size=RECALLED).tolist())
    questions: list[Question] = []
    with candidate.session() as session:

        def choose(item: int, residual: Integers) -> int:
            fitting = np.flatnonzero(residual >= item)
            question = Question(item, residual[fitting], _answer(session, item, residual[fitting]))
            if next(steps) in kept:
                questions.append(question)
            return int(fitting[question.scores.argmax()])

        return packed(items, capacity, choose), questions


def recall(candidate: Candidate, questions: Sequence[Question], rng: Generator) -> None:
    """Asks again, in a new process and in a random order; raises `Unsteady` where an answer is another one."""
    with candidate.session() as session:
        for index in rng.permutation(len(questions)).tolist():
            question = questions[index]
            _compare(question.scores, _answer(session, question.item, question.residual), question.item)


def _compare(before: Scores, after: Scores, item: int) -> None:
    if not _alike(before, after):
        raise Unsteady(f"score() gave two answers to one question, about an item of {item} and {len(after)} bins")


def _alike(one: Scores, other: Scores) -> bool:
    """Whether both put the bins in the same order, which is all that decides, and differ by rounding alone."""
    size = max(np.abs(one).max(), np.abs(other).max())
    near = size == 0 or (np.abs(one / size - other / size) <= ALIKE).all()
    return bool(near and np.array_equal(*(np.argsort(-each, kind="stable") for each in (one, other))))


def _answer(session: Session, item: int, residual: Integers) -> Scores:
    return scores_from(session.call("score", item, residual, seconds=ANSWER_SECONDS), len(residual))


def _answers(candidate: Candidate, questions: Sequence[tuple[int, Integers]]) -> list[Scores]:
    """The answers to questions that may be known all at once, in a process of their own."""
    with candidate.session() as session:
        answers = session.map("score", questions, seconds=ANSWERS_SECONDS)
    return [scores_from(answer, len(rooms)) for answer, (_, rooms) in zip(answers, questions, strict=True)]


def scores_from(answer: object, count: int) -> Scores:
    """An answer as `count` finite numbers; raises `Unusable`. Truth values are none."""
    wanted = f"score() must return {count} finite numbers, one per bin"
    if isinstance(answer, list) and all(type(value) in (int, float) for value in answer):
        answer = _array(answer, wanted)
    if not isinstance(answer, np.ndarray):
        raise Unusable(f"{wanted}, got a {type(answer).__name__}")
    if answer.dtype.kind not in "iuf" or answer.shape != (count,):
        raise Unusable(f"{wanted}, got an array of {answer.dtype.name} with shape {answer.shape}")
    scores = answer.astype(np.float64)
    if not np.isfinite(scores).all():
        raise Unusable(f"{wanted}, got {scores[~np.isfinite(scores)][0]}")
    return scores


def _array(answer: list[int | float], wanted: str) -> Scores:
    try:
        return np.array(answer, dtype=np.float64)
    except OverflowError:
        raise Unusable(f"{wanted}, got a whole number that is too large for floating point") from None
