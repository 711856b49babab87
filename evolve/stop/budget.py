"""Budgets as values: what ends a campaign. `a | b` ends with the first one that is spent, `a & b` with the last.

Invariant: a budget is a pure function of what was spent, of the best confirmed fitness and of the time that it is told:
it reads no clock and keeps no state. Budgets in programs also count what is in flight, so that exactly as many are
judged as were paid for; what calls of models may use is held against `affords` before they are sent.

    Budget
    ├── Amount     a number of programs, tokens, seconds, ...: `500programs`, `60s`, `5usd`
    ├── Until      a moment: `until=07:30`, `until=2026-11-22T07:30+01:00`
    ├── Target     a confirmed fitness: `fitness=2.6`
    ├── AnyOf      a | b
    └── AllOf      a & b
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from evolve.types import Fitness, Progress

Resource = Literal["money", "tokens", "gpu_seconds", "calls", "programs", "seconds"]

SCARCITY: tuple[Resource, ...] = ("money", "tokens", "gpu_seconds", "calls", "programs", "seconds")
"""Resources from the dearest to the cheapest: which one counts as the tightest where equal shares are spent."""

_SPENT: Mapping[Resource, Callable[[Progress], float]] = {
    "money": lambda progress: progress.money,
    "tokens": lambda progress: progress.tokens,
    "gpu_seconds": lambda progress: progress.gpu_seconds,
    "calls": lambda progress: progress.calls,
    "programs": lambda progress: progress.programs,
    "seconds": lambda progress: progress.seconds,
}


class Budget(ABC):
    """What may be spent. `best` is the best confirmed fitness, larger is better; `now` is in seconds since 1970."""

    __slots__ = ()

    @abstractmethod
    def used(self, progress: Progress, best: float | None, now: float) -> float:
        """The spent share: 0 is nothing, 1 is all of it, more is beyond it."""

    @abstractmethod
    def allows(self, progress: Progress, pending: int, best: float | None = None, now: float = 0.0) -> bool:
        """Whether one more program may be asked for while `pending` others are in flight."""

    @abstractmethod
    def affords(self, progress: Progress) -> bool:
        """Whether it is not overshot when all of `progress` is spent. Who spends more never turns a no into a yes."""

    @abstractmethod
    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        """What is left, for a person to read."""

    @abstractmethod
    def seconds_left(self, progress: Progress, now: float) -> float | None:
        """How long until time alone ends it, not below 0; None where time alone does not."""

    @abstractmethod
    def leaves(self) -> tuple["Budget", ...]:
        """The single budgets that this one is made of."""

    def spent(self, progress: Progress, best: float | None, now: float) -> bool:
        """Whether the campaign must end."""
        return self.used(progress, best, now) >= 1.0

    def __or__(self, other: "Budget") -> "Budget":
        return AnyOf((self, other))

    def __and__(self, other: "Budget") -> "Budget":
        return AllOf((self, other))


@dataclass(frozen=True, slots=True)
class Unit:
    """How a resource is written: `5gpuh` is 5 times `size` of `resource`; `whole` ones have no fractions."""

    name: str
    resource: Resource
    size: float = 1.0
    whole: bool = False


UNITS: Mapping[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("s", "seconds"),
        Unit("m", "seconds", 60.0),
        Unit("h", "seconds", 3600.0),
        Unit("d", "seconds", 86400.0),
        Unit("programs", "programs", whole=True),
        Unit("tokens", "tokens", whole=True),
        Unit("calls", "calls", whole=True),
        Unit("usd", "money"),
        Unit("gpuh", "gpu_seconds", 3600.0),
    )
}
_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Amount(Budget):
    """A number of units of one resource, in total over all runs of the campaign."""

    number: float
    unit: Unit

    @property
    def limit(self) -> float:
        """The amount in the resource's own unit: seconds, programs, tokens, calls, money."""
        return self.number * self.unit.size

    def counted(self, progress: Progress) -> float:
        """What is spent of its resource, in the resource's own unit."""
        return _SPENT[self.unit.resource](progress)

    def used(self, progress: Progress, best: float | None, now: float) -> float:
        return self.counted(progress) / self.limit

    def allows(self, progress: Progress, pending: int, best: float | None = None, now: float = 0.0) -> bool:
        reserved = pending if self.unit.resource == "programs" else 0
        return self.counted(progress) + reserved < self.limit

    def affords(self, progress: Progress) -> bool:
        return self.counted(progress) <= self.limit

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        left = spelled(self.unit.resource, max(0.0, self.limit - self.counted(progress)))
        return f"{left} ({self.over(progress)} over it)" if self.over(progress) else left

    def over(self, progress: Progress) -> str:
        """How much more than it models have used, which happens where one does not keep to what it may use at most; empty where they have not."""
        excess = 0.0 if self.unit.resource in ("seconds", "programs") else self.counted(progress) - self.limit
        return spelled(self.unit.resource, excess) if excess > 1e-9 * self.limit else ""

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        return max(0.0, self.limit - progress.seconds) if self.unit.resource == "seconds" else None

    def leaves(self) -> tuple[Budget, ...]:
        return (self,)

    def __str__(self) -> str:
        return f"{_shortest(self.number)}{self.unit.name}"


@dataclass(frozen=True, slots=True)
class Until(Budget):
    """A moment, `at`; `since` is when that was decided. Both in seconds since 1970."""

    at: float
    since: float

    def used(self, progress: Progress, best: float | None, now: float) -> float:
        return max(0.0, now - self.since) / (self.at - self.since)

    def allows(self, progress: Progress, pending: int, best: float | None = None, now: float = 0.0) -> bool:
        return now < self.at

    def affords(self, progress: Progress) -> bool:
        return True

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        return f"{duration(max(0.0, self.at - now))} until {self._clock()}"

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        return max(0.0, self.at - now)

    def leaves(self) -> tuple[Budget, ...]:
        return (self,)

    @property
    def exact(self) -> str:
        """The moment with its date and its distance to UTC, which means the same whenever and wherever it is read."""
        return f"until={_iso(datetime.fromtimestamp(self.at).astimezone())}"

    def _clock(self) -> str:
        """As a person would write it: the time of the day alone where that is the next such time."""
        moment = datetime.fromtimestamp(self.at)
        whole = moment.second == moment.microsecond == 0
        return f"{moment:%H:%M}" if whole and self.at - self.since <= _DAY else _iso(moment)

    def __str__(self) -> str:
        return f"until={self._clock()}"


@dataclass(frozen=True, slots=True)
class Target(Budget):
    """A fitness to reach: `value`, as the user writes it. Only a confirmed estimate reaches it; its share is 0 or 1."""

    value: float
    fitness: Fitness

    def used(self, progress: Progress, best: float | None, now: float) -> float:
        return float(best is not None and best >= self.fitness.inside(self.value))

    def allows(self, progress: Progress, pending: int, best: float | None = None, now: float = 0.0) -> bool:
        return not self.spent(progress, best, now)

    def affords(self, progress: Progress) -> bool:
        return True

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        if best is None:
            return f"{self.fitness.name} {_shortest(self.value)} to reach, none yet"
        shown = f"{self.fitness.shown(best):.{self.fitness.digits}g}"
        return f"{self.fitness.name} {_shortest(self.value)} to reach, {shown} now"

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        return None

    def leaves(self) -> tuple[Budget, ...]:
        return (self,)

    def __str__(self) -> str:
        return f"fitness={_shortest(self.value)}"


@dataclass(frozen=True, slots=True)
class AnyOf(Budget):
    """Spent as soon as one of `budgets` is; without any, never."""

    budgets: tuple[Budget, ...]

    def used(self, progress: Progress, best: float | None, now: float) -> float:
        return max((budget.used(progress, best, now) for budget in self.budgets), default=0.0)

    def allows(self, progress: Progress, pending: int, best: float | None = None, now: float = 0.0) -> bool:
        return all(budget.allows(progress, pending, best, now) for budget in self.budgets)

    def affords(self, progress: Progress) -> bool:
        return all(budget.affords(progress) for budget in self.budgets)

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        return " or ".join(budget.remaining(progress, best, now) for budget in self.budgets) or "no limit"

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        left = (budget.seconds_left(progress, now) for budget in self.budgets)
        return min((seconds for seconds in left if seconds is not None), default=None)

    def leaves(self) -> tuple[Budget, ...]:
        return tuple(leaf for budget in self.budgets for leaf in budget.leaves())

    def __str__(self) -> str:
        return " | ".join(map(str, self.budgets)) or "no limit"


@dataclass(frozen=True, slots=True)
class AllOf(Budget):
    """Spent when each of `budgets` is; there is at least one."""

    budgets: tuple[Budget, ...]

    def used(self, progress: Progress, best: float | None, now: float) -> float:
        return min(budget.used(progress, best, now) for budget in self.budgets)

    def allows(self, progress: Progress, pending: int, best: float | None = None, now: float = 0.0) -> bool:
        return any(budget.allows(progress, pending, best, now) for budget in self.budgets)

    def affords(self, progress: Progress) -> bool:
        return any(budget.affords(progress) for budget in self.budgets)

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        return "(" + " and ".join(budget.remaining(progress, best, now) for budget in self.budgets) + ")"

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        left = [budget.seconds_left(progress, now) for budget in self.budgets]
        timed = [seconds for seconds in left if seconds is not None]
        return max(timed) if len(timed) == len(left) else None

    def leaves(self) -> tuple[Budget, ...]:
        return tuple(leaf for budget in self.budgets for leaf in budget.leaves())

    def __str__(self) -> str:
        return "(" + " & ".join(map(str, self.budgets)) + ")"


def any_of(budgets: Iterable[Budget]) -> Budget:
    """Budgets that were given side by side: the first one that is spent ends it; without any, nothing does."""
    given = tuple(budgets)
    return given[0] if len(given) == 1 else AnyOf(given)


def tightest(budget: Budget, progress: Progress) -> Resource:
    """The resource of which the largest share is spent; seconds only where there is no other.

    Equal shares, as at the start, go by `SCARCITY`. Without a budget in any resource it is programs."""
    amounts = [leaf for leaf in budget.leaves() if isinstance(leaf, Amount) and leaf.unit.resource != "seconds"]
    if amounts:
        amounts.sort(key=lambda amount: SCARCITY.index(amount.unit.resource))
        return max(amounts, key=lambda amount: amount.used(progress, None, 0.0)).unit.resource
    timed = any(isinstance(leaf, Amount | Until) for leaf in budget.leaves())
    return "seconds" if timed else "programs"


def spelled(resource: Resource, amount: float) -> str:
    """An amount of a resource, for a person: `12,300 tokens`, `1 call`, `0.021 usd`, `1.5 GPU hours`, `3 min 5 s`."""
    match resource:
        case "seconds":
            return duration(amount)
        case "money":
            return f"{_cents(amount)} usd"
        case "gpu_seconds":
            return f"{amount / 3600:,.1f} GPU hours" if amount >= 360 or not amount else f"{amount:.3g} GPU seconds"
        case "programs" | "tokens" | "calls" as counted:
            return f"{amount:,.0f} {counted if amount != 1 else counted[:-1]}"


def _cents(money: float) -> str:
    """With two decimals, or as many as show two digits of a small sum."""
    decimals = 2 if money >= 0.1 or money < 1e-8 else 1 - math.floor(math.log10(money))
    return f"{money:,.{decimals}f}"


def duration(seconds: float) -> str:
    """A length of time in its two largest units: `41 s`, `3 min 5 s`, `2 h 10 min`, `1 d 3 h`."""
    whole = math.floor(seconds)
    parts = ((whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "min"), (whole % 60, "s"))
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    shown = [f"{count} {name}" for count, name in parts[first : first + 2] if count]
    return " ".join(shown) or "0 s"


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="auto" if moment.second or moment.microsecond else "minutes")


def _shortest(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)
