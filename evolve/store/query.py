"""A person's own question to a log, in SQL. Invariant: whatever the statement says, the log stays as it is and no other file is opened by its name, it
ends when its time is over, and its rows come one by one. What SQLite cannot sort in little memory lies meanwhile in files without a name, which are gone
at the end, however that comes: a large log is not to be sorted in memory."""

import sqlite3
import time
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evolve.store import schema
from evolve.store.checks import readable
from evolve.store.connections import reading
from evolve.types import ConfigError

Value = None | int | float | str | bytes

_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
_PRAGMAS = frozenset({"data_version", "table_info", "table_list", "table_xinfo", "index_list", "index_info"})
"""Those that tell something of the log, and that its search asks itself."""
_LARGEST = 64 << 20
"""Bytes of a value and of a statement."""
_BETWEEN = 10_000
"""Instructions of SQLite's machine between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Headings, each once, and the rows, which are read while they are taken."""

    headings: tuple[str, ...]
    rows: Iterator[Sequence[Value]]


@contextmanager
def asked(path: Path, statement: str, seconds: float) -> Iterator[Answer]:
    """The answer to one statement that reads; raises `ConfigError` for any other, for a wrong one, and for one that takes longer. `unpacked(body)`
    is the text of a row of `texts`."""
    with readable(path):
        connection = reading(path)
    with closing(connection):
        with readable(path):
            schema.check(connection, path, complete=True)
        _confine(connection, time.monotonic() + seconds)
        with _told(seconds):
            cursor = connection.execute(statement)
        if cursor.description is None:
            raise ConfigError("the statement asks for nothing. Do: write one that begins with SELECT")
        with closing(_rows(cursor, seconds)) as rows:
            yield Answer(_headings([name for name, *_ in cursor.description]), rows)


def _confine(connection: sqlite3.Connection, deadline: float) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
    connection.text_factory = lambda stored: stored.decode("utf-8", "replace")
    connection.create_function("unpacked", 1, _unpacked, deterministic=True)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _BETWEEN)
    # What searches programs declares a table of its own when it is first used.
    connection.execute("SELECT 1 FROM files_fts LIMIT 0")
    connection.set_authorizer(_allowed)


def _allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """A connection that only reads could still attach other files, which it might write."""
    reads = action in _ALLOWED and second != "load_extension"
    tells = action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS
    return sqlite3.SQLITE_OK if reads or tells else sqlite3.SQLITE_DENY


def _unpacked(body: Value) -> str | None:
    if not isinstance(body, bytes):
        return None
    try:
        return zlib.decompressobj().decompress(body, _LARGEST).decode("utf-8", "replace")
    except zlib.error:
        return None


@contextmanager
def _told(seconds: float) -> Iterator[None]:
    """What SQLite says of a statement, as one line for its author."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_INTERRUPT:
            raise ConfigError(
                f"the statement took longer than {seconds:g} s. Do: ask for less, or give it more time with --seconds"
            ) from error
        if code in (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY):
            raise ConfigError(
                f"the statement does more than to read: {error}. Do: write one that begins with SELECT; a log is never changed"
            ) from error
        what = str(error).rstrip(".")
        raise ConfigError(
            f"the statement cannot be answered: {what}. Do: see docs/schema.md for the tables and views"
        ) from error


def _rows(cursor: sqlite3.Cursor, seconds: float) -> Generator[Sequence[Value], None, None]:
    with _told(seconds):
        yield from cursor


def _headings(names: Sequence[str]) -> tuple[str, ...]:
    """Equal ones with a number, so that a row can be read by its headings."""
    found: list[str] = []
    for name in names:
        told, number = name, 2
        while told in found:
            told, number = f"{name}_{number}", number + 1
        found.append(told)
    return tuple(found)
