"""What a verification has found: a verdict for each thing that an export claims.

Invariant: what could not be compared is neither an agreement nor a difference, and says why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["agrees", "differs", "cannot be told"]
AGREES: Verdict = "agrees"
DIFFERS: Verdict = "differs"
CANNOT_BE_TOLD: Verdict = "cannot be told"


@dataclass(frozen=True, slots=True)
class Check:
    """One claim. `matters`: the whole agrees only where this does; others are told for whoever wants to know."""

    what: str
    verdict: Verdict
    claimed: str = ""
    found: str = ""
    why: str = ""
    matters: bool = True


@dataclass(frozen=True, slots=True)
class Verification:
    """All of them. `isolation` is the level at which the program was judged again, empty where it was not."""

    name: str
    task: str
    program: str
    checks: tuple[Check, ...]
    isolation: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst of what matters."""
        return worst(tuple(check.verdict for check in self.checks if check.matters))


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """One difference is a difference; what cannot be told is no agreement."""
    if DIFFERS in verdicts:
        return DIFFERS
    return CANNOT_BE_TOLD if CANNOT_BE_TOLD in verdicts or not verdicts else AGREES


def equal(what: str, claimed: str, found: str, why: str = "") -> Check:
    """A claim that must be found as it is."""
    return Check(what, AGREES if claimed == found else DIFFERS, claimed, found, "" if claimed == found else why)
