import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from evolve.log.connections import make, reading, writing


def build(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE t (x)")
    connection.execute("INSERT INTO t VALUES (1)")


def test_a_database_appears_complete_or_not_at_all(path: Path) -> None:
    """A builder that fails leaves no file; one that succeeds leaves one file, in WAL mode, for its owner alone."""
    with pytest.raises(ZeroDivisionError):
        make(path, lambda connection: 1 // 0)
    assert list(path.parent.iterdir()) == []
    make(path, build)
    assert list(path.parent.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        make(path, build)
    assert list(path.parent.iterdir()) == [path]


def test_names_are_quoted(tmp_path: Path) -> None:
    """Signs that mean something in a URI are part of a file's name."""
    path = tmp_path / "50% of a?b#c.db"
    make(path, build)
    with closing(reading(path)) as connection:
        assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]


def test_a_commit_is_on_the_disk(path: Path) -> None:
    """The writing connection has a write-ahead log and waits for the disk at each commit."""
    make(path, build)
    with closing(writing(path, synchronous="FULL")) as connection:
        pragmas = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert pragmas == ["wal", 2]


def test_writing_makes_no_file(path: Path) -> None:
    """A missing file is an error of SQLite."""
    with pytest.raises(sqlite3.OperationalError):
        writing(path, synchronous="FULL")
    assert not path.exists()


def test_a_reader_cannot_write(path: Path) -> None:
    """A reading connection refuses to change anything."""
    make(path, build)
    with closing(reading(path)) as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM t")


def test_a_reader_does_without_shared_memory(path: Path) -> None:
    """Where SQLite cannot put its shared-memory file, a finished database is read as it is."""
    make(path, build)
    path.with_name(f"{path.name}-shm").mkdir()
    with closing(reading(path)) as connection:
        assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]
