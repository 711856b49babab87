"""`evolve program show --draw`: the task's own picture of a result, written to a file.

Invariant: a picture that cannot be made is an error, and what was there then stays as it was."""

from pathlib import Path

from evolve.atomic_write import atomic_write
from evolve.campaign import Campaign
from evolve.pictures import drawn
from evolve.sandbox.means import Means
from evolve.types import ConfigError, RecordId


def draw(campaign: Campaign, record: RecordId, target: Path, means: Means) -> None:
    """Writes the picture of a record to `target`, of a task that draws; raises `ConfigError` or `TaskError`."""
    picture = drawn(campaign, record, means)
    try:
        with atomic_write(target, replace=True) as made:
            made.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"the picture cannot be written to {target}: {error.strerror}. Do: name another file"
        ) from error
