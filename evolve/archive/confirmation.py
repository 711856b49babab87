"""When a challenger takes a place: the one rule about uncertainty, as a pure function.

A task with certificates compares certified values with certified values. Another deterministic task compares numbers. A noisy
task accepts a gain at once where it clears the noise; otherwise the challenger is measured once more, and then the pooled means
decide (confirm-and-refresh: a challenger that fails sends one more measurement to the incumbent).

Before any of this, what a program is allowed to do comes before how well it does it (Deb 2000, https://doi.org/10.1016/S0045-7825(99)00389-8):
who meets the constraints beats who does not, of two that miss them the smaller violation wins, and the fitness decides between equals.

Invariant: the verdict depends on the arguments alone, and a challenger that does not rank before the incumbent never wins."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from evolve.statistics import error_of_difference


class Verdict(Enum):
    """What becomes of a challenger."""

    ACCEPT = auto()
    PENDING = auto()
    REJECT = auto()


class Standing(NamedTuple):
    """What is known of one side; a tuple, for every candidate makes several. `judgings` counts measurements on the present hardware class (0: it must be measured again
    before it can be compared); `error` is the standard error of `value`, None where it is unknown; `violation` is how far the
    constraints are missed, 0 where they are met."""

    value: float
    judgings: int = 1
    error: float | None = None
    certified: bool = False
    violation: float = 0.0


@dataclass(frozen=True, slots=True)
class Rule:
    """How a task compares. `noise_floor` is one standard deviation of a single measurement, None as long as it is unknown.
    A gain counts at once when it reaches both the noise floor and `z` standard errors of the difference, or is more than
    `sigmas` standard errors."""

    deterministic: bool
    certifies: bool
    z: float
    sigmas: float
    noise_floor: float | None = None

    @property
    def noisy(self) -> bool:
        """Whether repeated measurements of a program differ and are pooled."""
        return not (self.deterministic or self.certifies)


def decide(rule: Rule, challenger: Standing, incumbent: Standing | None, *, title: bool = False) -> Verdict:
    """`incumbent` is the weakest holder of a full cell, or the best program; None where the place is free. `title`: the place is that
    of the best of all, which nobody holds who misses a constraint, and whose first holder needs a certificate where there are some."""
    if title and challenger.violation > 0.0:
        return Verdict.REJECT
    if incumbent is None:
        uncertain = title and rule.certifies and not challenger.certified
        return Verdict.PENDING if uncertain else Verdict.ACCEPT
    if rule.noisy and not (challenger.judgings and incumbent.judgings):
        return Verdict.PENDING
    if challenger.violation != incumbent.violation:
        return _by_constraints(rule, challenger, incumbent)
    if challenger.value <= incumbent.value:
        return Verdict.REJECT
    if rule.certifies:
        return Verdict.ACCEPT if challenger.certified and incumbent.certified else Verdict.PENDING
    if rule.deterministic or challenger.judgings > 1 or _clears_the_noise(rule, challenger, incumbent):
        return Verdict.ACCEPT
    return Verdict.PENDING


def _by_constraints(rule: Rule, challenger: Standing, incumbent: Standing) -> Verdict:
    if challenger.violation > incumbent.violation:
        return Verdict.REJECT
    return Verdict.PENDING if rule.noisy and challenger.judgings == 1 else Verdict.ACCEPT


def _clears_the_noise(rule: Rule, challenger: Standing, incumbent: Standing) -> bool:
    if rule.noise_floor is None or challenger.error is None or incumbent.error is None:
        return False
    gain = challenger.value - incumbent.value
    error = error_of_difference(challenger.error, incumbent.error)
    return gain >= max(rule.noise_floor, rule.z * error) or gain > rule.sigmas * error > 0


def lacks(rule: Rule, side: Standing, *, challenges: bool) -> bool:
    """Whether this side of a pending contest must be measured before there can be a verdict."""
    if rule.certifies:
        return not side.certified
    return rule.noisy and (side.judgings == 0 or (challenges and side.judgings == 1))
