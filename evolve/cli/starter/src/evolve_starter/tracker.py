"""The tracker `starter`: a line for each program that is better than all before it. `--tracker starter` tells it of a campaign."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from evolve import hookimpl
from evolve.hookspecs import TrackerEntry
from evolve.types import TrackedEnd, TrackedRecord, TrackedRun
from pydantic import BaseModel, ConfigDict, Field


class BestSettings(BaseModel):
    """Settings: `--set trackers.settings.starter.file=best.txt`. A key that is not here is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str = Field(default="", description="where the lines go; without it, beside the log")


class Best:
    """Writes into `NAME.starter.txt` beside the log of campaign NAME. All calls come on one thread, which is not the main one."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._file = BestSettings(**settings).file
        self._lines: TextIO | None = None
        self._record = 0

    def campaign_begun(self, run: TrackedRun) -> None:
        """Opens the file at its end, for a campaign may go on."""
        path = Path(self._file) if self._file else Path(run.log).with_suffix(".starter.txt")
        self._lines = path.open("a", encoding="utf-8")

    def record_settled(self, record: TrackedRecord) -> None:
        """A line, if there is another best program than before. Its fitness is in the task's direction."""
        assert self._lines is not None, "a run has begun"
        if record.best is not None and record.best.record != self._record:
            self._record = record.best.record
            print(f"{record.best.record} {record.best.fitness!r}", file=self._lines, flush=True)

    def campaign_ended(self, end: TrackedEnd) -> None:
        """Closes what was opened."""
        assert self._lines is not None, "a run has begun"
        self._lines.close()


@hookimpl
def register_trackers() -> Sequence[TrackerEntry]:
    """The name, what makes the tracker from its settings, and their model."""
    return [TrackerEntry("starter", Best, BestSettings)]
