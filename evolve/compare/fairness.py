"""Whether campaigns may be compared at all, and what whoever reads the result must know.

Invariant: what makes scores mean different things is refused; what may have favoured an arm is said."""

from collections.abc import Callable, Sequence
from itertools import groupby

from evolve.compare.arms import Group
from evolve.compare.course import Course
from evolve.compare.resources import SLACK, Resource, amount
from evolve.types import ConfigError


def check(groups: Sequence[Group], resource: Resource) -> tuple[str, ...]:
    """What is to be said beside the result; raises `ConfigError` for arms that cannot be compared."""
    courses = [one for group in groups for one in group.courses]
    _check_arms(groups)
    _check_called(courses, resource)
    _same(courses, "task", lambda one: one.circumstances.task)
    _same(courses, "version of the task", lambda one: one.circumstances.version)
    _same(courses, "parameters of the task", _parameters)
    judged = [one for one in courses if one.circumstances.hardware]
    if resource == "seconds" or not all(one.circumstances.deterministic for one in courses):
        _same(judged, "hardware", lambda one: one.circumstances.hardware)
    return (
        *_differing(judged, "hardware", lambda one: one.circumstances.hardware),
        *_differing(judged, "isolation", lambda one: one.circumstances.isolation),
        *_differing(courses, "number of judges", lambda one: str(one.circumstances.judges)),
        *_differing(courses, "version of evolve", lambda one: one.circumstances.evolve),
        *_ends(groups),
        *_lengths(courses, resource),
    )


def _check_arms(groups: Sequence[Group]) -> None:
    if len(groups) < 2:
        raise ConfigError(
            f"a comparison has at least two arms, got {_number(groups)}. Do: name more strategies, arms, or campaigns; "
            "--read ARM=NAME makes an arm of any campaigns"
        )
    for group in groups:
        if not group.courses:
            raise ConfigError(f"arm {group.name!r} has no campaign. Do: run one, or leave the arm out")


def _check_called(courses: Sequence[Course], resource: Resource) -> None:
    if resource in ("calls", "tokens") and not any(one.spent.calls for one in courses):
        raise ConfigError(
            f"{resource} cannot be held equal where no campaign has called a model. Do: --per programs, or --per seconds"
        )
    if resource == "money" and not any(one.spent.money for one in courses):
        raise ConfigError(
            "money cannot be held equal where no campaign has spent any. Do: --per programs, or --per seconds"
        )


def _number(groups: Sequence[Group]) -> str:
    """How many arms there are; of one, what its campaigns have in common."""
    alike = groups and len(groups[0].courses) > 1
    return f"{len(groups)}{': between its campaigns no setting differs that changes the search' if alike else ''}"


def _parameters(one: Course) -> str:
    found = one.circumstances.settings
    return ", ".join(f"{key}={found[key]}" for key in sorted(found) if key.startswith("parameters."))


def _same(courses: Sequence[Course], what: str, told: Callable[[Course], str]) -> None:
    first = courses[0] if courses else None
    other = next((one for one in courses if first is not None and told(one) != told(first)), None)
    if first is not None and other is not None:
        raise ConfigError(
            f"campaigns with another {what} do not compare, got {_short(told(first))!r} ({first.campaign}) and {_short(told(other))!r} "
            f"({other.campaign}). Do: leave one of them out, or run both again"
        )


def _short(text: str) -> str:
    return text[:12] if len(text) == 64 else text[:60]


def _differing(courses: Sequence[Course], what: str, told: Callable[[Course], str]) -> list[str]:
    found = sorted({told(one) for one in courses})
    return [f"the {what} differs: {'; '.join(_short(one) for one in found)}"] if len(found) > 1 else []


def _ends(groups: Sequence[Group]) -> list[str]:
    """Campaigns that did not end as they should: each is told by name."""
    found = []
    for group in groups:
        order = sorted(group.courses, key=lambda one: one.status)
        for status, courses in groupby(order, key=lambda one: one.status):
            names = ", ".join(one.campaign for one in courses)
            match status:
                case "failed":
                    found.append(f"{group.name}: failed, and counted as worse than all others: {names}")
                case "unfinished":
                    found.append(f"{group.name}: its budget is not spent yet: {names}")
                case "exhausted":
                    found.append(f"{group.name}: ended early, nothing new was proposed any more: {names}")
                case _:
                    pass
        found += [
            f"{group.name}: {one.problem}: {one.campaign}"
            for one in group.courses
            if one.problem and one.status != "failed"
        ]
    return found


def _lengths(courses: Sequence[Course], resource: Resource) -> list[str]:
    spent = [amount(one.spent, resource) for one in courses if one.status in ("finished", "unfinished")]
    if not spent or max(spent) <= min(spent) * (1.0 + SLACK):
        return []
    return [
        f"campaigns have spent from {min(spent):,.6g} to {max(spent):,.6g} {resource}: all are looked at where the shortest ends"
    ]
