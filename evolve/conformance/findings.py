"""What a check of a task finds.

Invariant: whatever did not go well comes with its remedy, and what was not tried with the reason."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["passed", "warned", "failed", "not tried"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried, how it ended, and what to do where that was not right."""

    tried: str
    verdict: Verdict
    happened: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CaseLine:
    """The seed on one held-out case; the fitness is in the user's direction."""

    case: str
    outcome: str
    fitness: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Conformance:
    """A checked task. `fitness` is the seed's, in the user's direction; `seconds` and `cpu_seconds` are what judging it took, the latter
    in the candidate; `noise` is the standard deviation of one measurement, None where the seed has no two; `limit` is the wall limit,
    in seconds, that made-up programs were given."""

    task: str
    version: str
    path: str
    deterministic: bool
    isolation: str
    passed: bool
    fitness: float | None
    seconds: float
    cpu_seconds: float
    noise: float | None
    limit: float
    held_out: tuple[CaseLine, ...]
    findings: tuple[Finding, ...]
