"""One training of a program and what its model then answers, each in processes of their own.

A process that trains is gone before any input of a question leaves the evaluator, and all that it leaves is its model, as plain data. Each row is asked about
in one of two processes, some rows in both. No label of a row that is asked about is ever in a process that answers for it.
A sample counts against the budget when it leaves the evaluator; every row comes once before any comes again."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from evolve_recipe.data import Inputs, Integers
from evolve_recipe.settings import RecipeSettings

ASKED_AGAIN = 20
"""Rows of either process that the other one is asked about, too."""
UNSTEADY = 1
"""Rows among them that may get another answer: a tie may be broken otherwise where numbers are added up in another order."""
_NUMBER = 8


class Loader:
    """Serves rows with their labels in an order of its own, which is another one each time round. `samples` is the budget; 0: every row once."""

    def __init__(self, inputs: Inputs, targets: Integers, rng: Generator, samples: int = 0) -> None:
        self.served = 0
        self.budget = samples or len(targets)
        self._inputs = inputs
        self._targets = targets
        self._rng = rng
        # The first order is drawn here, so that a loader takes as many random numbers whatever it serves.
        self._rows = chain(rng.permutation(len(targets)), self._shuffle_again())

    @property
    def left(self) -> int:
        """Samples that may still be served."""
        return self.budget - self.served

    def serve(self, count: int) -> tuple[Inputs, Integers]:
        """Returns the next `count` samples, or as many as the budget has left."""
        wanted = min(count, self.left)
        chosen = np.fromiter(islice(self._rows, wanted), np.int64, wanted)
        self.served += wanted
        return self._inputs[chosen], self._targets[chosen]

    def _shuffle_again(self) -> Iterator[Any]:
        while True:
            yield from self._rng.permutation(len(self._targets))


class Trained(Protocol):
    """Opens sessions of the program that is trained."""

    def session(self, seconds: float | None = None) -> AbstractContextManager[Any]:
        """Opens a process of its own."""
        ...


class Unusable(ValueError):
    """An answer that is not of the form that is asked for."""


class Unsteady(Exception):
    """Answers that depend on what else was asked."""


@dataclass(frozen=True, slots=True)
class Model:
    """Model that a training left, its size in bytes, the samples that it was served, and its processor time in seconds."""

    content: Any
    size: int
    served: int
    cpu_seconds: float


def train(program: Trained, loader: Loader, told: Mapping[str, Any], settings: RecipeSettings) -> Model:
    """Serves samples until `train` gives its model. Raises `Unusable`, and what a session raises."""
    with program.session(settings.seconds) as session:
        first = settings.first if settings.samples else loader.left
        answer = _serve(session, loader, first, told)
        # A model is never a bare whole number, so that one can stand for a wish for more samples.
        while type(answer) is int:
            if loader.left == 0 or answer < 1:
                raise Unusable(_explain_answer(settings, loader, answer))
            answer = _serve(session, loader, answer, told)
    # The size is counted on this side: a program cannot be asked for it.
    size = size_of(answer)
    if answer is None or size > settings.model_bytes:
        raise Unusable(f"train() must return its model, of {settings.model_bytes:,} bytes at most, got {size:,}")
    return Model(answer, size, loader.served, session.usage.cpu_seconds)


def _serve(session: Any, loader: Loader, count: int, told: Mapping[str, Any]) -> Any:
    inputs, targets = loader.serve(count)
    return session.call("train", inputs, targets, {**told, "samples_left": loader.left})


def _explain_answer(settings: RecipeSettings, loader: Loader, answer: int) -> str:
    if not settings.samples:
        return "train() is served everything at once and must return its model, got a whole number"
    if answer < 1:
        return f"train() must return its model, or how many more samples it wants, got {answer}"
    return f"train() was served all {loader.budget:,} samples of the budget and must return its model"


def size_of(model: Any) -> int:
    """Returns a model's size in bytes: of its arrays and texts, and eight for everything else."""
    size, left = 0, [model]
    while left:
        item = left.pop()
        size += _NUMBER
        match item:
            case np.ndarray():
                size += item.nbytes
            case str():
                size += len(item.encode())
            case list():
                left += item
            case dict():
                left += [*item.keys(), *item.values()]
    return size


def predict_labels(
    program: Trained, model: Model, inputs: Inputs, classes: int, rng: Generator, settings: RecipeSettings
) -> Integers:
    """Returns a label for each input. They are asked for in two processes, in an order of the evaluator's; raises `Unusable`, `Unsteady`, and what a session
    raises."""
    found = np.full(len(inputs), -1, dtype=np.int64)
    again = np.full(len(inputs), -1, dtype=np.int64)
    for own, also in _shares(len(inputs), rng):
        if not len(own):
            continue
        asked = rng.permutation(np.concatenate([own, also]))
        with program.session(settings.predict_seconds) as session:
            labels = parse_labels(session.call("predict", model.content, inputs[asked]), len(asked), classes)
        # Rows of the other half only tell whether an answer depends on its neighbours; they decide nothing else.
        is_own = np.isin(asked, own)
        found[asked[is_own]] = labels[is_own]
        again[asked[~is_own]] = labels[~is_own]
    changed = int(((again >= 0) & (again != found)).sum())
    if changed > UNSTEADY:
        raise Unsteady(
            f"predict() gave {changed} of {int((again >= 0).sum())} inputs another label when it was asked again among other inputs: "
            "an answer may depend on the model and on its own input alone"
        )
    return found


def _shares(count: int, rng: Generator) -> Iterator[tuple[Integers, Integers]]:
    """Yields for each of two processes the rows whose label it decides, and the rows of the other that it is asked about again."""
    first, second = np.array_split(rng.permutation(count), 2)
    yield first, second[:ASKED_AGAIN]
    yield second, first[:ASKED_AGAIN]


def parse_labels(answer: object, count: int, classes: int) -> Integers:
    """Returns an answer as `count` labels from 0 to `classes` - 1; raises `Unusable`. Truth values are none."""
    wanted = f"predict() must return {count} whole numbers from 0 to {classes - 1}, one for each input"
    if isinstance(answer, list):
        if len(answer) != count or not all(type(label) is int and 0 <= label < classes for label in answer):
            raise Unusable(f"{wanted}, got a list of something else")
        return np.array(answer, dtype=np.int64)
    if not isinstance(answer, np.ndarray):
        raise Unusable(f"{wanted}, got a {type(answer).__name__}")
    if answer.dtype.kind not in "iu" or answer.shape != (count,):
        raise Unusable(f"{wanted}, got an array of {answer.dtype.name} with shape {answer.shape}")
    if count and not 0 <= int(answer.min()) <= int(answer.max()) < classes:
        raise Unusable(f"{wanted}, got one of {int(answer.min())} or {int(answer.max())}")
    return answer.astype(np.int64)
