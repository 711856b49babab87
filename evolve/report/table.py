"""Records page by page: sorted and filtered by what the columns hold, so that only the lines of one page are read.

Invariant: whatever is asked for, no more records are read than are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from evolve.campaign import Campaign
from evolve.campaign.history import KINDS
from evolve.report.frame import Flags, Numbers, RecordFrame, coded, frame
from evolve.report.records import RecordLine, record_line
from evolve.types import ConfigError, Insertion, Outcome
from evolve.types.suggest import did_you_mean

PROGRAMS = "programs"
"""Kind of records that asks for each program once, by its first record."""
MATCHES = 2_000
"""So many files, the newest, are looked at where a text is searched for among records that are sorted otherwise."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filter and order of records. An empty text and None mean any. `sort` is one of `SORTS`; of a fitness the best come first where it is `descending`,
    whatever the task's direction, and failures are last in either order. `kind` is one of `KINDS`, or `PROGRAMS`. `text` is searched in the programs."""

    sort: str = "fitness"
    descending: bool = True
    outcome: str = ""
    operator: str = ""
    model: str = ""
    island: int | None = None
    kind: str = ""
    insertion: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Lines `start` to `start + len(lines)` of `total`. `cut`: the text is in so many programs that only the newest were looked at."""

    lines: tuple[RecordLine, ...]
    total: int
    start: int
    cut: bool = False


def page(campaign: Campaign, wanted: Wanted, start: int = 0, limit: int = 50) -> Page:
    """Some of the records that are wanted; raises `ConfigError` for a word that is none of those which there are."""
    chosen, cut = selected(campaign, wanted)
    shown = chosen[start : start + limit] + 1
    lines = tuple(record_line(campaign, campaign.log.settled(record)) for record in shown.tolist())
    return Page(lines, len(chosen), start, cut)


def selected(campaign: Campaign, wanted: Wanted) -> tuple[Numbers, bool]:
    """The places (record minus one) of all that are wanted, in their order, and whether a text was looked for among the newest alone; raises
    `ConfigError`."""
    columns = frame(campaign)
    mask = _filtered(campaign, columns, wanted)
    cut = False
    if wanted.text:
        matching = campaign.log.search(wanted.text, MATCHES)
        cut, found = len(matching) == MATCHES, frozenset[str | None](matching)
        mask &= _where(campaign, columns, lambda program: program in found)
    order = _order(campaign, columns, wanted)
    return order[mask[order]], cut


def _filtered(campaign: Campaign, columns: RecordFrame, wanted: Wanted) -> Flags:
    mask = np.ones(len(columns), np.bool_)
    if wanted.outcome:
        mask &= columns.outcome(Outcome(_known("outcome", wanted.outcome, [one.value for one in Outcome])))
    if wanted.kind == PROGRAMS:
        mask &= _first_records(campaign, len(columns))
    elif wanted.kind:
        known = _known("kind", wanted.kind, (PROGRAMS, *KINDS))
        mask &= columns.kind(next(kind for kind in KINDS if kind == known))
    if wanted.insertion:
        mask &= columns.insertion(Insertion[_known("insertion", wanted.insertion, [one.name for one in Insertion])])
    if wanted.island is not None:
        mask &= columns.islands == wanted.island
    for name, names in (
        (wanted.operator, campaign.state.columns.operators),
        (wanted.model, campaign.state.columns.models),
    ):
        if name:
            mask &= np.fromiter((one == name for one in names), np.bool_, len(names))[: len(columns)]
    return mask


def _first_records(campaign: Campaign, length: int) -> Flags:
    """Returns the first record of each program: neither measurements, nor proposals that repeat a program or have none."""
    first = np.zeros(length, np.bool_)
    places = [record - 1 for record in campaign.state.columns.first_records().values() if record <= length]
    first[places] = True
    return first


def _where(campaign: Campaign, columns: RecordFrame, holds: Callable[[str | None], bool]) -> Flags:
    return np.fromiter(map(holds, campaign.state.columns.programs), np.bool_, len(columns))


def _known(what: str, got: str, known: Sequence[str]) -> str:
    if got not in known:
        raise ConfigError(f"there is no {what} {got!r}.{did_you_mean(got, known)} Do: name one of them, or none")
    return got


def _order(campaign: Campaign, columns: RecordFrame, wanted: Wanted) -> Numbers:
    """Returns all places in the order that is wanted; of equals the earlier record first."""
    _known("column to sort by", wanted.sort, SORTS)
    if wanted.sort == "fitness":
        order = columns.best_first()
        if wanted.descending:
            return order
        passed = int(np.count_nonzero(~np.isnan(columns.fitness)))
        return np.concatenate((order[:passed][::-1], order[passed:]))
    keys = _KEYS[wanted.sort](campaign, columns)
    return np.argsort(-keys if wanted.descending else keys, kind="stable")


def _names(names: Sequence[str]) -> Numbers:
    """Each name as its place in the alphabet of all."""
    codes, different = coded(names)
    places = np.empty(len(different), np.int64)
    places[np.argsort(np.array(different, dtype=object), kind="stable")] = np.arange(len(different))
    return places[codes]


def _children(campaign: Campaign, columns: RecordFrame) -> Numbers:
    """Counts the proposals that had the record's program as a parent, by whichever of its records they name it: a measurement may be one."""
    known, programs = campaign.state.columns, campaign.state.columns.programs[: len(columns)]
    codes, different = coded([program or "" for program in programs])
    counts = np.fromiter(map(len, known.parents[: len(columns)]), np.int64, len(columns))
    flat = np.fromiter(chain.from_iterable(known.parents[: len(columns)]), np.int64, int(counts.sum())) - 1
    child = np.repeat(np.arange(len(columns)), counts)
    proposed = columns.kind("proposal")[child]
    pairs = np.unique(child[proposed] * len(different) + codes[flat[proposed]])
    return np.where(
        [bool(name) for name in different], np.bincount(pairs % len(different), minlength=len(different)), 0
    )[codes]


_KEYS: dict[str, Callable[[Campaign, RecordFrame], np.ndarray[tuple[int], np.dtype[np.int64]] | Numbers]] = {
    "id": lambda _, columns: np.arange(len(columns)),
    "seconds": lambda _, columns: np.round(columns.seconds * 1e6).astype(np.int64),
    "island": lambda _, columns: columns.islands.astype(np.int64),
    "outcome": lambda _, columns: columns.outcomes.astype(np.int64),
    "insertion": lambda _, columns: columns.insertions.astype(np.int64),
    "operator": lambda campaign, _: _names(campaign.state.columns.operators),
    "model": lambda campaign, _: _names(campaign.state.columns.models),
    "children": _children,
}
__all__ = ["KINDS", "MATCHES", "PROGRAMS", "SORTS", "Page", "Wanted", "page", "selected"]
SORTS = ("fitness", *_KEYS)
"""What records may be sorted by."""
