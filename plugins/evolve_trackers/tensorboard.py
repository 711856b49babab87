"""Tracker `tensorboard`: records as scalars, by the number of the record, so that a campaign that goes on goes on in its curves.

A failed program has no fitness, and is no point of that curve."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from evolve.types import TrackedEnd, TrackedRecord, TrackedRun


class TensorBoardSettings(BaseModel):
    """Settings of `tensorboard`."""

    model_config = ConfigDict(extra="forbid")

    folder: str = ""


class TensorBoard:
    """Writes events into `folder`/NAME, or where that is empty into `NAME.tensorboard/` beside the log. `make_writer` is tensorboardX's
    `SummaryWriter`."""

    def __init__(self, make_writer: Callable[..., Any], settings: TensorBoardSettings) -> None:
        self._make_writer = make_writer
        self._folder = settings.folder
        self._writer: Any = None

    def campaign_begun(self, run: TrackedRun) -> None:
        """Opens one more file of events; those of former runs stay."""
        own = Path(self._folder).expanduser() / run.campaign if self._folder else None
        folder = own or Path(run.log).with_suffix(".tensorboard")
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Its files are named by the second; two runs within one must not share a file.
        self._writer = self._make_writer(str(folder), filename_suffix=f".{run.records}")

    def record_settled(self, record: TrackedRecord) -> None:
        """Writes its scalars."""
        for name, value in list_scalars(record):
            self._writer.add_scalar(name, value, record.record, walltime=record.at)

    def campaign_ended(self, end: TrackedEnd) -> None:
        """Closes the writer, which writes everything."""
        self._writer.close()


def list_scalars(record: TrackedRecord) -> Iterator[tuple[str, float]]:
    """Yields the scalars of a record, by name."""
    if record.best is not None:
        yield "best/fitness", record.best.fitness
        if record.best.standard_error is not None:
            yield "best/standard_error", record.best.standard_error
    if record.fitness is not None:
        yield "record/fitness", record.fitness
    yield "record/seconds", record.seconds
    yield f"outcome/{record.outcome}", 1.0
    yield "spent/programs", record.programs
    yield "spent/seconds", record.active_seconds
    if record.calls:
        yield "spent/calls", record.calls
        yield "spent/tokens", record.tokens
        yield "spent/money", record.money
