"""What the end of a session means for the program that was judged.

Invariant: every status has one outcome, and `docs/outcomes.md` shows the same table (tested)."""

from collections.abc import Mapping
from types import MappingProxyType

from evolve.sandbox.status import Status
from evolve.types import Outcome

OUTCOME: Mapping[Status, Outcome] = MappingProxyType(
    {
        Status.OK: Outcome.OK,
        Status.TIMEOUT: Outcome.TIMED_OUT,
        Status.MEMORY_LIMIT: Outcome.OUT_OF_MEMORY,
        Status.SIGNAL: Outcome.CRASHED,
        Status.ERROR: Outcome.CRASHED,
        Status.NO_RESULT: Outcome.CRASHED,
        Status.NO_ENTRY: Outcome.INVALID,
        Status.BUILD_FAILED: Outcome.BUILD_FAILED,
        Status.BAD_FRAME: Outcome.INVALID,
        Status.BAD_JSON: Outcome.INVALID,
        Status.RESULT_TOO_LARGE: Outcome.INVALID,
        Status.BROKEN: Outcome.INTERNAL,
    }
)
