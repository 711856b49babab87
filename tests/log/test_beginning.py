"""A log that has its first event from its first moment on."""

import sqlite3
from pathlib import Path

import pytest

from evolve.log import Log, begin
from evolve.types import Opened, StoreError, text_id

TEXT = "a definition"
FIRST = Opened("begun", "task", "v", text_id(TEXT), {}, {})


def test_a_new_log_holds_its_first_event_and_the_texts_that_it_names(tmp_path: Path) -> None:
    """And it is open for writing."""
    with begin(tmp_path / "begun.db", FIRST, {text_id(TEXT): TEXT}, 7.0) as log:
        assert [(one.number, one.at, one.active, one.event) for one in log.events()] == [(1, 7.0, 0.0, FIRST)]
        assert (log.text(text_id(TEXT)), log.readonly) == (TEXT, False)
    with Log.open(tmp_path / "begun.db", readonly=True) as again:
        assert (again.count(), again.readonly) == (1, True)


def test_what_ends_the_process_meanwhile_leaves_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does an event that a log could not give back."""

    def interrupted(connection: sqlite3.Connection) -> None:
        raise KeyboardInterrupt

    with pytest.raises(StoreError, match="takes finite times"):
        begin(tmp_path / "begun.db", FIRST, {}, float("nan"))
    monkeypatch.setattr("evolve.log.schema.build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path / "begun.db", FIRST, {}, 7.0)
    assert list(tmp_path.iterdir()) == []
