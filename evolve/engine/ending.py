"""Why a run of a campaign ended.

Invariant: a plain value, which says all that is told of it."""

from dataclasses import dataclass
from typing import Literal

from evolve.types import Progress

Reason = Literal["budget", "interrupted", "stopped", "exhausted", "finished"]
HASTY: frozenset[Reason | None] = frozenset({"interrupted", "stopped"})
"""Reasons to end at once: not even the best is measured any more."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run of a campaign ended; `finished` where it had certain steps to do and no others. `left` counts the steps that were asked and wait for the next run; `refusal` is
    why the last proposal was not judged, where that ended it. `unpaid` says which call the budget did not pay for, where that ended it, and `wanted` what would have been
    spent with it. `answered` and `failed` count the run's calls of models, and `failure` is why the last of the failed ones did."""

    reason: Reason
    left: int
    refusal: str = ""
    unpaid: str = ""
    wanted: Progress | None = None
    answered: int = 0
    failed: int = 0
    failure: str = ""
