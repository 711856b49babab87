"""A placement of models on GPUs, and its pressure, in whole numbers and fractions.

Invariant: every number of a placement is computed from the judge's instance and the indices of the answer alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

MEMORY = 80
"""What a GPU holds, in GB."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model to serve: its weights in GB, requests per second, and the seconds within which one must be answered."""

    size: int
    rate: int
    slo: int


@dataclass(frozen=True, slots=True)
class Instance:
    """GPUs and models. `optimum` is the smallest pressure that any placement has, where it is known."""

    gpus: int
    models: tuple[Model, ...]
    optimum: Fraction | None = None


def loads(instance: Instance, indices: Sequence[int]) -> list[int]:
    """The GB of weights on each GPU."""
    sizes = [0] * instance.gpus
    for model, gpu in zip(instance.models, indices, strict=True):
        sizes[gpu] += model.size
    return sizes


def pressure(instance: Instance, indices: Sequence[int]) -> Fraction:
    """The largest ratio of a GPU's demand (rate by slo, summed over its models) to the memory that their weights leave."""
    demands = [Fraction(0)] * instance.gpus
    for model, gpu in zip(instance.models, indices, strict=True):
        demands[gpu] += Fraction(model.rate, model.slo)
    return max(demand / (MEMORY - size) for demand, size in zip(demands, loads(instance, indices), strict=True))


def first_fit(instance: Instance) -> list[int] | None:
    """Each model in its turn on the first GPU that keeps some memory: the trivial placement; None where that leads nowhere."""
    free, indices = [MEMORY] * instance.gpus, []
    for model in instance.models:
        gpu = next((gpu for gpu, room in enumerate(free) if model.size < room), None)
        if gpu is None:
            return None
        free[gpu] -= model.size
        indices.append(gpu)
    return indices


def greedy(instance: Instance) -> list[int] | None:
    """Each model, by decreasing demand, on the GPU where the pressure is the smallest with it; None where that leads nowhere."""
    demands, free, indices = [0.0] * instance.gpus, [MEMORY] * instance.gpus, [0] * len(instance.models)
    order = sorted(range(len(indices)), key=lambda each: -instance.models[each].rate / instance.models[each].slo)
    for index in order:
        model = instance.models[index]
        demand = model.rate / model.slo
        fitting = [gpu for gpu in range(instance.gpus) if model.size < free[gpu]]
        if not fitting:
            return None
        gpu = min(fitting, key=lambda gpu: (demands[gpu] + demand) / (free[gpu] - model.size))
        indices[index] = gpu
        demands[gpu] += demand
        free[gpu] -= model.size
    return indices
