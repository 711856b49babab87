"""Failures that are worth a repair: recent programs that failed in their evaluation, those with good ancestors first.

A failure that was repaired, was tried twice, or is quarantined is not; the answer is a function of the history and of the steps under way."""

import math
from collections import Counter
from collections.abc import Iterator, Set
from typing import NamedTuple

from evolve.protocols import History, View
from evolve.types import ProgramId, Propose, RecordId, Traits

RECENT = 128
"""Failures among which is looked."""
TRIES = 2
"""Repairs of one failure, and failures in a row that repairs may make of a success."""


_NOT_COMPARED = (math.inf, 0.0)
"""Rank of what an earlier version of the task has evaluated: its score does not compare."""


class Repair(NamedTuple):
    """A failure, and the last success among its ancestors, if its score may be shown. The smaller `rank`, the better that one is, and of
    equal ones the newer the failure."""

    rank: tuple[float, float, RecordId]
    failure: RecordId
    origin: tuple[RecordId, ...]


def list_repairs(view: View, wanted: Traits, quarantined: Set[ProgramId]) -> Iterator[Repair]:
    """Yields the failures that an operator with these traits may repair, the newest first. One that needs a model
    is given what was made with a model: the failures of the others are many, and each is but a number or an edit away from its parent."""
    history = view.history
    under_way, makers = _count_under_way(view), _repairable_operators(view, wanted)
    for record in history.failures(RECENT):
        if makers is not None and history.operator(record) not in makers:
            continue
        if history.program_id(record) in quarantined:
            continue
        origin = _find_last_success(history, record)
        if origin is None or under_way[record] or _count_tries(view, record) >= TRIES:
            continue
        current = history.is_current(origin)
        shown = () if not current or history.program_id(origin) in quarantined else (origin,)
        worth = _rank(history, origin) if current else _NOT_COMPARED
        yield Repair((*worth, -record), record, shown)


def _rank(history: History, success: RecordId) -> tuple[float, float]:
    """Returns the rank of a success: the smaller, the better."""
    fitness = history.fitness(success)
    assert fitness is not None, "a success has a fitness"
    return history.violation(success), -fitness


def _count_under_way(view: View) -> Counter[RecordId]:
    """Counts, for each record, the proposals under way that have it as their parent."""
    actions = (step.action for step in view.pending)
    return Counter(parent for action in actions if isinstance(action, Propose) for parent in action.selection.parents)


def _repairable_operators(view: View, wanted: Traits) -> Set[str] | None:
    """Returns the operators whose failures may be repaired; None for all."""
    if not wanted.needs_model:
        return None
    return frozenset(name for name in view.operators if view.traits(name).needs_model)


def _count_tries(view: View, record: RecordId) -> int:
    """Counts the repairs that were tried; as many as may be, where one worked."""
    made = view.history.children(record)
    mended = any(view.history.fitness(child) is not None for child in made)
    return TRIES if mended else len(made)


def _find_last_success(history: History, record: RecordId) -> RecordId | None:
    """Returns the nearest ancestor that succeeded, at most `TRIES` steps away; of several parents the first."""
    for _ in range(TRIES):
        parents = history.parents(record)
        if not parents:
            return None
        record = parents[0]
        if history.fitness(record) is not None:
            return record
    return None
