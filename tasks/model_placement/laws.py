"""Where instances come from: the published generator, or others that are drawn from the trial's entropy.

Invariant: an instance is a function of the task's parameters and the judge's random numbers, and the trivial and the greedy placement exist for it."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.random import Generator, RandomState
from optima import OPTIMA
from placement import Instance, Model, first_fit, greedy

from evolve import EvolveError
from evolve.types import Parameters

RATES = ("uniform", "pareto")
TAIL, SCALE, LARGEST = 1.5, 2.0, 99
"""Of heavy-tailed rates: the exponent, the scale, and where they are cut."""
TRIES = 100
"""How often an instance is drawn that has no place for its models."""


@dataclass(frozen=True, slots=True)
class Law:
    """`seed` 0 or more: the published generator with that seed, whose instances have 5 to 9 GPUs and two models for each. -1: drawn anew from the
    trial's entropy, with `gpus` and `models` (0: as published) and `rates`."""

    seed: int
    instances: int
    gpus: int
    models: int
    rates: str

    def __post_init__(self) -> None:
        if self.seed >= 0 and (self.gpus, self.models, self.rates) != (0, 0, "uniform"):
            raise EvolveError(
                f"the published generator (seed {self.seed}) has no other gpus, models or rates. Do: set seed = -1 to draw such instances"
            )
        if self.rates not in RATES:
            raise EvolveError(
                f"there are no rates of the law {self.rates!r}. Do: set rates to one of {', '.join(RATES)}"
            )
        if self.seed < -1 or self.instances < 1 or min(self.gpus, self.models) < 0:
            raise EvolveError(
                "instances is positive, gpus and models are not negative, seed is -1 or more. Do: set them so"
            )


def law_from(parameters: Parameters) -> Law:
    """The law that a trial's parameters describe."""
    return Law(**{field.name: parameters[field.name] for field in fields(Law)})  # type: ignore[arg-type]


def published(seed: int, count: int) -> list[Instance]:
    """The first instances of the generator that was published with the task (numpy's old generator, as seeded there), with their optima where they are
    known."""
    rng = RandomState(seed)
    made = []
    for _ in range(count):
        gpus = int(rng.randint(5, 10))
        models = [[int(rng.randint(low, high)) for low, high in ((10, 30), (1, 10), (5, 10))] for _ in range(2 * gpus)]
        made.append(Instance(gpus, tuple(Model(*model) for model in models)))
    known = OPTIMA.get(seed, ())
    return [replace(one, optimum=known[at] if at < len(known) else None) for at, one in enumerate(made)]


def drawn(law: Law, rng: Generator, count: int) -> list[Instance]:
    """So many instances with a placement."""
    return [_placeable(law, rng) for _ in range(count)]


def _placeable(law: Law, rng: Generator) -> Instance:
    for _ in range(TRIES):
        one = _instance(law, rng)
        if first_fit(one) is not None and greedy(one) is not None:
            return one
    raise EvolveError(
        f"{TRIES} instances of {law.models} models on {law.gpus} GPUs had no place for all. Do: set fewer models, or more gpus"
    )


def _instance(law: Law, rng: Generator) -> Instance:
    gpus = law.gpus or int(rng.integers(5, 10))
    count = law.models or 2 * gpus
    sizes = rng.integers(10, 30, count).tolist()
    if law.rates == "pareto":
        rates = np.minimum(1 + np.floor(SCALE * rng.pareto(TAIL, count)), LARGEST).astype(int).tolist()
    else:
        rates = rng.integers(1, 10, count).tolist()
    slos = rng.integers(5, 10, count).tolist()
    return Instance(gpus, tuple(Model(*model) for model in zip(sizes, rates, slos, strict=True)))
