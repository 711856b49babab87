"""What is compared: arms, each with the campaigns of several seeds, and what is asked of them.

Invariant: every campaign of an arm is in it, also one that failed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evolve.campaign import Campaign
from evolve.compare.course import Course, course
from evolve.compare.resources import Resource
from evolve.statistics import LEVEL


@dataclass(frozen=True, slots=True)
class Arm:
    """Campaigns of one strategy or of one choice of settings, which are open."""

    name: str
    campaigns: Sequence[Campaign]


@dataclass(frozen=True, slots=True)
class Group:
    """What an arm's campaigns came to; they may be closed."""

    name: str
    courses: tuple[Course, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """One of each course."""
        return tuple(one.seed for one in self.courses)


@dataclass(frozen=True, slots=True)
class Question:
    """`baseline` names the arm that the others are compared with (empty: `best_of_n`, else the first one); `per` is what is equal for all
    (empty: what the campaigns' budgets count, else programs); `targets` are values to reach, in the user's direction; `seed` is that of the bootstrap's draws."""

    baseline: str = ""
    per: Resource | None = None
    targets: tuple[float, ...] = ()
    level: float = LEVEL
    seed: int = 0


def grouped(arms: Iterable[Arm]) -> tuple[Group, ...]:
    """What the campaigns of the arms came to."""
    return tuple(Group(arm.name, tuple(map(course, arm.campaigns))) for arm in arms)
