"""Outcomes of proposals: how many programs ended how, what operators and models brought, and failures of one kind together.

No record is read for the counts, and for the failures no more than the last `LOOKED_AT`, however many there are."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from evolve.campaign import Campaign
from evolve.campaign.folds import REFLECTION
from evolve.campaign.history import OUTCOMES
from evolve.report.frame import Flags, Numbers, RecordFrame, frame, rank
from evolve.types import Outcome, RecordId


@dataclass(frozen=True, slots=True)
class Yield:
    """Yield of an operator, or a model by whatever operator: its records, those that were evaluated, and those that were better than each of their
    parents."""

    name: str
    proposals: int
    evaluated: int
    improved: int

    @property
    def share(self) -> float:
        """Share of the evaluated programs: of what was evaluated, how much was better than its parents."""
        return self.improved / self.evaluated if self.evaluated else 0.0


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a campaign: records by outcome, the most frequent first, and yields, the busiest first. A reflection makes no program, and is counted
    by itself."""

    outcomes: Mapping[str, int]
    operators: tuple[Yield, ...]
    models: tuple[Yield, ...]
    notes: int


def tally(campaign: Campaign) -> Tally:
    """Counts all that has settled."""
    columns, state = frame(campaign), campaign.state
    operators, models = (encode(names[: len(columns)]) for names in (state.columns.operators, state.columns.models))
    # Older logs have reflections as proposals.
    noted = columns.kind("note") | _flag_names(operators, lambda name: name == REFLECTION)
    made = _flag_names(operators, bool) & ~noted
    evaluated, better = ~columns.outcome(Outcome.SCREENED), flag_improved(campaign, columns)
    counts = np.bincount(columns.outcomes[~noted], minlength=len(OUTCOMES))
    return Tally(
        outcomes={
            OUTCOMES[code].value: int(counts[code]) for code in np.argsort(-counts, kind="stable") if counts[code]
        },
        operators=_count(operators, made, evaluated, better),
        models=_count(models, made & _flag_names(models, bool), evaluated, better),
        notes=int(np.count_nonzero(noted)),
    )


_Coded = tuple[Numbers, list[str]]


def encode(names: Sequence[str]) -> _Coded:
    """Returns each name as its place among the different ones, and these in the order in which they come first."""
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return np.fromiter(map(codes.__getitem__, names), np.int64, len(names)), list(codes)


def _flag_names(coded: _Coded, holds: Callable[[str], bool]) -> Flags:
    """Flags the records whose name meets a condition."""
    codes, names = coded
    return np.array([holds(name) for name in names], np.bool_)[codes]


def _count(coded: _Coded, made: Flags, evaluated: Flags, better: Flags) -> tuple[Yield, ...]:
    """Returns a yield for each name that has made something."""
    codes, names = coded
    proposals, judged, improved = (
        np.bincount(codes[chosen], minlength=len(names)).tolist() for chosen in (made, made & evaluated, made & better)
    )
    lines = [line for line in map(Yield, names, proposals, judged, improved) if line.proposals]
    return tuple(sorted(lines, key=lambda line: (-line.evaluated, line.name)))


def flag_improved(campaign: Campaign, columns: RecordFrame) -> Flags:
    """Flags the records that succeeded and were better than each parent that did; constraints come first."""
    parents = campaign.state.columns.parents[: len(columns)]
    counts = np.fromiter(map(len, parents), np.int64, len(parents))
    flat = np.fromiter(chain.from_iterable(parents), np.int64, int(counts.sum())) - 1
    worth = rank(columns)
    child = np.repeat(np.arange(len(columns)), counts)
    beaten = np.isnan(columns.fitness)
    # A parent that failed has the lowest rank of all, and is no obstacle.
    beaten[child[worth[flat] >= worth[child]]] = True
    return ~beaten


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
    failed = np.isnan(columns.fitness) & columns.flag_attempts() & ~columns.outcome(Outcome.OK)
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
