"""Whether what was found again is what was claimed.

A deterministic value must be the same; where Python, a library or the processor is another, floating point may differ in its last digits, and a relative difference of
`TOLERANCE` counts as none. Noisy values agree where their difference is within what chance explains 99 times of 100, by Student's t on the error of the difference of
two means (Welch 1947, https://doi.org/10.2307/2332510), or where the new one is better: who claims too little deceives nobody. On another hardware class a noisy value that is worse tells
nothing, and a timing tells nothing at all.

Invariant: numbers are in the task's own direction; nothing here judges anything."""

import math
from collections.abc import Sequence

from evolve.publish.claims import Value
from evolve.publish.findings import AGREES, CANNOT_BE_TOLD, DIFFERS, Check
from evolve.statistics import PRIOR_DEGREES, error_of_difference, pooled
from evolve.statistics.beta import student_quantile
from evolve.types import Fitness

TOLERANCE = 1e-9
LEVEL = 0.99
_VAGUE = 3.0
"""How many times the error that is found a claim's own may be."""


def same(what: str, claimed: float | None, found: float | None, *, elsewhere: str = "") -> Check:
    """Of something deterministic. `elsewhere` says what of the environment is another, empty where nothing is."""
    shown = repr(claimed), repr(found)
    if claimed == found:
        return Check(what, AGREES, *shown)
    if claimed is None or found is None:
        return Check(what, DIFFERS, *shown, "the program passes in one of them alone")
    if elsewhere and close(claimed, found):
        why = f"but for the last digits of floating point (a relative difference of {TOLERANCE:g} at most), for {elsewhere}"
        return Check(what, AGREES, *shown, why)
    return Check(
        what, DIFFERS, *shown, f"the value is another one; {elsewhere}" if elsewhere else "the value is another one"
    )


def close(claimed: float, found: float) -> bool:
    """Whether they differ in no more than what another processor or library makes of floating point."""
    return math.isclose(claimed, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE * 1e-3)


def alike(what: str, claimed: Value, found: Sequence[float], fitness: Fitness, *, elsewhere: str = "") -> Check:
    """Of something noisy, judged again at least twice. `elsewhere` says that this is another hardware class."""
    pool = pooled(found)
    error = pool.standard_error(None) or 0.0
    own = _own_error(claimed, error * math.sqrt(pool.count / claimed.count))
    within = student_quantile(LEVEL, PRIOR_DEGREES + pool.count - 1) * error_of_difference(own, error)
    gain = fitness.inside(pool.mean) - fitness.inside(claimed.fitness)
    digits = fitness.digits
    shown = (
        f"{claimed.fitness:.{digits}g} +- {own:.2g}",
        f"{pool.mean:.{digits}g} +- {error:.2g} of {pool.count} judgings",
    )
    if abs(gain) <= within:
        return Check(what, AGREES, *shown, f"the difference is within chance ({LEVEL:.0%}: {within:.2g})")
    if gain > 0:
        return Check(what, AGREES, *shown, "it is better than claimed")
    if elsewhere:
        return Check(what, CANNOT_BE_TOLD, *shown, f"noisy scores compare within one hardware class, and {elsewhere}")
    return Check(what, DIFFERS, *shown, f"it is worse by more than chance explains ({LEVEL:.0%}: {within:.2g})")


def _own_error(claimed: Value, implied: float) -> float:
    """The error of the claim: what it says of itself, and no more than a few times what the noise that is found comes to, so that nobody is believed for being vague. Where it says nothing, it is that."""
    if claimed.standard_error is None:
        return implied
    return min(claimed.standard_error, _VAGUE * implied) if implied else claimed.standard_error


def no_worse(what: str, gains: Sequence[float], fitness: Fitness, *, elsewhere: str = "") -> Check:
    """Of a program against the seed on a case, by what the program has more (larger is better, whatever the task's direction) with each random seed. One that is worse once may be so by chance; several tell."""
    pool = pooled(gains)
    shown = (
        "no worse than the seed",
        f"{fitness.shown(pool.mean) + 0.0:+.4g} to the seed" + (f" of {pool.count} judgings" if pool.count > 1 else ""),
    )
    error = pool.standard_error(None) or 0.0
    if pool.mean >= 0.0:
        return Check(what, AGREES, *shown)
    if pool.count > 1 and -pool.mean <= student_quantile(LEVEL, PRIOR_DEGREES + pool.count - 1) * error:
        return Check(what, AGREES, *shown, "the difference is within chance")
    if elsewhere:
        return Check(what, CANNOT_BE_TOLD, *shown, f"noisy scores compare within one hardware class, and {elsewhere}")
    return Check(what, DIFFERS, *shown, "it is worse than the seed there")
