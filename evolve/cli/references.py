"""How a program is named on the command line: `NAME/ID`, `ID`, `NAME/best` or `best`.

Invariant: a name that cannot be one is an error that shows one that can."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evolve import report
from evolve.campaign import Campaign, existing_path, workspace
from evolve.plugins import load
from evolve.types import ConfigError, RecordId

BEST = "best"


@contextmanager
def opened(reference: str) -> Iterator[tuple[Campaign, RecordId]]:
    """The campaign and the record that a reference names, the campaign replayed; raises `ConfigError`."""
    name, _, number = reference.rpartition("/")
    with Campaign.open(name or None, load(), workspace()) as campaign:
        yield campaign, _record(campaign, number, reference)


def located(reference: str) -> tuple[Path, RecordId]:
    """The log and the record that a reference names; the log is replayed for `best` alone, and nobody looks whether there is such a
    record. Raises `ConfigError`."""
    name, _, number = reference.rpartition("/")
    path = existing_path(workspace(), name or None)
    if number != BEST:
        return path, _number(path.stem, number, reference)
    with opened(reference) as (_, record):
        return path, record


def _record(campaign: Campaign, number: str, reference: str) -> RecordId:
    if number == BEST:
        best = campaign.state.archive.best
        if best is None:
            raise ConfigError(_without_best(campaign))
        return best.record
    return report.settled(campaign, _number(campaign.name, number, reference)).record.id


def _without_best(campaign: Campaign) -> str:
    """Why a campaign has no best program, and what to do about it."""
    name, records = campaign.name, len(campaign.state.history)
    if records and not campaign.state.seed_values:
        return (
            f"campaign {name!r} has no best program: its seed has failed. Do: `evolve program show {name}/1 --feedback` says why; another "
            "campaign is NAME/best (evolve campaign list)"
        )
    return f"campaign {name!r} has no best program yet. Do: run it, with --continue"


def _number(name: str, number: str, reference: str) -> RecordId:
    if not (number.isascii() and number.isdigit()):
        raise ConfigError(
            f"a program is named NAME/ID, got {reference!r}. Do: for example {name}/1, or a bare 1, or best"
        )
    return int(number)
