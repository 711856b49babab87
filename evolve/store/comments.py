"""What a person has marked in a campaign: stars, tags and comments, in a file of the user's own beside the log, never in it.

Invariant: the log neither knows nor needs this file; it is made at the first mark, its owner alone may read and write it, and several processes may
write to it at once."""

import getpass
import sqlite3
import stat
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from os import getuid
from pathlib import Path

from evolve.store.checks import explained, refuse_network
from evolve.store.connections import make, reading, writing
from evolve.types import ConfigError, RecordId, StoreError

SUFFIX = ".comments"
"""What the file's name ends with, before `.db`; no campaign is called so."""
LONGEST = 10_000
"""Characters of a comment, at most."""
LONGEST_TAG = 60
_TABLES = (
    "CREATE TABLE stars (record INTEGER PRIMARY KEY)",
    "CREATE TABLE tags (record INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (record, tag)) WITHOUT ROWID",
    "CREATE TABLE comments (number INTEGER PRIMARY KEY, record INTEGER NOT NULL, at REAL NOT NULL, author TEXT NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX comments_record ON comments (record)",
    "PRAGMA user_version = 1",
)


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody wrote about a record, at a time in seconds since 1970."""

    at: float
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Marks:
    """All that persons have marked at one record. Tags are in the order of their letters, comments in that in which they were written."""

    starred: bool = False
    tags: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()


def bearing(marked: Mapping[RecordId, Marks], *, starred: bool = False, tag: str = "") -> frozenset[RecordId]:
    """The records that have a star, or a tag, or both where both are wanted."""
    return frozenset(
        record for record, marks in marked.items() if (marks.starred or not starred) and (not tag or tag in marks.tags)
    )


@dataclass(slots=True)
class _Found:
    starred: bool = False
    tags: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)


class Comments:
    """The marks of the campaign whose log is `log`. Each call opens and closes the file, so that any thread may call."""

    def __init__(self, log: Path) -> None:
        self.path = log.with_name(f"{log.stem}{SUFFIX}.db")

    def of(self, record: RecordId) -> Marks:
        """The marks of one record; raises `StoreError`."""
        return self._read("WHERE record = ?", (record,)).get(record, Marks())

    def marked(self) -> Mapping[RecordId, Marks]:
        """Every record that has a mark; raises `StoreError`."""
        return self._read()

    def star(self, record: RecordId, on: bool) -> None:
        """Stars a record, or takes its star; again, if it is so already. Raises `StoreError`."""
        change = "INSERT OR IGNORE INTO stars VALUES (?)" if on else "DELETE FROM stars WHERE record = ?"
        self._write(change, (record,))

    def tag(self, record: RecordId, tag: str, on: bool) -> None:
        """Gives a record a tag, or takes it; again, if it is so already. Raises `ConfigError` for what is no tag."""
        tag = tag.strip()
        if not 0 < len(tag) <= LONGEST_TAG or not tag.isprintable():
            raise ConfigError(f"a tag is one line of 1 to {LONGEST_TAG} characters, got {tag[:80]!r}. Do: shorten it")
        change = "INSERT OR IGNORE INTO tags VALUES (?, ?)" if on else "DELETE FROM tags WHERE record = ? AND tag = ?"
        self._write(change, (record, tag))

    def comment(self, record: RecordId, text: str, by: str, at: float) -> None:
        """Adds a comment; raises `ConfigError` for one that is empty or too long."""
        text = text.strip()
        if not 0 < len(text) <= LONGEST:
            raise ConfigError(
                f"a comment is a text of 1 to {LONGEST:,} characters, got {len(text):,}. Do: shorten it, or write several"
                if text
                else "a comment is a text, got an empty one. Do: write what there is to say"
            )
        change = "INSERT INTO comments (record, at, author, text) VALUES (?, ?, ?, ?)"
        self._write(change, (record, at, by[:LONGEST_TAG], text))

    def remove(self, record: RecordId, at: float) -> None:
        """Removes what was written about a record at that time; raises `StoreError`."""
        self._write("DELETE FROM comments WHERE record = ? AND at = ?", (record, at))

    def _read(self, condition: str = "", values: tuple[RecordId, ...] = ()) -> dict[RecordId, Marks]:
        if not self._exists():
            return {}
        found: defaultdict[RecordId, _Found] = defaultdict(_Found)
        with explained(self.path, if_damaged=_DAMAGED), closing(reading(self.path)) as connection:
            for (record,) in connection.execute(f"SELECT record FROM stars {condition}", values):
                found[record].starred = True
            for record, tag in connection.execute(f"SELECT record, tag FROM tags {condition} ORDER BY tag", values):
                found[record].tags.append(str(tag))
            query = f"SELECT record, at, author, text FROM comments {condition} ORDER BY number"
            for record, at, by, text in connection.execute(query, values):
                found[record].comments.append(Comment(float(at), str(by), str(text)))
        return {
            record: Marks(marks.starred, tuple(marks.tags), tuple(marks.comments))
            for record, marks in sorted(found.items())
        }

    def _write(self, change: str, values: tuple[object, ...]) -> None:
        for text in values:
            _check_text(text)
        with explained(self.path, if_damaged=_DAMAGED), self._opened() as connection:
            connection.execute(change, values)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if not self._exists():
            refuse_network(self.path)
            with self._reached(), suppress(FileExistsError):  # somebody else was quicker
                make(self.path, _build)
        with closing(writing(self.path, synchronous="FULL")) as connection:
            yield connection

    @contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be made: {error.strerror}. Do: make its folder writable, or copy the campaign"
            ) from error

    def _exists(self) -> bool:
        """Raises `StoreError` for what another user could have put there."""
        try:
            status = self.path.lstat()
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(status.st_mode) or status.st_uid != getuid():
            raise StoreError(f"{self.path} is no file of this user. Do: move it away")
        return True


def author() -> str:
    """Who writes here: the user's login name; a number where there is none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(getuid())


_DAMAGED = "holds no marks, or is damaged. Do: move it away; the campaign does not need it"


def _build(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


def _check_text(value: object) -> None:
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise ConfigError("a mark is a text in UTF-8, got one that is none. Do: write it with other characters")
