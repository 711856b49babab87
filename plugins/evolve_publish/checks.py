"""Checks of an export's claims: a verdict for each, and how claimed and found values are compared.

A deterministic value must be the same; where Python, a library or the processor is another, floating point may differ in its last digits, and a relative difference of
`TOLERANCE` counts as none. Noisy values agree where their difference is within what chance explains 99 times of 100, by Student's t on the error of the difference of
two means (Welch 1947, https://doi.org/10.2307/2332510), or where the new one is better: a claim that is too small deceives nobody. On another hardware class a noisy value that is worse tells
nothing, and a timing tells nothing at all. A claim that could not be compared neither agrees nor differs, and its check says why. Numbers are in the task's own direction."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evolve.statistics import PRIOR_DEGREES, error_of_difference, pooled, student_quantile
from evolve.types import Fitness
from evolve_publish.claims import ValueClaim

Verdict = Literal["agrees", "differs", "cannot be told"]
AGREES: Verdict = "agrees"
DIFFERS: Verdict = "differs"
CANNOT_BE_TOLD: Verdict = "cannot be told"


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """Verdict on one claim. `matters`: the export agrees only where this claim does; other checks inform."""

    what: str
    verdict: Verdict
    claimed: str = ""
    found: str = ""
    why: str = ""
    matters: bool = True


@dataclass(frozen=True, slots=True)
class Verification:
    """Checks of an export. `isolation` is the level at which the program was evaluated again, empty where it was not."""

    name: str
    task: str
    program: str
    checks: tuple[ClaimCheck, ...]
    isolation: str = ""

    @property
    def verdict(self) -> Verdict:
        """Worst verdict of the checks that matter."""
        return worst_verdict(tuple(check.verdict for check in self.checks if check.matters))


def worst_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Returns the worst verdict; none at all is no agreement."""
    if DIFFERS in verdicts:
        return DIFFERS
    return CANNOT_BE_TOLD if CANNOT_BE_TOLD in verdicts or not verdicts else AGREES


def check_equal(what: str, claimed: str, found: str, why: str = "") -> ClaimCheck:
    """Checks a text that must be found as it was claimed."""
    return ClaimCheck(what, AGREES if claimed == found else DIFFERS, claimed, found, "" if claimed == found else why)


TOLERANCE = 1e-9
LEVEL = 0.99
_VAGUE = 3.0
"""Largest standard error of a claim that is believed, in times of the error that was found."""


def compare_exact(what: str, claimed: float | None, found: float | None, *, elsewhere: str = "") -> ClaimCheck:
    """Compares deterministic values. `elsewhere` says what differs in the environment, empty where nothing does."""
    shown = repr(claimed), repr(found)
    if claimed == found:
        return ClaimCheck(what, AGREES, *shown)
    if claimed is None or found is None:
        return ClaimCheck(what, DIFFERS, *shown, "the program passes in one of them alone")
    # Libraries and processors add up floating point in other orders.
    if elsewhere and is_close(claimed, found):
        why = f"but for the last digits of floating point (a relative difference of {TOLERANCE:g} at most), for {elsewhere}"
        return ClaimCheck(what, AGREES, *shown, why)
    return ClaimCheck(what, DIFFERS, *shown, "; ".join(filter(None, ("the value is another one", elsewhere))))


def is_close(claimed: float, found: float) -> bool:
    """Returns whether values differ by no more than floating point does between processors and libraries."""
    return math.isclose(claimed, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE * 1e-3)


def compare_noisy(
    what: str, claimed: ValueClaim, found: Sequence[float], fitness: Fitness, *, elsewhere: str = ""
) -> ClaimCheck:
    """Compares noisy values, evaluated again at least twice. `elsewhere` says that this is another hardware class."""
    pool = pooled(found)
    error = pool.standard_error(None) or 0.0
    own = _own_error(claimed, error * math.sqrt(pool.count / claimed.count))
    within = student_quantile(LEVEL, PRIOR_DEGREES + pool.count - 1) * error_of_difference(own, error)
    gain = fitness.inside(pool.mean) - fitness.inside(claimed.fitness)
    digits = fitness.digits
    shown = (
        f"{claimed.fitness:.{digits}g} +- {own:.2g}",
        f"{pool.mean:.{digits}g} +- {error:.2g} of {pool.count} evaluations",
    )
    if abs(gain) <= within:
        return ClaimCheck(what, AGREES, *shown, f"the difference is within chance ({LEVEL:.0%}: {within:.2g})")
    if gain > 0:
        return ClaimCheck(what, AGREES, *shown, "it is better than claimed")
    return _refuse_worse(
        what, shown, f"it is worse by more than chance explains ({LEVEL:.0%}: {within:.2g})", elsewhere
    )


def _own_error(claimed: ValueClaim, implied: float) -> float:
    """Returns the claim's standard error, and no more than `_VAGUE` times the error that was found, so that a vague claim gains nothing."""
    if claimed.standard_error is None:
        return implied
    return min(claimed.standard_error, _VAGUE * implied) if implied else claimed.standard_error


def compare_with_seed(what: str, gains: Sequence[float], fitness: Fitness, *, elsewhere: str = "") -> ClaimCheck:
    """Compares a program with the seed on a case, by its gain (larger is better, whatever the task's direction) with each random seed. One worse evaluation may be chance; several show it."""
    pool = pooled(gains)
    shown = (
        "no worse than the seed",
        f"{fitness.shown(pool.mean) + 0.0:+.4g} to the seed"
        + (f" of {pool.count} evaluations" if pool.count > 1 else ""),
    )
    error = pool.standard_error(None) or 0.0
    if pool.mean >= 0.0:
        return ClaimCheck(what, AGREES, *shown)
    if pool.count > 1 and -pool.mean <= student_quantile(LEVEL, PRIOR_DEGREES + pool.count - 1) * error:
        return ClaimCheck(what, AGREES, *shown, "the difference is within chance")
    return _refuse_worse(what, shown, "it is worse than the seed there", elsewhere)


def _refuse_worse(what: str, shown: tuple[str, str], why: str, elsewhere: str) -> ClaimCheck:
    if elsewhere:
        why = f"noisy scores compare within one hardware class, and {elsewhere}"
    return ClaimCheck(what, CANNOT_BE_TOLD if elsewhere else DIFFERS, *shown, why)
