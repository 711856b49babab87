"""A new log with its first event.

A log that has no first event never has a name: a process that ends meanwhile leaves none."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from evolve.log import schema
from evolve.log.log import INSERT_EVENT, INSERT_TEXT, Log, event_row, text_row
from evolve.types import Event, TextId


def begin(path: Path, first: Event, texts: Mapping[TextId, str], at: float) -> Log:
    """Makes the log `path` of one event, at a time in seconds since 1970, with the texts that it names, and opens it for writing. Raises `StoreError`."""

    def build(connection: sqlite3.Connection) -> None:
        schema.build(connection)
        connection.execute("BEGIN")
        connection.executemany(INSERT_TEXT, [text_row(name, text) for name, text in texts.items()])
        connection.execute(INSERT_EVENT, event_row(path, first, at, 0.0))
        connection.execute("COMMIT")

    return Log.create(path, build)
