"""Failures of one kind together, by their outcome and the first line of what the evaluator said, or the error that ends a traceback.

Invariant: no more than the last `LOOKED_AT` that were evaluated, and as many that were screened, are read, however many there are."""

import re
from dataclasses import dataclass

import numpy as np

from evolve.campaign import Campaign
from evolve.report.frame import frame
from evolve.types import Outcome, RecordId

LOOKED_AT = 2_000
"""So many failures, the last ones, are grouped; those that were screened, for themselves, so that many of these hide no others."""
EXAMPLES = 5
_TRACEBACK = "Traceback (most recent call last)"
_NUMBER = re.compile(r"[-+]?\d[\d,._]*(?:e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Failures that differ in numbers alone. `message` is the newest one's, a program's words; the newest of `examples` is first."""

    outcome: str
    message: str
    count: int
    examples: tuple[RecordId, ...]


def failures(campaign: Campaign, *, screened: bool = False) -> tuple[FailureClass, ...]:
    """Returns the last `LOOKED_AT` failures by their classes, the most frequent first; with `screened` the last as many that were screened, too. Measurements,
    and what an earlier version of the task has evaluated, are left out."""
    records = _choose_failures(campaign, screened=screened)
    messages = _messages(campaign, records)
    classes: dict[tuple[str, str], list[RecordId]] = {}
    for record in reversed(records):
        outcome = campaign.state.history.outcome(record).value
        classes.setdefault((outcome, _NUMBER.sub("#", messages[record])), []).append(record)
    found = [
        FailureClass(outcome, messages[members[0]], len(members), tuple(members[:EXAMPLES]))
        for (outcome, _), members in classes.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.count, -one.examples[0])))


def _choose_failures(campaign: Campaign, *, screened: bool) -> list[RecordId]:
    """Returns the failures to group, in their order."""
    columns = frame(campaign)
    failed = np.isnan(columns.fitness) & ~columns.kind("measurement") & ~columns.outcome(Outcome.OK)
    failed[: columns.since] = False
    never_judged = columns.outcome(Outcome.SCREENED)
    kinds = [failed & ~never_judged, *([failed & never_judged] if screened else [])]
    return sorted(place + 1 for kind in kinds for place in np.flatnonzero(kind)[-LOOKED_AT:].tolist())


def _messages(campaign: Campaign, records: list[RecordId]) -> dict[RecordId, str]:
    """Returns the telling line of each one's feedback."""
    names = campaign.log.feedback_of(records)
    texts = campaign.log.texts(set(names.values()))
    return {record: _telling(texts.get(name, "")) for record, name in names.items()}


def _telling(feedback: str) -> str:
    """Returns the first line that is not empty; of what begins with a traceback the error, which is the first line of its end that is not indented."""
    lines = feedback.strip().splitlines()
    if not lines or not lines[0].startswith(_TRACEBACK):
        return next(iter(lines), "")
    last = max(place for place, line in enumerate(lines) if line.startswith(_TRACEBACK))
    return next((line for line in lines[last + 1 :] if line.strip() and not line.startswith(" ")), lines[0])
