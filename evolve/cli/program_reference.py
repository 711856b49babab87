"""References to a program on the command line: `NAME/ID`, `ID`, `NAME/best` or `best`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evolve import report
from evolve.campaign import Campaign, existing_path, workspace
from evolve.plugins import load
from evolve.types import ConfigError, RecordId

_BEST = "best"


@contextmanager
def open_program(reference: str) -> Iterator[tuple[Campaign, RecordId]]:
    """Opens the campaign of a reference, replayed, and yields it with the record; raises `ConfigError`."""
    name, _, number = reference.rpartition("/")
    with Campaign.open(name or None, load(), workspace()) as campaign:
        if number == _BEST:
            yield campaign, _best(campaign)
        else:
            yield campaign, report.settled(campaign, _parse(campaign.name, number, reference)).record.id


def locate_program(reference: str) -> tuple[Path, RecordId]:
    """Returns the log and the record of a reference without replaying the log, but for `best`; the record may not exist. Raises
    `ConfigError`."""
    name, _, number = reference.rpartition("/")
    path = existing_path(workspace(), name or None)
    if number != _BEST:
        return path, _parse(path.stem, number, reference)
    with open_program(reference) as (_, record):
        return path, record


def _best(campaign: Campaign) -> RecordId:
    best = campaign.state.archive.best
    if best is not None:
        return best.record
    name = campaign.name
    if len(campaign.state.history) and not campaign.state.seed_values:
        raise ConfigError(
            f"campaign {name!r} has no best program: its seed has failed. Do: `evolve program show {name}/1 --feedback` says why; "
            "another campaign is NAME/best (evolve campaign list)"
        )
    raise ConfigError(f"campaign {name!r} has no best program yet. Do: run it, with --continue")


def _parse(name: str, number: str, reference: str) -> RecordId:
    if not (number.isascii() and number.isdigit()):
        raise ConfigError(
            f"a program is named NAME/ID, got {reference!r}. Do: for example {name}/1, or a bare 1, or best"
        )
    return int(number)
