"""What tests tell trackers."""

from pathlib import Path

from evolve.types import TrackedBest, TrackedEnd, TrackedRecord, TrackedRun

BEST = TrackedBest(record=1, fitness=2.5, standard_error=0.0, certified=False, confirmed=False, claimed=False)
RECORD = TrackedRecord(
    campaign="mine",
    record=1,
    at=1_800_000_000.0,
    kind="proposal",
    operator="diff",
    model="fast",
    parents=(1,),
    program=None,
    outcome="ok",
    fitness=2.25,
    standard_error=None,
    violation=0.0,
    certified=False,
    trust="witnessed",
    isolation="strict",
    insertion="NEW",
    island=0,
    seconds=0.5,
    best=BEST,
    records=1,
    programs=1,
    active_seconds=1.5,
    calls=1,
    tokens=120,
    money=0.01,
    gpu_seconds=0.0,
)
END = TrackedEnd("mine", "budget", 2, 1, BEST)


def a_run(folder: Path, records: int = 0) -> TrackedRun:
    """A run of the campaign `mine`, whose log lies in `folder`."""
    return TrackedRun("mine", "packing", "1", "radii", "max", str(folder / "mine.db"), records, {"seed": 0})
