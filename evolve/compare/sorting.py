"""Campaigns that nobody has sorted into arms.

Invariant: campaigns of one arm differ in nothing but seed, budget, machine and what changes no search; an arm's name says in what it differs from the others of its strategy."""

from collections.abc import Sequence

from evolve.compare.arms import Group
from evolve.compare.course import Course


def by_settings(courses: Sequence[Course]) -> tuple[Group, ...]:
    """The arms in the order in which their first campaigns come."""
    found: dict[tuple[tuple[str, str], ...], list[Course]] = {}
    for one in courses:
        found.setdefault(tuple(sorted(one.circumstances.settings.items())), []).append(one)
    arms = list(found.values())
    return tuple(Group(_name(arm, arms), tuple(arm)) for arm in arms)


def _name(arm: Sequence[Course], arms: Sequence[Sequence[Course]]) -> str:
    """The strategy's name; where others have it too, with what is different."""
    own, strategy = arm[0].circumstances.settings, arm[0].strategy
    rivals = [other[0].circumstances.settings for other in arms if other is not arm and other[0].strategy == strategy]
    keys = sorted({key for rival in rivals for key in own.keys() | rival.keys() if own.get(key) != rival.get(key)})
    return " ".join([strategy, *(f"{key}={own.get(key, 'unset')}" for key in keys)])
