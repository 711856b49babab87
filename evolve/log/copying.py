"""A new log with other events and the programs and texts of an old one, which is only read.

The new log appears under its name when it is complete; every program that its events name is in it."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from evolve.log import schema
from evolve.log.log import INSERT_EVENT, Log, event_row
from evolve.types import Stamped

_PROGRAMS = """
INSERT INTO main.signatures (number, program, signature)
SELECT number, program, signature FROM source.signatures
WHERE program IN (SELECT program FROM main.events WHERE program IS NOT NULL)
"""
_FILES = """
INSERT INTO main.files (number, program, path, size, text)
SELECT number, program, path, size, text FROM source.files WHERE program IN (SELECT number FROM main.signatures)
"""
_SKETCHES = """
INSERT INTO main.sketches (program, minima)
SELECT program, minima FROM source.sketches WHERE program IN (SELECT number FROM main.signatures)
"""
_VECTORS = """
INSERT INTO main.vectors (program, model, components)
SELECT program, model, components FROM source.vectors WHERE program IN (SELECT number FROM main.signatures)
"""


def copy(source: Path, target: Path, events: Iterable[Stamped]) -> Log:
    """Makes the log `target` of these events, numbered anew, and opens it for writing. Raises `StoreError`."""

    def build(connection: sqlite3.Connection) -> None:
        schema.build(connection)
        connection.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        connection.execute("BEGIN")
        rows = (event_row(target, stamped.event, stamped.at, stamped.active) for stamped in events)
        connection.executemany(INSERT_EVENT, rows)
        for statement in (_PROGRAMS, _FILES, _SKETCHES, _VECTORS):
            connection.execute(statement)
        connection.execute("INSERT INTO main.texts (id, body) SELECT id, body FROM source.texts")
        connection.execute("COMMIT")
        connection.execute("DETACH source")

    return Log.create(target, build)
