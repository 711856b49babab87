"""A person's own question to a log."""

from pathlib import Path

import pytest
from store_samples import store_step

from evolve.store import Log
from evolve.store.query import asked
from evolve.types import ConfigError, StoreError


@pytest.fixture
def log(path: Path) -> Path:
    """The path of a finished log of three steps."""
    with Log.create(path) as log:
        for number in range(1, 4):
            store_step(log, number)
    return path


def answer(log: Path, statement: str, seconds: float = 30.0) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Headings and all rows."""
    with asked(log, statement, seconds) as found:
        return found.headings, [tuple(row) for row in found.rows]


def test_tables_views_and_the_search_can_be_asked(log: Path) -> None:
    """Equal headings get a number."""
    assert answer(log, "SELECT id, fitness FROM records ORDER BY id DESC LIMIT 2") == (
        ("id", "fitness"),
        [(3, 3.0), (2, 2.0)],
    )
    assert answer(log, "SELECT 1 AS a, 2 AS a, 3 AS a_2")[0] == ("a", "a_2", "a_2_2")
    assert answer(log, "SELECT count(*) FROM files_fts WHERE files_fts MATCH 'scale'")[1] == [(3,)]
    assert answer(log, "PRAGMA table_info(texts)")[1][0][1] == "id"
    assert answer(log, "WITH one AS (SELECT 1) SELECT * FROM one")[1] == [(1,)]


def test_texts_are_unpacked(log: Path) -> None:
    """What is none is no text."""
    assert answer(log, "SELECT unpacked(body) FROM texts ORDER BY rowid LIMIT 1")[1] == [("feedback of 1 " * 5,)]
    assert answer(log, "SELECT unpacked(x'ffff'), unpacked(1), unpacked(NULL)")[1] == [(None, None, None)]


def test_what_is_sorted_outside_of_memory_lies_in_files_without_a_name(log: Path) -> None:
    """Nobody finds them, and a process that dies leaves none."""
    statement = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT hex(randomblob(400)) AS r FROM n ORDER BY r"
    before = _opened()
    with asked(log, statement, 30.0) as found:
        assert next(found.rows)
        during = _opened() - before
    assert during
    assert all(place.endswith(" (deleted)") for place in during), during
    assert _opened() == before


def _opened() -> set[str]:
    """The files that this process has open, but the log."""
    numbers = [number for number in Path("/proc/self/fd").iterdir() if number.is_symlink()]
    return {place for number in numbers if ".db" not in (place := str(number.readlink()))}


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM events",
        "CREATE TEMP TABLE mine (a)",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'other.db'",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA writable_schema = 1",
        "BEGIN",
    ],
)
def test_a_statement_that_does_more_than_to_read_is_refused(
    log: Path, statement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other file is made, and the log stays as it is."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    before = log.read_bytes()
    with pytest.raises(ConfigError, match="the statement does more than to read"):
        answer(log, statement)
    assert (log.read_bytes() == before, list(Path().iterdir())) == (True, [])


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELEC 1", 'near "SELEC": syntax error'),
        ("SELECT nowhere FROM events", "no such column: nowhere"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELECT load_extension('x')", "load_extension"),
        ("SELECT zeroblob(1000000000)", "too big"),
    ],
)
def test_a_statement_that_is_wrong_is_one_clear_error(log: Path, statement: str, said: str) -> None:
    """With where the tables are told."""
    with pytest.raises(ConfigError, match=f"the statement cannot be answered: .*{said}.* Do: see docs/schema.md"):
        answer(log, statement)


def test_a_statement_that_asks_for_nothing_is_an_error(log: Path) -> None:
    """Such as a comment."""
    with pytest.raises(ConfigError, match="asks for nothing"):
        answer(log, "-- nothing")


def test_a_statement_ends_when_its_time_is_over(log: Path) -> None:
    """However many rows it would still have."""
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(ConfigError, match=r"took longer than 0\.05 s. Do: ask for less"):
        answer(log, endless, 0.05)


def test_rows_come_while_they_are_taken(log: Path) -> None:
    """So that endlessly many are no burden."""
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    with asked(log, endless, 30.0) as found:
        assert [next(found.rows) for _ in range(3)] == [(1,), (2,), (3,)]


def test_another_file_is_refused(tmp_path: Path) -> None:
    """It is no log."""
    (tmp_path / "other.db").write_text("hello")
    with pytest.raises(StoreError, match="is no log of evolve"), asked(tmp_path / "other.db", "SELECT 1", 1.0):
        pass
