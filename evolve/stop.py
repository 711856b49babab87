"""Budgets: what ends a campaign, as values and as a person writes them. `a | b` ends with the first one that is spent.

A budget is a pure function of what was spent, of the best confirmed fitness and of the time that it is given: it reads no clock and keeps
no state. A resource is a name in `Resource` and one row of `RESOURCES`, and how it is written is rows of `UNITS`; what it counts is a field of `Progress`, which the folds of
`evolve.campaign.folds` add up from the log. Only what treats a resource specially names it
elsewhere: the scheduler, which never overshoots programs, the costs of the bandit, and what `evolve compare` may hold equal.

    Budget
    ├── Amount     a number of programs, tokens, seconds, ...: `500programs`, `60s`, `5usd`
    ├── Until      a moment: `until=07:30`, `until=2026-11-22T07:30+01:00`
    ├── Target     a confirmed fitness: `fitness=2.6`
    └── Combined   a | b
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from evolve.types import ConfigError, Fitness, Progress
from evolve.types.errors import did_you_mean

Resource = Literal["money", "tokens", "gpu_seconds", "calls", "programs", "evaluations", "cases", "seconds"]
EXAMPLES = "60s, 90m, 2h, 1d, 500programs, 800evaluations, 4000cases, 200000tokens, 100calls, 5usd, 80gpuh, until=07:30, fitness=2.6"
_DAY = 86400.0


class Budget(ABC):
    """Bound of what may be spent. `best` is the best confirmed fitness, larger is better; `now` is in seconds since 1970."""

    __slots__ = ()

    @abstractmethod
    def used(self, progress: Progress, best: float | None, now: float) -> float:
        """Returns the spent share: 0 is nothing, 1 is all of it, more is beyond it."""

    @abstractmethod
    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        """Describes what is left."""

    def spent(self, progress: Progress, best: float | None, now: float) -> bool:
        """Returns whether the campaign must end."""
        return self.used(progress, best, now) >= 1.0

    def affords(self, progress: Progress) -> bool:
        """Returns whether it is not overshot when all of `progress` is spent. Who spends more never turns a no into a yes."""
        return True

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        """Returns the seconds until time alone ends it, not below 0; None where time alone does not."""
        return None

    def leaves(self) -> tuple["Budget", ...]:
        """Returns the single budgets that this one is made of."""
        return (self,)

    def __or__(self, other: "Budget") -> "Budget":
        return Combined((self, other))


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """Resource that budgets count: what `noun` calls it, what is `spent` of it, and how an amount is formatted. `by_models`: calls of models alone
    spend it, so that it may be overshot by one that costs more than it should."""

    noun: str
    spent: Callable[[Progress], float]
    format: Callable[[float], str]
    by_models: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit in which a resource is written: `5gpuh` is 5 times `size` of `resource`; `whole` ones have no fractions."""

    name: str
    resource: Resource
    size: float = 1.0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Amount(Budget):
    """A number of units of one resource, in total over all runs of the campaign."""

    number: float
    unit: Unit

    @property
    def kind(self) -> ResourceKind:
        """The resource that it counts."""
        return RESOURCES[self.unit.resource]

    @property
    def limit(self) -> float:
        """The amount in the resource's own unit: seconds, programs, tokens, calls, money."""
        return self.number * self.unit.size

    def counted(self, progress: Progress) -> float:
        """Returns what is spent of its resource, in the resource's own unit."""
        return self.kind.spent(progress)

    def used(self, progress: Progress, best: float | None, now: float) -> float:
        return self.counted(progress) / self.limit

    def affords(self, progress: Progress) -> bool:
        return self.counted(progress) <= self.limit

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        left = self.kind.format(max(0.0, self.limit - self.counted(progress)))
        return f"{left} ({self.over(progress)} over it)" if self.over(progress) else left

    def over(self, progress: Progress) -> str:
        """Describes how far models have overshot it, which happens where one does not keep to its bounds; empty where they have not."""
        excess = self.counted(progress) - self.limit if self.kind.by_models else 0.0
        return self.kind.format(excess) if excess > 1e-9 * self.limit else ""

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        return max(0.0, self.limit - progress.seconds) if self.unit.resource == "seconds" else None

    def __str__(self) -> str:
        return f"{_shortest(self.number)}{self.unit.name}"


@dataclass(frozen=True, slots=True)
class Until(Budget):
    """A moment, `at`; `since` is when that was decided. Both in seconds since 1970."""

    at: float
    since: float

    def used(self, progress: Progress, best: float | None, now: float) -> float:
        return max(0.0, now - self.since) / (self.at - self.since)

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        return f"{duration(max(0.0, self.at - now))} until {self._clock()}"

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        return max(0.0, self.at - now)

    @property
    def exact(self) -> str:
        """The moment with its date and its distance to UTC, which means the same whenever and wherever it is read."""
        return f"until={_iso(datetime.fromtimestamp(self.at).astimezone())}"

    def _clock(self) -> str:
        # The time of the day alone where that is the next such time, as a person would write it.
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

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        if best is None:
            return f"{self.fitness.name} {_shortest(self.value)} to reach, none yet"
        shown = f"{self.fitness.shown(best):.{self.fitness.digits}g}"
        return f"{self.fitness.name} {_shortest(self.value)} to reach, {shown} now"

    def __str__(self) -> str:
        return f"fitness={_shortest(self.value)}"


@dataclass(frozen=True, slots=True)
class Combined(Budget):
    """Spent as soon as one of `budgets` is. Without any, it is never spent."""

    budgets: tuple[Budget, ...]

    def used(self, progress: Progress, best: float | None, now: float) -> float:
        return max((budget.used(progress, best, now) for budget in self.budgets), default=0.0)

    def affords(self, progress: Progress) -> bool:
        return all(budget.affords(progress) for budget in self.budgets)

    def remaining(self, progress: Progress, best: float | None, now: float) -> str:
        return " or ".join(budget.remaining(progress, best, now) for budget in self.budgets) or "no limit"

    def seconds_left(self, progress: Progress, now: float) -> float | None:
        left = [budget.seconds_left(progress, now) for budget in self.budgets]
        return min((seconds for seconds in left if seconds is not None), default=None)

    def leaves(self) -> tuple[Budget, ...]:
        return tuple(leaf for budget in self.budgets for leaf in budget.leaves())

    def __str__(self) -> str:
        return " | ".join(map(str, self.budgets)) or "no limit"


def any_of(budgets: Iterable[Budget]) -> Budget:
    """Returns the budget that the first of these ends; without any, nothing ends it."""
    given = tuple(budgets)
    return given[0] if len(given) == 1 else Combined(given)


def tightest(budget: Budget, progress: Progress) -> Resource:
    """Returns the resource of which the largest share is spent; seconds only where there is no other.

    Equal shares, as at the start, go by the order of `RESOURCES`. Without a budget in any resource it is programs."""
    amounts = [leaf for leaf in budget.leaves() if isinstance(leaf, Amount) and leaf.unit.resource != "seconds"]
    if amounts:
        amounts.sort(key=lambda amount: list(RESOURCES).index(amount.unit.resource))
        return max(amounts, key=lambda amount: amount.used(progress, None, 0.0)).unit.resource
    timed = any(isinstance(leaf, Amount | Until) for leaf in budget.leaves())
    return "seconds" if timed else "programs"


def spelled(resource: Resource, amount: float) -> str:
    """Formats an amount of a resource: `12,300 tokens`, `1 call`, `0.021 usd`, `1.5 GPU hours`, `3 min 5 s`."""
    return RESOURCES[resource].format(amount)


def duration(seconds: float) -> str:
    """Formats a length of time in its two largest units: `41 s`, `3 min 5 s`, `2 h 10 min`, `1 d 3 h`."""
    whole = math.floor(seconds)
    parts = ((whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "min"), (whole % 60, "s"))
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    shown = [f"{count} {name}" for count, name in parts[first : first + 2] if count]
    return " ".join(shown) or "0 s"


def _format_money(money: float) -> str:
    # Two decimals, or as many as show two digits of a small sum.
    decimals = 2 if money >= 0.1 or money < 1e-8 else 1 - math.floor(math.log10(money))
    return f"{money:,.{decimals}f} usd"


def _format_gpu_seconds(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} GPU hours" if seconds >= 360 or not seconds else f"{seconds:.3g} GPU seconds"


def _format_count(plural: str) -> Callable[[float], str]:
    return lambda amount: f"{amount:,.0f} {plural if amount != 1 else plural[:-1]}"


RESOURCES: Mapping[Resource, ResourceKind] = {
    "money": ResourceKind("money", lambda progress: progress.money, _format_money, by_models=True),
    "tokens": ResourceKind("tokens", lambda progress: progress.tokens, _format_count("tokens"), by_models=True),
    "gpu_seconds": ResourceKind(
        "GPU hours", lambda progress: progress.gpu_seconds, _format_gpu_seconds, by_models=True
    ),
    "calls": ResourceKind("calls", lambda progress: progress.calls, _format_count("calls"), by_models=True),
    "programs": ResourceKind("programs", lambda progress: progress.programs, _format_count("programs")),
    "evaluations": ResourceKind("evaluations", lambda progress: progress.evaluations, _format_count("evaluations")),
    "cases": ResourceKind("cases", lambda progress: progress.cases, _format_count("cases")),
    "seconds": ResourceKind("seconds", lambda progress: progress.seconds, duration),
}
"""Resources from the most expensive to the cheapest: the first counts as the tightest where equal shares are spent."""

UNITS: Mapping[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("s", "seconds"),
        Unit("m", "seconds", 60.0),
        Unit("h", "seconds", 3600.0),
        Unit("d", "seconds", 86400.0),
        Unit("programs", "programs", whole=True),
        Unit("evaluations", "evaluations", whole=True),
        Unit("cases", "cases", whole=True),
        Unit("tokens", "tokens", whole=True),
        Unit("calls", "calls", whole=True),
        Unit("usd", "money"),
        Unit("gpuh", "gpu_seconds", 3600.0),
    )
}


def parse(text: str, now: float, fitness: Fitness | None = None) -> Budget:
    """Returns the budget that a person wrote, such as those of `EXAMPLES`; `parse(str(budget))` is the budget again. Raises `ConfigError`.

    `now`, in seconds since 1970, decides which day `until=07:30` (local time) means: the next one. A moment with its date is local
    time where it does not say otherwise.
    `fitness` tells in which direction `fitness=2.6` is reached."""
    written = text.strip().lower()
    key, equals, value = written.partition("=")
    if not equals:
        return _parse_amount(written, text)
    match key.strip():
        case "until":
            return Until(_parse_moment(value.strip(), text, now), now)
        case "fitness":
            return Target(_parse_number(value.strip(), text), fitness or Fitness())
    name = key.strip()
    raise _error(text, f"there is no {name!r}.{did_you_mean(name, ('until', 'fitness'))}")


def budget_from(texts: Iterable[str], now: float, fitness: Fitness | None = None) -> Budget:
    """Returns the budget that several texts spell together: the first one that is spent ends it. Raises `ConfigError`, also for two that count
    the same, of which one would never matter."""
    given = [parse(text, now, fitness) for text in texts]
    counted: dict[str, Budget] = {}
    for budget in given:
        what = _name_counted(budget)
        if what in counted:
            raise ConfigError(
                f"two budgets count {what}, got {str(counted[what])!r} and {str(budget)!r}, of which one would never matter. "
                "Try: give one of them"
            )
        counted[what] = budget
    return any_of(given)


def exact(text: str, now: float) -> str:
    """Returns a budget's text, with its date where it is a time of the day: what can be stored, and means the same for ever."""
    budget = parse(text, now)
    return budget.exact if isinstance(budget, Until) else text


def _name_counted(budget: Budget) -> str:
    match budget:
        case Amount():
            return budget.kind.noun
        case Until():
            return "the time of the clock"
        case _:
            return "fitness"


def _parse_amount(written: str, text: str) -> Amount:
    parts = re.fullmatch(
        r"([-+]?(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?|[-+]?(?:nan|inf))\s*([a-z]*)", written
    )
    if parts is None:
        raise _error(text, "it is not a number and a unit.")
    name = parts[2]
    # `1 call` is written in the singular; a number alone is no number of seconds.
    if name and name not in UNITS and f"{name}s" in UNITS:
        name = f"{name}s"
    if name not in UNITS:
        raise _error(text, f"there is no unit {name!r}.{did_you_mean(name, UNITS)}" if name else "it has no unit.")
    number, unit = _parse_number(parts[1], text), UNITS[name]
    if number <= 0:
        raise _error(text, "it is not above zero.", f"give what may be spent, such as 60{unit.name}")
    if not math.isfinite(number * unit.size):
        raise _error(text, "it is beyond every number.")
    if unit.whole and not number.is_integer():
        raise _error(text, f"{unit.name} are counted in whole numbers.", f"write {math.ceil(number)}{unit.name}")
    return Amount(number, unit)


def _parse_number(written: str, text: str) -> float:
    try:
        number = float(written)
    except ValueError:
        raise _error(text, f"{written!r} is not a number.") from None
    if not math.isfinite(number):
        raise _error(text, f"{written!r} is not a finite number.")
    return number


def _parse_moment(written: str, text: str, now: float) -> float:
    clock = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", written)
    if clock is not None:
        moment = datetime.fromtimestamp(now).replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        return (moment if moment.timestamp() > now else moment + timedelta(days=1)).timestamp()
    try:
        if not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]", written):
            raise ValueError(f"{written!r} has no date and time")
        at = datetime.fromisoformat(written.upper()).timestamp()
    except (ValueError, OverflowError):
        problem = f"{written!r} is not a time of the day, nor a date with a time."
        remedy = "write hours and minutes, such as until=07:30, or until=2026-11-22T07:30 with the date"
        raise _error(text, problem, remedy) from None
    if at <= now:
        raise _error(text, "that is past.", "give a moment that is to come")
    return at


def _error(text: str, problem: str, remedy: str = f"write one like {EXAMPLES}") -> ConfigError:
    return ConfigError(f"a budget cannot be used: got {text!r}, but {problem} Try: {remedy}.")


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="auto" if moment.second or moment.microsecond else "minutes")


def _shortest(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)
