"""Stars, tags and comments of programs: a file of the user's own beside the log, `NAME.comments.db`.

Invariant: the log is never written, and no file is made before there is something to keep."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evolve.types import RecordId

_TABLES = """
CREATE TABLE IF NOT EXISTS stars (record INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS tags (record INTEGER, tag TEXT, PRIMARY KEY (record, tag));
CREATE TABLE IF NOT EXISTS comments (record INTEGER, at REAL, by TEXT, text TEXT);
"""


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark."""

    at: float
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Marks:
    """What persons have left at a record."""

    starred: bool = False
    tags: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()


class Comments:
    """Of one log."""

    def __init__(self, log: Path) -> None:
        self.path = log.with_name(f"{log.stem}.comments.db")

    def of(self, record: RecordId) -> Marks:
        """Those of a record."""
        return self.marked().get(record, Marks())

    def marked(self) -> Mapping[RecordId, Marks]:
        """Every record with a mark."""
        if not self.path.is_file():
            return {}
        with self._open() as file:
            stars = {record for (record,) in file.execute("SELECT record FROM stars")}
            tags = file.execute("SELECT record, tag FROM tags ORDER BY tag").fetchall()
            comments = file.execute("SELECT record, at, by, text FROM comments ORDER BY at").fetchall()
        return {
            record: Marks(
                record in stars,
                tuple(tag for other, tag in tags if other == record),
                tuple(Comment(*rest) for other, *rest in comments if other == record),
            )
            for record in sorted(stars | {row[0] for row in tags} | {row[0] for row in comments})
        }

    def star(self, record: RecordId, on: bool) -> None:
        """Sets or takes a star."""
        self._write("INSERT OR IGNORE INTO stars VALUES (?)" if on else "DELETE FROM stars WHERE record = ?", record)

    def tag(self, record: RecordId, tag: str, on: bool) -> None:
        """Sets or takes a tag."""
        adding = "INSERT OR IGNORE INTO tags VALUES (?, ?)"
        self._write(adding if on else "DELETE FROM tags WHERE record = ? AND tag = ?", record, tag)

    def comment(self, record: RecordId, text: str, by: str, at: float) -> None:
        """Adds a comment."""
        self._write("INSERT INTO comments VALUES (?, ?, ?, ?)", record, at, by, text)

    def remove(self, record: RecordId, at: float) -> None:
        """Removes a comment."""
        self._write("DELETE FROM comments WHERE record = ? AND at = ?", record, at)

    def _write(self, statement: str, *values: object) -> None:
        with self._open() as file:
            file.execute(statement, values)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path)) as file, file:
            file.executescript(_TABLES)
            yield file
