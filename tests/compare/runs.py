"""Courses of campaigns that nobody ran, for tests of what compares them."""

from collections.abc import Sequence
from dataclasses import replace

from evolve.compare import Circumstances, Course, Group, Mark, Spent
from evolve.types import Fitness

FITNESS = Fitness("nearness", "max", 6)
CIRCUMSTANCES = Circumstances(
    task="number",
    version="a" * 64,
    evolve="1",
    hardware="one core",
    isolation="strict",
    judges=1,
    deterministic=True,
    fitness=FITNESS,
    anchors=((20.0, "Somebody 2020"),),
    settings={"strategy.name": "islands", "operators": "tune_literals"},
)


def spent(programs: int = 100) -> Spent:
    """So many programs, two a second."""
    return Spent(programs, 5, 1, programs / 2, programs / 4, 0, 0, 0.0)


def mark(programs: int, fitness: float) -> Mark:
    """A value after so many programs."""
    return Mark(programs, programs / 2, 0, 0, 0.0, fitness)


def run(seed: int, *steps: tuple[int, float], name: str = "arm", programs: int = 100, **fields: object) -> Course:
    """A finished campaign whose best got better at these programs; its seed program is worth 0 unless it is said."""
    marks = tuple(mark(*step) for step in (steps if steps and steps[0][0] == 0 else ((0, 0.0), *steps)))
    values = {
        "campaign": f"{name}-s{seed}",
        "strategy": name,
        "seed": seed,
        "budget": (f"{programs}programs",),
        "status": "finished",
        "marks": marks,
        "final": marks[-1].fitness,
        "spent": spent(programs),
        "circumstances": CIRCUMSTANCES,
        "seed_value": 0.0,
        "record": f"{name}-s{seed}/1",
        "trust": "witnessed",
    }
    return Course(**{**values, **fields})


def failed(seed: int, name: str = "arm") -> Course:
    """A campaign whose seed program failed."""
    found = run(seed, name=name, status="failed", final=None, problem="its seed program failed: crashed")
    return replace(found, marks=(), seed_value=None, trust="")


def arm(name: str, finals: Sequence[float]) -> Group:
    """An arm whose campaigns came to these values in the middle, by the seeds 0, 1, ..."""
    return Group(name, tuple(run(seed, (50, value), name=name) for seed, value in enumerate(finals)))
