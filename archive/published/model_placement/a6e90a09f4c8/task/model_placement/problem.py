"""The problem as the evaluator `benchmark` asks for it: instances, what an answer must be, what it is worth.

Invariant: an answer is worth the pressure of its placement, an exact fraction, and nothing is taken from it but indices."""

import functools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import exact
import laws
import numpy as np
from numpy.random import Generator
from placement import MEMORY, Instance, first_fit, loads, pressure

from evolve.types import Parameters

STEPS = 20_000
"""Of the search for an optimum that is not known, for each packing."""


def instances(rng: Generator, parameters: Parameters) -> list[Instance]:
    """The published ones, or others."""
    law = laws.law_from(parameters)
    return laws.published(law.seed, law.instances) if law.seed >= 0 else laws.drawn(law, rng, law.instances)


def warm_up(rng: Generator, parameters: Parameters) -> Instance:
    """One of the same sizes that is none of those that count."""
    law = laws.law_from(parameters)
    return laws.drawn(law, rng, 1)[0]


def arguments(instance: Instance) -> tuple[int, list[list[int]]]:
    """The number of GPUs, and [size, rate, slo] of each model."""
    return instance.gpus, [[model.size, model.rate, model.slo] for model in instance.models]


def check(instance: Instance, answer: Any) -> str:
    """What is wrong with an answer: it is one index for each model, and each GPU keeps some memory."""
    count = len(instance.models)
    if isinstance(answer, np.ndarray):
        if answer.dtype.kind not in "iu" or answer.shape != (count,):
            return f"wanted a list of {count} indices, got an array of {answer.dtype.name} with shape {answer.shape}"
    elif type(answer) is not list or len(answer) != count:
        size = f" of {len(answer)}" if type(answer) is list else ""
        return f"wanted a list of {count} indices, got a {type(answer).__name__}{size}"
    indices = _indices(answer)
    for gpu in indices:
        if type(gpu) is not int or not 0 <= gpu < instance.gpus:
            return f"an index is a whole number from 0 to {instance.gpus - 1}, got {gpu!r:.40}"
    for gpu, size in enumerate(loads(instance, indices)):
        if size >= MEMORY:
            return f"the models on GPU {gpu} have {size} GB of weights together, and must have less than {MEMORY}"
    return ""


def value(instance: Instance, answer: Any) -> Fraction:
    """The pressure of the placement."""
    return pressure(instance, _indices(answer))


def reference(instance: Instance) -> Fraction:
    """The optimum, or a proven bound below it where the search for it is too long."""
    return bound(instance).value


def trivial(instance: Instance) -> list[int]:
    """First fit in the order in which the models are given."""
    placed = first_fit(instance)
    assert placed is not None, "an instance has a trivial placement"
    return placed


@functools.lru_cache(maxsize=2048)
def bound(instance: Instance) -> exact.Bound:
    """What no placement of the instance can beat."""
    if instance.optimum is not None:
        return exact.Bound(instance.optimum, True)
    return exact.best(instance, STEPS)


def label(instance: Instance) -> str:
    """Its size in words."""
    return f"{instance.gpus} GPUs, {len(instance.models)} models"


def metrics(measured: Sequence[Any]) -> Mapping[str, float]:
    """The score in the form in which it was published, and how many placements are optimal."""
    average = float(sum(Fraction(one.value) for one in measured) / len(measured))
    late = sum(one.late for one in measured) / len(measured)
    return {
        "published_score": 1 / average + 1 - late,
        "optimal": sum(one.score == 1 for one in measured),
        "proven": sum(bound(one.given).proven for one in measured),
    }


def _indices(answer: Any) -> list[int]:
    indices: list[int] = answer.tolist() if isinstance(answer, np.ndarray) else answer
    return indices
