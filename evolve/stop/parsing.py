"""Budgets as a person writes them: texts such as those of `EXAMPLES`, read into values.

Invariant: whatever is wrong with a text is one `ConfigError` that quotes it; `parse(str(budget))` is the budget again."""

import math
import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from evolve.stop.budget import UNITS, Amount, Budget, Target, Until, any_of
from evolve.types import ConfigError, Fitness
from evolve.types.errors import did_you_mean

EXAMPLES = "60s, 90m, 2h, 1d, 500programs, 200000tokens, 100calls, 5usd, 80gpuh, until=07:30, fitness=2.6"

_SINGULAR = {"program": "programs", "token": "tokens", "call": "calls"}


def parse(text: str, now: float, fitness: Fitness | None = None) -> Budget:
    """The budget that a person wrote, such as those of `EXAMPLES`; raises `ConfigError`.

    `now`, in seconds since 1970, decides which day `until=07:30` (local time) means: the next one. A moment with its date is local
    time where it does not say otherwise.
    `fitness` tells in which direction `fitness=2.6` is reached."""
    written = text.strip().lower()
    key, equals, value = written.partition("=")
    if not equals:
        return _amount(written, text)
    match key.strip():
        case "until":
            return _until(value.strip(), text, now)
        case "fitness":
            return Target(_number(value.strip(), text), fitness or Fitness())
    name = key.strip()
    raise _bad(text, f"there is no {name!r}.{did_you_mean(name, ('until', 'fitness'))}", f"write one like {EXAMPLES}")


def budget_from(texts: Iterable[str], now: float, fitness: Fitness | None = None) -> Budget:
    """The budget that several texts spell together: the first one that is spent ends it. Raises `ConfigError`, also for two that count
    the same, of which one would never matter."""
    given = [parse(text, now, fitness) for text in texts]
    counted: dict[str, Budget] = {}
    for budget in given:
        kind = _counts(budget)
        if kind in counted:
            raise ConfigError(
                f"two budgets count {kind}, got {str(counted[kind])!r} and {str(budget)!r}, of which one would never matter. "
                "Do: give one of them"
            )
        counted[kind] = budget
    return any_of(given)


def exact(text: str, now: float) -> str:
    """A budget's text, with its date where it is a time of the day: what can be stored, and means the same for ever."""
    budget = parse(text, now)
    return budget.exact if isinstance(budget, Until) else text


def _counts(budget: Budget) -> str:
    """What a single budget counts, in a word."""
    match budget:
        case Amount(unit=unit):
            return unit.resource.replace("_", " ").replace("gpu", "GPU")
        case Until():
            return "the time of the clock"
        case _:
            return "fitness"


def _amount(written: str, text: str) -> Amount:
    found = re.fullmatch(
        r"([-+]?(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?|[-+]?(?:nan|inf))\s*([a-z]*)", written
    )
    if found is None:
        raise _bad(text, "it is not a number and a unit.", f"write one like {EXAMPLES}")
    name = _SINGULAR.get(found[2], found[2])
    if name not in UNITS:
        problem = f"there is no unit {name!r}.{did_you_mean(name, UNITS)}" if name else "it has no unit."
        raise _bad(text, problem, f"write one like {EXAMPLES}")
    number, unit = _number(found[1], text), UNITS[name]
    if number <= 0:
        raise _bad(text, "it is not above zero.", f"give what may be spent, such as 60{unit.name}")
    if not math.isfinite(number * unit.size):
        raise _bad(text, "it is beyond every number.", f"write one like {EXAMPLES}")
    if unit.whole and not number.is_integer():
        raise _bad(text, f"{unit.name} are counted in whole numbers.", f"write {math.ceil(number)}{unit.name}")
    return Amount(number, unit)


def _number(written: str, text: str) -> float:
    try:
        number = float(written)
    except ValueError:
        raise _bad(text, f"{written!r} is not a number.", f"write one like {EXAMPLES}") from None
    if not math.isfinite(number):
        raise _bad(text, f"{written!r} is not a finite number.", f"write one like {EXAMPLES}")
    return number


def _until(written: str, text: str, now: float) -> Until:
    clock = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", written)
    if clock is None:
        return Until(_moment(written, text, now), now)
    moment = datetime.fromtimestamp(now).replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
    if moment.timestamp() <= now:
        moment += timedelta(days=1)
    return Until(moment.timestamp(), now)


def _moment(written: str, text: str, now: float) -> float:
    try:
        if not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]", written):
            raise ValueError(f"{written!r} has no date and time")
        at = datetime.fromisoformat(written.upper()).timestamp()
    except (ValueError, OverflowError):
        problem = f"{written!r} is not a time of the day, nor a date with a time."
        raise _bad(
            text, problem, "write hours and minutes, such as until=07:30, or until=2026-11-22T07:30 with the date"
        ) from None
    if at <= now:
        raise _bad(text, "that is past.", "give a moment that is to come")
    return at


def _bad(text: str, problem: str, remedy: str) -> ConfigError:
    return ConfigError(f"a budget cannot be used: got {text!r}, but {problem} Do: {remedy}.")
