import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database
from store_samples import append, program, settled, store_step

from evolve.log import Log, schema
from evolve.log.files import make
from evolve.types import StoreError


def older_log(path: Path, before: str = "0002_search_and_views") -> None:
    """A log as the migrations before one made it, with one step in it: by the first alone, without search and views."""

    def build(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
        schema.MIGRATIONS.apply(Database(connection), stop_before=before)

    with Log.create(path.with_name("new.db")) as log:
        store_step(log, 1)
    make(path, build)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ATTACH ? AS new", (str(path.with_name("new.db")),))
        for table, columns in {
            "events": "number, at, active, crc, body",
            "signatures": "number, program, signature",
            "files": "number, program, path, size, text",
            "texts": "id, body",
        }.items():
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
        connection.commit()


def test_an_older_log_is_migrated(path: Path) -> None:
    """Opened for writing, it keeps what it holds and gets what is new: what it held is found by the search, and views are there."""
    older_log(path)
    with Log.open(path) as log:
        assert [stamped.event for stamped in log.events()][1] == settled(1, fitness=1.0)
        assert log.search("answer_1") == [program(1).id]
        append(log, settled(2))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT id FROM records").fetchall() == [(1,), (2,)]


def test_the_views_of_calls_take_the_place_of_older_ones(path: Path) -> None:
    """A log that had views gets the columns of today, and the others stay."""
    older_log(path, before="0004_calls")
    Log.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT purpose, gpu_seconds FROM calls").fetchall() == []
        assert connection.execute("SELECT purpose, exact FROM costs").fetchall() == []
        assert connection.execute("SELECT id FROM records").fetchall() == [(1,)]


def test_a_log_that_lacks_columns_for_people_alone_is_read(path: Path) -> None:
    """What it holds is the same; opened for writing, it gets them."""
    older_log(path, before="0005_refusals")
    before = path.read_bytes()
    with Log.open(path, readonly=True) as log:
        assert log.settled(1) == settled(1, fitness=1.0)
    assert path.read_bytes() == before
    Log.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT refusal, call FROM records").fetchall() == [("", -1)]


def test_an_older_log_is_not_migrated_by_a_reader(path: Path) -> None:
    """A reader changes nothing and says what to do."""
    older_log(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"older version.*evolve run --continue"):
        Log.open(path, readonly=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("readonly", [False, True])
def test_a_newer_log_is_refused(path: Path, readonly: bool) -> None:
    """A log with a migration that this version does not know is left alone."""
    Log.create(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('evolve.log', '9999_teleport', '2999-01-01')"
        )
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer version of evolve \(it has 9999_teleport\).*update"):
        Log.open(path, readonly=readonly)
    assert path.read_bytes() == before


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    """Each migration is one transaction: what it began is undone, and the next opening tries again."""
    older_log(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW lineage AS SELECT 1")
    with pytest.raises(StoreError, match="lineage"):
        Log.open(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'files_fts%'").fetchone() == (0,)
        connection.execute("DROP VIEW lineage")
    with Log.open(path) as log:
        assert log.count() == 2


def test_an_older_log_has_no_sketches_and_takes_some(path: Path) -> None:
    """A program that was stored without one gets it later, and keeps it."""
    older_log(path)
    with Log.open(path) as log:
        assert list(log.sketches()) == []
        with log.transaction():
            log.put_program(program(1), "another", b"\1" * 128)
            log.put_program(program(1), "another", b"\2" * 128)
        assert list(log.sketches()) == [(program(1).id, b"\1" * 128)]
        assert list(log.signatures()) == [(program(1).id, "signature 1")]
