"""Connections to SQLite files. Every connection is in auto-commit mode (a transaction begins only where the code says
BEGIN), waits for a busy file, and a file appears under its name only when it is complete."""

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from evolve.types import StoreError

BUSY_SECONDS = 5.0
_CACHE_KIBIBYTES = 16_384
_CHECKPOINT_PAGES = 4_000


def writing(path: Path, *, synchronous: str) -> sqlite3.Connection:
    """Opens a connection that may write to the existing file at `path`; `synchronous` FULL: a commit is on the disk when it returns."""
    with ExitStack() as failing:
        connection = failing.enter_context(closing(_connect(f"{path.absolute().as_uri()}?mode=rw")))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIBIBYTES}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        failing.pop_all()
    return connection


def reading(path: Path) -> sqlite3.Connection:
    """Opens a connection that only reads. In a folder where SQLite may not put its shared-memory file, a log that ended well is read as
    it is; one with commits left in its -wal file raises `StoreError`, for without them events would be missing."""
    uri = path.absolute().as_uri()
    try:
        return _probe(f"{uri}?mode=ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    _refuse_unfinished(path)
    return _probe(f"{uri}?mode=ro&immutable=1")


def _probe(uri: str) -> sqlite3.Connection:
    """Opens a connection and reads the file once, for SQLite opens it no sooner than that."""
    with ExitStack() as failing:
        connection = failing.enter_context(closing(_connect(uri)))
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        failing.pop_all()
    return connection


def make(path: Path, build: Callable[[sqlite3.Connection], None]) -> None:
    """Makes a database at `path`, readable by its owner alone; raises `FileExistsError` when there is a file. A process that dies
    meanwhile leaves nothing under that name, and what is there afterwards is on the disk."""
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    try:
        # Nobody sees the draft, so one wait for the disk at its end does.
        with closing(writing(Path(name), synchronous="OFF")) as connection:
            build(connection)
        os.fsync(descriptor)
        os.link(name, path)
        _fsync_folder(path.parent)
    finally:
        os.close(descriptor)
        for suffix in ("", "-wal", "-shm"):
            Path(name + suffix).unlink(missing_ok=True)


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _connect(uri: str) -> sqlite3.Connection:
    # One thread at a time uses a connection; `close` may come from another.
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _refuse_unfinished(path: Path) -> None:
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists() and wal.stat().st_size:
        raise StoreError(
            f"{path} has commits in {wal.name} and lies where it cannot be written. Try: copy both files to a folder that can be "
            "written, and read it there"
        )
