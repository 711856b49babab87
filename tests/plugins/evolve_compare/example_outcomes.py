"""Outcomes of campaigns that nobody ran, for tests of comparisons."""

from collections.abc import Sequence
from dataclasses import replace

from evolve.types import Fitness, Progress
from evolve_compare.fairness import ComparedArm
from evolve_compare.outcomes import CampaignConditions, CampaignOutcome, Milestone

FITNESS = Fitness("nearness", "max", 6)
CONDITIONS = CampaignConditions(
    task="number",
    version="a" * 64,
    evolve="1",
    hardware="one core",
    isolation="strict",
    workers=1,
    deterministic=True,
    fitness=FITNESS,
    anchors=((20.0, "Somebody 2020"),),
    settings={"strategy.name": "islands", "operators": "tune_literals"},
)


def spent(programs: int = 100) -> Progress:
    """So many programs, two a second."""
    return Progress(programs=programs, seconds=programs / 2, measurements=5, screened=1)


def milestone(programs: int, fitness: float) -> Milestone:
    """A value after so many programs."""
    return Milestone(spent(programs), fitness)


def run(
    seed: int, *steps: tuple[int, float], name: str = "arm", programs: int = 100, **fields: object
) -> CampaignOutcome:
    """A finished campaign whose best got better at these programs; its seed program is worth 0 unless it is said."""
    milestones = tuple(milestone(*step) for step in (steps if steps and steps[0][0] == 0 else ((0, 0.0), *steps)))
    values = {
        "campaign": f"{name}-s{seed}",
        "strategy": name,
        "seed": seed,
        "counted": "programs",
        "status": "finished",
        "milestones": milestones,
        "final": milestones[-1].fitness,
        "spent": spent(programs),
        "conditions": CONDITIONS,
        "seed_value": 0.0,
        "record": f"{name}-s{seed}/1",
        "trust": "witnessed",
    }
    return CampaignOutcome(**{**values, **fields})


def failed(seed: int, name: str = "arm") -> CampaignOutcome:
    """A campaign whose seed program failed."""
    found = run(seed, name=name, status="failed", final=None, problem="its seed program failed: crashed")
    return replace(found, milestones=(), seed_value=None, trust="")


def arm(name: str, finals: Sequence[float]) -> ComparedArm:
    """An arm whose campaigns came to these values in the middle, by the seeds 0, 1, ..."""
    return ComparedArm(name, tuple(run(seed, (50, value), name=name) for seed, value in enumerate(finals)))
