"""Tracker `jsonl`: a line of JSON for each record, in a file that other programs can follow.

Lines are only added; the last one is whole even where the engine is killed, for each is written at once."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evolve.types import TrackedEnd, TrackedRecord, TrackedRun


class JsonlSettings(BaseModel):
    """Settings of `jsonl`."""

    model_config = ConfigDict(extra="forbid")

    file: str = ""


class Jsonl:
    """Writes into `file`, or where that is empty into `NAME.jsonl` beside the log."""

    def __init__(self, settings: JsonlSettings) -> None:
        self._file = settings.file
        self._descriptor = -1

    def campaign_begun(self, run: TrackedRun) -> None:
        """Opens the file, which is its owner's alone."""
        path = Path(self._file).expanduser() if self._file else Path(run.log).with_suffix(".jsonl")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)

    def record_settled(self, record: TrackedRecord) -> None:
        """Writes a line."""
        line = json.dumps(asdict(record), separators=(",", ":"), allow_nan=False)
        os.write(self._descriptor, f"{line}\n".encode())

    def campaign_ended(self, end: TrackedEnd) -> None:
        """Closes it."""
        os.close(self._descriptor)
        self._descriptor = -1
