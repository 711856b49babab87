"""Values for trackers: the beginning of a run, each record, and the end of the run. Every fitness is in the user's direction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.types.evaluation import Trust
from evolve.types.program import ProgramId, RecordId

__all__ = [
    "TrackedBest",
    "TrackedEnd",
    "TrackedRecord",
    "TrackedRun",
]


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """Beginning of a run. `records` is how many the log has already: the next one is of number `records` + 1, so that a campaign that goes on goes on
    in its tracker, too. `log` is the path of the log, beside which a tracker may write."""

    campaign: str
    task: str
    task_version: str
    fitness: str
    direction: str
    log: str
    records: int
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrackedBest:
    """The best program until now. `confirmed`: its fitness rests on measurements that were made after it won."""

    record: RecordId
    fitness: float
    standard_error: float | None
    certified: bool
    confirmed: bool
    claimed: bool


@dataclass(frozen=True, slots=True)
class TrackedRecord:
    """One settled record, and the state of the campaign with it: the best program, and what all runs have spent. `fitness` is None where
    the program failed, whose `outcome` says how."""

    campaign: str
    record: RecordId
    at: float
    kind: str
    operator: str
    model: str
    parents: tuple[RecordId, ...]
    program: ProgramId | None
    outcome: str
    fitness: float | None
    standard_error: float | None
    violation: float
    certified: bool
    trust: Trust
    isolation: str
    insertion: str
    island: int
    seconds: float
    best: TrackedBest | None
    records: int
    programs: int
    active_seconds: float
    calls: int
    tokens: int
    money: float
    gpu_seconds: float


@dataclass(frozen=True, slots=True)
class TrackedEnd:
    """End of a run, with its reason; a `reason` that is empty means by an error."""

    campaign: str
    reason: str
    records: int
    programs: int
    best: TrackedBest | None
