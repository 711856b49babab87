"""Log of one campaign: an SQLite file that holds everything the campaign ever learned, and the only thing it keeps.

One engine writes, in transactions; what was committed survives the death of the process and of the machine, what was not
leaves no trace, and events are numbered 1, 2, ... without a gap."""

import json
import math
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from evolve.log import lock, schema
from evolve.log.files import explain_errors, make, reachable, readable, reading, refuse_network, writing
from evolve.log.reading import LogReader, check_sum
from evolve.types import Event, Program, ProgramId, Stamped, StoreError, TextId, text_id
from evolve.types.codec import encode

_EFFORT = 3
"""Of compressing texts: half the time of the usual 6, for a fifteenth more bytes."""
_INDEXED_AT_ONCE = 64
_INDEX = (
    "INSERT INTO files_fts (rowid, text) "
    "SELECT number, text FROM files WHERE number > (SELECT coalesce(max(id), 0) FROM files_fts_docsize)"
)
_INSERT_EVENT = "INSERT INTO events (at, active, crc, body) VALUES (?, ?, ?, ?)"
_INSERT_TEXT = "INSERT INTO texts (id, body) VALUES (?, ?)"
_PUT_FILE = "INSERT INTO files (program, path, size, text) VALUES (?, CAST(? AS TEXT), ?, CAST(? AS TEXT))"
_PUT_SKETCH = "INSERT INTO sketches (program, minima) SELECT number, ? FROM signatures WHERE program = ? ON CONFLICT (program) DO NOTHING"
_PUT_VECTOR = (
    "INSERT OR REPLACE INTO vectors (program, model, components) SELECT number, ?, ? FROM signatures WHERE program = ?"
)
_COPY = (
    """
    INSERT INTO main.signatures (number, program, signature)
    SELECT number, program, signature FROM source.signatures
    WHERE program IN (SELECT program FROM main.events WHERE program IS NOT NULL)
    """,
    """
    INSERT INTO main.files (number, program, path, size, text)
    SELECT number, program, path, size, text FROM source.files WHERE program IN (SELECT number FROM main.signatures)
    """,
    """
    INSERT INTO main.sketches (program, minima)
    SELECT program, minima FROM source.sketches WHERE program IN (SELECT number FROM main.signatures)
    """,
    """
    INSERT INTO main.vectors (program, model, components)
    SELECT program, model, components FROM source.vectors WHERE program IN (SELECT number FROM main.signatures)
    """,
    "INSERT INTO main.texts (id, body) SELECT id, body FROM source.texts",
)
"""Statements that copy the programs which the events name, and all texts."""
_as_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Log(LogReader):
    """A log to read from and, on the thread that opened it for writing, to write to. Other threads see what is committed.

    Programs are added to the search index some dozens at a time, for one at a time costs more than the rest of a commit."""

    def __init__(self, path: Path) -> None:
        """Call `create` or `open` instead."""
        super().__init__(path)
        self._resources = ExitStack()
        self._writer: sqlite3.Connection | None = None
        self._unindexed = 0
        self._inode = 0

    @classmethod
    def create(cls, path: Path, build: Callable[[sqlite3.Connection], None] = schema.build) -> Self:
        """Makes a new log, readable by its owner alone, and opens it for writing; raises `StoreError` when there is a file. `build` fills
        an empty database with it."""
        refuse_network(path)
        with reachable(path), explain_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                make(path, build)
            except FileExistsError:
                raise StoreError(
                    f"{path} exists. Try: go on with it (--continue), or take another name (--name)"
                ) from None
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, readonly: bool = False) -> Self:
        """Opens a log; one of an older version is migrated, unless `readonly`. Raises `StoreError` when it is missing, no log, of a
        newer version, damage_error, on a network file system, or, for writing, in a place that cannot be written or locked by another."""
        if not path.is_file():
            raise StoreError(f"{path} does not exist. Try: `evolve campaign list` shows the campaigns that there are")
        refuse_network(path)
        log = cls(path)
        with readable(path), ExitStack() as failing:
            failing.enter_context(log._resources)
            log._resources.callback(log._close_connections)
            if readonly:
                schema.check(log._adopt(reading(path)), path, complete=True)
            else:
                log._open_for_writing()
            failing.pop_all()
        return log

    def _open_for_writing(self) -> None:
        with reachable(self.path):
            descriptor = lock.acquire(self.path)
        self._resources.callback(lock.release, self.path, descriptor)
        # Nothing is written, not even the journal mode, before the file is known to be a log of this version or an older one.
        with closing(reading(self.path)) as connection:
            schema.check(connection, self.path, complete=False)
        self._writer = self._adopt(writing(self.path, synchronous="FULL"))
        self._resources.callback(self._close_connections)
        schema.migrate(self._writer)
        self._inode = self.path.stat().st_ino
        self._index(self._writer)

    @property
    def readonly(self) -> bool:
        """True where nothing can be written with it (any more)."""
        return self._writer is None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits what is written inside at its end, and on the disk then; any exception undoes all of it. Raises `StoreError`
        when the disk is full or fails."""
        writer = self._writing(inside=False)
        self._check_place()
        with explain_errors(self.path):
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                if self._unindexed >= _INDEXED_AT_ONCE:
                    self._index(writer)
                writer.execute("COMMIT")
            finally:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")

    def _check_place(self) -> None:
        """SQLite would go on writing to a file that has no name any more."""
        try:
            found = self.path.stat().st_ino
        except FileNotFoundError:
            found = None
        if found != self._inode:
            raise StoreError(
                f"{self.path} was removed or replaced while the campaign ran, so nothing more can be kept. "
                "Try: put it back from a backup, or run a new campaign"
            )

    def append(self, event: Event, *, at: float, active: float) -> int:
        """Stores `event` and returns its number; `at` in seconds since 1970, `active` in seconds that the campaign has run. Inside
        a transaction. NaN and infinity raise `StoreError`: an event that holds one could not be read back as it was."""
        cursor = self._writing().execute(_INSERT_EVENT, _event_row(self.path, event, at, active))
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def put_program(self, program: Program, signature: str, sketch: bytes = b"") -> None:
        """Stores `program` with its signature unless it is stored, and its sketch, where there is one and none is stored; inside a
        transaction."""
        writer = self._writing()
        cursor = writer.execute(
            "INSERT INTO signatures (program, signature) VALUES (?, ?) ON CONFLICT (program) DO NOTHING",
            (program.id, signature),
        )
        if cursor.rowcount:
            for path, text in program.files.items():
                stored = _to_bytes(text)
                writer.execute(_PUT_FILE, (cursor.lastrowid, _to_bytes(path), len(stored), stored))
            self._unindexed += 1
        if sketch:
            writer.execute(_PUT_SKETCH, (sketch, program.id))

    def put_vector(self, program: ProgramId, model: str, components: bytes) -> None:
        """Stores what an embedding model made of a stored program, in place of what another one did; inside a transaction."""
        self._writing().execute(_PUT_VECTOR, (model, components, program))

    def put_text(self, text: str) -> TextId:
        """Stores `text` unless it is stored, and returns its id; inside a transaction."""
        name = text_id(text)
        self.put_texts({name: text})
        return name

    def put_texts(self, texts: Mapping[TextId, str]) -> None:
        """Stores those of `texts`, each under its id, that are not stored; inside a transaction."""
        if not texts:
            return
        writer, names = self._writing(), list(texts)
        marks = ", ".join("?" * len(names))
        known = {name for (name,) in writer.execute(f"SELECT id FROM texts WHERE id IN ({marks})", names)}
        rows = [_text_row(name, texts[name]) for name in names if name not in known]
        if rows:
            writer.executemany(_INSERT_TEXT, rows)

    def search(self, query: str, limit: int = 20) -> list[ProgramId]:
        """As `LogReader.search`; on the writing thread every program is found."""
        if self._unindexed and self._writer is self._connection():
            with explain_errors(self.path):
                self._index(self._writer)
        return super().search(query, limit)

    def _index(self, writer: sqlite3.Connection) -> None:
        writer.execute(_INDEX)
        self._unindexed = 0

    def _writing(self, *, inside: bool = True) -> sqlite3.Connection:
        writer = self._writer
        assert writer is not None, "the log is closed, or open for reading only"
        assert writer is self._connection(), "only the thread that opened the log writes to it"
        assert writer.in_transaction is inside, "a log is written inside a transaction, and transactions do not nest"
        return writer

    def close(self) -> None:
        """Ends reading and writing, and leaves all of the log in its one file; may be called again."""
        # After a checkpoint the log is one file, which can be copied as it is.
        with self._resources, explain_errors(self.path):
            if self._writer is None:
                return
            writer, self._writer = self._writer, None
            try:
                self._index(writer)
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.OperationalError as error:
                # An interrupt may leave a query half read. SQLite makes the checkpoint when that query is gone, or the next writer does.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_LOCKED:
                    raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def begin(path: Path, first: Event, texts: Mapping[TextId, str], at: float) -> Log:
    """Makes the log `path` of one event, at a time in seconds since 1970, with the texts that it names, and opens it for writing. Raises `StoreError`."""

    # A log without a first event never has a name: a process that ends meanwhile leaves none.
    def build(connection: sqlite3.Connection) -> None:
        schema.build(connection)
        connection.execute("BEGIN")
        connection.executemany(_INSERT_TEXT, [_text_row(name, text) for name, text in texts.items()])
        connection.execute(_INSERT_EVENT, _event_row(path, first, at, 0.0))
        connection.execute("COMMIT")

    return Log.create(path, build)


def copy(source: Path, target: Path, events: Iterable[Stamped]) -> Log:
    """Makes the log `target` of these events, numbered anew, with the programs and texts of the log `source`, which is only read, and opens it for
    writing. Raises `StoreError`."""

    def build(connection: sqlite3.Connection) -> None:
        schema.build(connection)
        connection.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        connection.execute("BEGIN")
        rows = (_event_row(target, stamped.event, stamped.at, stamped.active) for stamped in events)
        connection.executemany(_INSERT_EVENT, rows)
        for statement in _COPY:
            connection.execute(statement)
        connection.execute("COMMIT")
        connection.execute("DETACH source")

    return Log.create(target, build)


def _event_row(path: Path, event: Event, at: float, active: float) -> tuple[float, float, int, str]:
    """Returns an event as `_INSERT_EVENT` takes it; raises `StoreError` for what the log at `path` could not give back."""
    name = type(event).__name__
    try:
        body = _as_json(encode(event))
    except ValueError as error:
        raise StoreError(
            f"{path} takes no NaN and no infinity, but this {name} holds one. Try: report it ({error})"
        ) from error
    if not (math.isfinite(at) and math.isfinite(active)):
        raise StoreError(
            f"{path} takes finite times, got at={at}, active={active} for this {name}. Try: check the clock"
        )
    return at, active, check_sum(float(at), float(active), body.encode()), body


def _text_row(name: TextId, text: str) -> tuple[TextId, bytes]:
    """Returns a text as `_INSERT_TEXT` takes it."""
    return name, zlib.compress(_to_bytes(text), _EFFORT)


def _to_bytes(text: str) -> bytes:
    # Code from a model may hold half of a surrogate pair, which UTF-8 proper cannot.
    return text.encode("utf-8", "surrogatepass")
