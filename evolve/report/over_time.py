"""What operators and models brought, and what was spent, as a campaign went on.

Invariant: slices have equally many records, but for one, and together hold all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolve.campaign import Campaign
from evolve.campaign.state import REFLECTION
from evolve.report.frame import Flags, Numbers, coded, frame, improved
from evolve.report.tally import Yield
from evolve.types import Outcome, RecordId

SLICES = 50
LEAST = 30
"""Records of a slice where there are so many: shares of fewer say little."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Records `first` to `last`. `seconds` is how long the campaign had run at its end; `programs` were judged in it, and `calls`, `tokens` and `money` are
    what calls of models took in it. Yields are those of operators and models that proposed in it, by name."""

    first: RecordId
    last: RecordId
    seconds: float
    programs: int
    calls: int
    tokens: int
    money: float
    operators: tuple[Yield, ...]
    models: tuple[Yield, ...]


def slices(campaign: Campaign, count: int = SLICES, least: int = LEAST) -> tuple[Slice, ...]:
    """A campaign in at most `count` slices of at least `least` records, in their order; one where there are fewer, none before the first record."""
    columns = frame(campaign)
    if not len(columns):
        return ()
    ends = _ends(len(columns), max(1, min(count, len(columns) // least)))
    begins = [0, *ends[:-1]]
    number = np.repeat(np.arange(len(ends)), np.subtract(ends, begins))
    better = improved(campaign.state.history, columns)
    codes, names = coded(campaign.state.columns.operators[: len(columns)])
    made = np.array([name not in ("", REFLECTION) for name in names], np.bool_)[codes]
    judged = made & ~columns.outcome(Outcome.SCREENED)
    groups = (made, judged, made & better)
    operators = _yields(codes, names, number, groups)
    models = _yields(*coded(campaign.state.columns.models[: len(columns)]), number, groups)
    seconds, programs = (
        campaign.log.active_of(ends),
        np.bincount(number[columns.judged_programs()], minlength=len(ends)),
    )
    return tuple(
        Slice(
            first=1 + begins[place],
            last=end,
            seconds=seconds[end],
            programs=int(programs[place]),
            calls=_in(campaign.state.columns.calls, ends, place),
            tokens=_in(campaign.state.columns.tokens, ends, place),
            money=_in(campaign.state.columns.money, ends, place),
            operators=tuple(Yield(*line) for line in operators[place]),
            models=tuple(Yield(*line) for line in models[place]),
        )
        for place, end in enumerate(ends)
    )


def _ends(length: int, count: int) -> list[RecordId]:
    """The last record of each of `count` slices."""
    return [-(-length * place // count) for place in range(1, count + 1)]


def _in(totals: Sequence[float], ends: Sequence[int], place: int) -> Any:
    """What a running total grew by in a slice."""
    return totals[ends[place] - 1] - (totals[ends[place - 1] - 1] if place else 0)


def _yields(
    codes: Numbers, names: Sequence[str], number: Numbers, groups: Sequence[Flags]
) -> list[list[tuple[str, int, int, int]]]:
    """Of each slice: by name how many records of each group there were: what an operator has made, what of it was judged, and what was better than its
    parents."""
    size, key = int(number[-1]) + 1, number * len(names) + codes
    counts = [np.bincount(key[chosen], minlength=size * len(names)).reshape(size, -1).tolist() for chosen in groups]
    return [
        sorted((name, *row) for name, *row in zip(names, *lines, strict=True) if name and row[0])
        for lines in zip(*counts, strict=True)
    ]
