"""Records page by page: sorted and filtered by what the columns hold, so that only the lines of one page are read.

Invariant: whatever is asked for, no more records are read than are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evolve.campaign import Campaign
from evolve.campaign.history import KINDS
from evolve.report.frame import Flags, Numbers, RecordFrame, frame
from evolve.report.records import RecordLine, record_line
from evolve.types import ConfigError, Insertion, Outcome
from evolve.types.errors import did_you_mean

SORTS = ("fitness", "id", "seconds")
"""Orders of records."""
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


def page(campaign: Campaign, wanted: Wanted, start: int = 0, limit: int | None = 50) -> Page:
    """Returns some of the records that are wanted; raises `ConfigError` for a word that is none of those which there are."""
    chosen, cut = selected(campaign, wanted)
    shown = chosen[start : None if limit is None else start + limit] + 1
    lines = tuple(record_line(campaign, campaign.log.settled(record)) for record in shown.tolist())
    return Page(lines, len(chosen), start, cut)


def selected(campaign: Campaign, wanted: Wanted) -> tuple[Numbers, bool]:
    """Returns the places (record minus one) of all that are wanted, in their order, and whether a text was looked for among the newest alone; raises
    `ConfigError`."""
    columns = frame(campaign)
    mask = _filter(campaign, columns, wanted)
    cut = False
    if wanted.text:
        matching = campaign.log.search(wanted.text, MATCHES)
        cut, found = len(matching) == MATCHES, frozenset[str | None](matching)
        mask &= _where(campaign, columns, lambda program: program in found)
    order = _order(columns, wanted)
    # Ordered first and chosen then, so that equals keep their order whatever else is filtered.
    return order[mask[order]], cut


def _filter(campaign: Campaign, columns: RecordFrame, wanted: Wanted) -> Flags:
    mask = np.ones(len(columns), np.bool_)
    if wanted.outcome:
        mask &= columns.outcome(Outcome(_check_word("outcome", wanted.outcome, [one.value for one in Outcome])))
    if wanted.kind == PROGRAMS:
        mask &= _first_records(campaign, len(columns))
    elif wanted.kind:
        known = _check_word("kind", wanted.kind, (PROGRAMS, *KINDS))
        mask &= columns.kind(next(kind for kind in KINDS if kind == known))
    if wanted.insertion:
        mask &= columns.insertion(
            Insertion[_check_word("insertion", wanted.insertion, [one.name for one in Insertion])]
        )
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


def _check_word(what: str, got: str, known: Sequence[str]) -> str:
    if got not in known:
        raise ConfigError(f"there is no {what} {got!r}.{did_you_mean(got, known)} Try: name one of them, or none")
    return got


def _order(columns: RecordFrame, wanted: Wanted) -> Numbers:
    """Returns all places in the order that is wanted; of equals the earlier record first."""
    _check_word("column to sort by", wanted.sort, SORTS)
    if wanted.sort == "fitness":
        order = columns.best_first()
        if wanted.descending:
            return order
        passed = int(np.count_nonzero(~np.isnan(columns.fitness)))
        return np.concatenate((order[:passed][::-1], order[passed:]))
    keys = columns.seconds if wanted.sort == "seconds" else np.arange(len(columns))
    return np.argsort(-keys if wanted.descending else keys, kind="stable")
