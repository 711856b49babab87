"""Tables and views of a log, and the migrations that bring an older log to them; `docs/python.md` describes them for readers.

A migration that was released never changes; what a log has, it says in `_sqlite_migrations`."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from evolve.log.files import damage_error
from evolve.log.views import VIEWS
from evolve.types import StoreError

APPLICATION = 0x45564F4C
"""`EVOL` in ASCII: SQLite's application id of every log."""

MIGRATIONS = Migrations("evolve.log")

# `type`, `record` and `program` are computed from the body, never stored: there is no second truth. `crc` finds damage that
# SQLite cannot see; ids are stored as text, for people read these tables.
_TABLES = (
    """
    CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        active REAL NOT NULL,
        crc INTEGER NOT NULL,
        body TEXT NOT NULL,
        type TEXT GENERATED ALWAYS AS (json_extract(body, '$.type')) VIRTUAL,
        record INTEGER GENERATED ALWAYS AS (json_extract(body, '$.record.id')) VIRTUAL,
        program TEXT GENERATED ALWAYS AS (json_extract(body, '$.record.program')) VIRTUAL
    )
    """,
    "CREATE UNIQUE INDEX events_record ON events (record) WHERE record IS NOT NULL",
    "CREATE TABLE signatures (number INTEGER PRIMARY KEY, program TEXT NOT NULL UNIQUE, signature TEXT NOT NULL)",
    """
    CREATE TABLE files (
        number INTEGER PRIMARY KEY,
        program INTEGER NOT NULL REFERENCES signatures (number),
        path TEXT NOT NULL,
        size INTEGER NOT NULL,
        text TEXT NOT NULL
    )
    """,
    "CREATE INDEX files_program ON files (program)",
    "CREATE TABLE texts (id TEXT PRIMARY KEY, body BLOB NOT NULL)",
)
_SEARCH = (
    """
    CREATE VIRTUAL TABLE files_fts USING fts5 (
        text, content = files, content_rowid = number, tokenize = "unicode61 tokenchars '_'"
    )
    """,
    "CREATE INDEX events_type ON events (type)",
    "CREATE INDEX events_program ON events (program) WHERE program IS NOT NULL",
)
_NEARNESS = (
    "CREATE TABLE sketches (program INTEGER PRIMARY KEY REFERENCES signatures (number), minima BLOB NOT NULL)",
    """
    CREATE TABLE vectors (
        program INTEGER PRIMARY KEY REFERENCES signatures (number), model TEXT NOT NULL, components BLOB NOT NULL
    )
    """,
)

_CREATE_VIEWS = {name: f"CREATE VIEW {name} AS {query}" for name, query in VIEWS.items()}
_STEPS = {
    "0001_tables": _TABLES,
    "0002_search_and_views": (*_SEARCH, *_CREATE_VIEWS.values()),
    "0003_nearness": _NEARNESS,
    # Logs from before the first release have these two in an older form.
    "0004_calls": ("DROP VIEW calls", _CREATE_VIEWS["calls"], "DROP VIEW costs", _CREATE_VIEWS["costs"]),
    "0005_refusals": ("DROP VIEW records", _CREATE_VIEWS["records"]),
    # A log that is made by this version has the view already.
    "0006_previews": ("DROP VIEW IF EXISTS previews", _CREATE_VIEWS["previews"]),
}
_FOR_PEOPLE = frozenset({"0005_refusals", "0006_previews"})
"""Steps that change what people see of a log alone: one without them can be read."""


def _register(name: str, statements: Sequence[str]) -> None:
    @MIGRATIONS(name=name)
    def _apply(database: Database) -> None:
        for statement in statements:
            database.execute(statement)


for _name, _statements in _STEPS.items():
    _register(_name, _statements)


def build(connection: sqlite3.Connection) -> None:
    """Makes an empty log of an empty database."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    migrate(connection)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings the log to this version; does nothing when it is of this version."""
    MIGRATIONS.apply(_database(connection))


def check(connection: sqlite3.Connection, path: Path, *, complete: bool) -> None:
    """Raises `StoreError` when this is no log, is newer than this version, or, where `complete` is asked for, is older."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise StoreError(f"{path} is no log of evolve: it is a file of something else, or empty. Try: check the path")
    try:
        applied = {migration.name for migration in MIGRATIONS.applied(_database(connection))}
    except KeyError as error:
        raise damage_error(path, f"its list of migrations has no column {error}") from error
    newer, missing = sorted(applied - _STEPS.keys()), sorted(_STEPS.keys() - applied - _FOR_PEOPLE)
    if newer:
        raise StoreError(
            f"{path} was made by a newer version of evolve (it has {newer[-1]}). Try: update evolve, then open it again"
        )
    if missing and complete:
        raise StoreError(
            f"{path} was made by an older version of evolve (it lacks {missing[0]}) and is opened only for reading. "
            "Try: open it once for writing, with `evolve run --continue`, which migrates it"
        )


def _database(connection: sqlite3.Connection) -> Database:
    return Database(connection, recursive_triggers=False, execute_plugins=False)
