"""Reader of a log, for any thread: events in their order, programs and texts by their hash.

A value is what was stored, or `StoreError` is raised: events carry a check sum, programs and texts are named by theirs.
No read stays open between two calls, so a slow reader never keeps the writer from tidying its -wal file."""

import json
import sqlite3
import struct
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evolve.log.files import damage_error, readable, reading
from evolve.types import Event, Program, ProgramId, RecordId, Replied, Settled, Stamped, StoreError, TextId, text_id
from evolve.types.codec import decoder

_BATCH = 1_000
_AT_ONCE = 5_000
_event = decoder(Event)
_parse = json.JSONDecoder().decode
# A damaged row may hold anything in any column; the casts let it come as far as its check.
_COLUMNS = "number, at, active, crc, coalesce(CAST(body AS BLOB), x'')"
_EVENT = f"SELECT {_COLUMNS} FROM events"


class LogReader:
    """A log to read from. Each thread gets its own connection, at its first call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connections: list[sqlite3.Connection] = []
        self._local = threading.local()

    def events(self, after: int = 0, *, only: type[Event] | None = None) -> Iterator[Stamped]:
        """Yields the events later than number `after`, in their order; with `only`, those of one type, found through an index."""
        condition, values = ("", ()) if only is None else ("type = ? AND ", (only.__name__,))
        query = f"{_EVENT} WHERE {condition}number > ? ORDER BY number LIMIT {_BATCH}"
        while batch := self._rows(query, (*values, after)):
            for row in batch:
                # Numbers have no gap: a deleted row would otherwise pass for an event that never was.
                if only is None and row[0] != after + 1:
                    raise damage_error(self.path, f"event {after + 1} is missing")
                after = row[0]
                yield self._read_stamped(row)

    def numbers(self, only: type[Event]) -> list[int]:
        """Returns the numbers of all events of one type, in their order; no event is read for it."""
        rows = self._rows("SELECT number FROM events WHERE type = ? ORDER BY number", (only.__name__,))
        return [number for (number,) in rows]

    def events_at(self, numbers: Iterable[int]) -> list[Stamped]:
        """Returns those events of these numbers that there are, in their order; one query."""
        query = f"{_EVENT} WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number"
        return [self._read_stamped(row) for row in self._rows(query, (json.dumps(list(numbers)),))]

    def count(self) -> int:
        """Returns the number of events."""
        number: int = self._rows("SELECT coalesce(max(number), 0) FROM events")[0][0]
        return number

    def outcomes_by_step(self, since: int) -> dict[int, list[tuple[RecordId, str]]]:
        """Returns the records that proposals have made from an event on, with their outcomes, by their steps; without a replay."""
        found: dict[int, list[tuple[RecordId, str]]] = {}
        rows = "SELECT step, id, outcome FROM records WHERE kind <> 'measurement' AND event >= ? ORDER BY event"
        for step, record, outcome in self._rows(rows, (since,)):
            found.setdefault(step, []).append((record, outcome))
        return found

    def seed_outcome(self) -> str:
        """Returns how the last evaluation of the seed as a seed ended; empty where there was none; without a replay."""
        last = "SELECT outcome FROM records WHERE kind = 'seed' ORDER BY event DESC LIMIT 1"
        return next((outcome for (outcome,) in self._rows(last)), "")

    def count_judged(self) -> tuple[int, list[float]]:
        """Returns the number of evaluated proposals, those left out that the machinery failed, and all fitness values (larger is better) of the program of which one evaluation that won a
        place was the best, that one first; of the task's present version, programs in quarantine left out; without a replay."""
        (programs,), *_ = self._rows(
            "SELECT count(*) FROM records WHERE kind = 'proposal' AND outcome NOT IN ('screened', 'internal')"
        )
        since = "(SELECT coalesce(max(number), 0) FROM events WHERE type = 'TaskChanged')"
        best = self._rows(f"""
            SELECT program, fitness FROM records
            WHERE insertion IN ('IMPROVED', 'NEW') AND fitness IS NOT NULL AND event > {since}
                AND program NOT IN (
                    SELECT program FROM (
                        SELECT json_extract(body, '$.about') AS program, json_extract(body, '$.what') AS what, max(number)
                        FROM events
                        WHERE type = 'Ruled' AND what IN ('quarantine', 'release')
                        GROUP BY program
                    ) WHERE what = 'quarantine'
                )
            ORDER BY fitness DESC LIMIT 1
        """)
        if not best:
            return programs, []
        # A held-out case has values of its own, and so has a certificate, which proves another number than was measured.
        again = f"""
            SELECT json_extract(body, '$.record.evaluation.fitness') AS value FROM events
            WHERE record IS NOT NULL AND program = ? AND number > {since} AND value IS NOT NULL
                AND json_extract(body, '$.record.origin.case') IS NULL
                AND NOT coalesce(json_extract(body, '$.record.evaluation.certified'), 0)
        """
        program, fitness = best[0]
        values = [value for (value,) in self._rows(again, (program,))]
        return programs, sorted(values, key=lambda value: value != fitness) or [fitness]

    def settled(self, record: RecordId) -> Settled:
        """Returns the event that settled `record`."""
        event = self.settling(record).event
        assert isinstance(event, Settled), "a record is settled by nothing else"
        return event

    def settling(self, record: RecordId) -> Stamped:
        """Returns the event that settled `record`, with its place and time."""
        rows = self._rows(f"{_EVENT} WHERE record = ?", (record,))
        if not rows:
            last = self._rows("SELECT max(record) FROM events WHERE record IS NOT NULL")[0][0]
            raise StoreError(
                f"{self.path} has no record {record}: its last one is {last}. Try: `evolve program list` shows what it has"
            )
        stamped = self._read_stamped(rows[0])
        if not isinstance(stamped.event, Settled) or stamped.event.record.id != record:
            raise damage_error(self.path, f"the index of records leads from record {record} to another event")
        return stamped

    def replies(self, record: RecordId) -> list[Replied]:
        """Returns the answers of the step that settled `record`, in their order: what stands between the step's `Asked` and the record. Few
        events are looked at, for few steps are under way at once."""
        ending = "SELECT number, coalesce(json_extract(body, '$.record.origin.step'), 0) FROM events WHERE record = ?"
        asked = (
            "SELECT number FROM events WHERE type = 'Asked' AND number < ? AND coalesce(json_extract(body, '$.step'), 0) = ? "
            "ORDER BY number DESC LIMIT 1"
        )
        replied = f"{_EVENT} WHERE type = 'Replied' AND number > ? AND number < ? ORDER BY number"
        found = self._rows(ending, (record,))
        begun = self._rows(asked, found[0]) if found else []
        if not begun:
            return []
        events = [self._read_stamped(row).event for row in self._rows(replied, (begun[0][0], found[0][0]))]
        return [event for event in events if isinstance(event, Replied) and event.step == found[0][1]]

    def active_of(self, records: Iterable[RecordId]) -> dict[RecordId, float]:
        """Returns how long the campaign had run when each of these settled, in seconds; one query."""
        return {record: active for record, _, active, _ in self.settled_as_json(records)}

    def feedback_of(self, records: Iterable[RecordId]) -> dict[RecordId, TextId]:
        """Returns the ids of the texts that their evaluators have written; one query, and no record is decoded as a whole."""
        return {
            record: TextId(json.loads(body)["record"]["evaluation"].get("feedback", ""))
            for record, _, _, body in self.settled_as_json(records)
        }

    def settled_as_json(self, records: Iterable[RecordId]) -> Iterator[tuple[RecordId, float, float, bytes]]:
        """Yields for each of these records when it settled (`at`, `active`), and its event as the log has it; one query for thousands of them."""
        query = f"SELECT record, {_COLUMNS} FROM events WHERE record IN (SELECT value FROM json_each(?))"
        wanted = iter(records)
        while some := list(islice(wanted, _AT_ONCE)):
            for record, number, at, active, crc, body in self._rows(query, (json.dumps(some),)):
                self._check(number, at, active, crc, body)
                yield record, at, active, body

    def first_record(self, program: ProgramId) -> RecordId:
        """Returns the first record that has this program; 0 where there is none."""
        record: RecordId = self._rows("SELECT coalesce(min(record), 0) FROM events WHERE program = ?", (program,))[0][0]
        return record

    def program(self, program: ProgramId) -> Program:
        """Returns a stored program."""
        rows = self._rows(
            "SELECT CAST(path AS BLOB), coalesce(CAST(text AS BLOB), x'') FROM signatures LEFT JOIN files ON files.program = signatures.number "
            "WHERE signatures.program = ?",
            (program,),
        )
        if not rows:
            raise StoreError(f"{self.path} has no program {program}. Try: `evolve program list` shows what it has")
        try:
            found = Program({_text(path): _text(text) for path, text in rows if path is not None})
        except UnicodeDecodeError as error:
            raise damage_error(self.path, f"program {program}: {error}") from error
        if found.id != program:
            raise damage_error(self.path, f"program {program} has other files than were stored")
        return found

    def text(self, text: TextId) -> str:
        """Returns a stored text."""
        rows = self._rows("SELECT coalesce(CAST(body AS BLOB), x'') FROM texts WHERE id = ?", (text,))
        if not rows:
            raise StoreError(
                f"{self.path} has no text {text}. Try: check the id; views `records` and `calls` show the ids of texts"
            )
        return self._unpack(text, rows[0][0])

    def texts(self, names: Iterable[TextId]) -> dict[TextId, str]:
        """Returns those of these texts that are stored; one query."""
        query = "SELECT id, coalesce(CAST(body AS BLOB), x'') FROM texts WHERE id IN (SELECT value FROM json_each(?))"
        rows = self._rows(query, (json.dumps(list(names)),))
        return {TextId(name): self._unpack(TextId(name), body) for name, body in rows}

    def _unpack(self, text: TextId, body: bytes) -> str:
        try:
            found = _text(zlib.decompress(body))
        except (zlib.error, UnicodeDecodeError) as error:
            raise damage_error(self.path, f"text {text}: {error}") from error
        if text_id(found) != text:
            raise damage_error(self.path, f"text {text} is not what was stored")
        return found

    def signatures(self) -> Iterator[tuple[ProgramId, str]]:
        """Yields every stored program with its signature, in the order in which they were stored."""
        after = 0
        query = f"SELECT number, program, signature FROM signatures WHERE number > ? ORDER BY number LIMIT {_BATCH}"
        while batch := self._rows(query, (after,)):
            after = batch[-1][0]
            yield from ((ProgramId(program), signature) for _, program, signature in batch)

    def sketches(self) -> Iterator[tuple[ProgramId, bytes]]:
        """Yields the stored sketches by program, in the order in which the programs were stored."""
        return self._bytes_of_programs("sketches.minima", "sketches")

    def vectors(self, model: str) -> Iterator[tuple[ProgramId, bytes]]:
        """Yields what an embedding model made of programs, in the order in which these were stored."""
        return self._bytes_of_programs("vectors.components", "vectors", "vectors.model = ? AND ", model)

    def _bytes_of_programs(
        self, column: str, table: str, condition: str = "", *values: str
    ) -> Iterator[tuple[ProgramId, bytes]]:
        after = 0
        query = (
            f"SELECT number, signatures.program, CAST({column} AS BLOB) FROM {table} JOIN signatures ON number = {table}.program "
            f"WHERE {condition}{table}.program > ? ORDER BY {table}.program LIMIT {_BATCH}"
        )
        while batch := self._rows(query, (*values, after)):
            after = batch[-1][0]
            yield from ((ProgramId(program), stored) for _, program, stored in batch)

    def search(self, query: str, limit: int = 20) -> list[ProgramId]:
        """Returns the programs that hold every word of `query` in one file, the newest first; of the newest `limit` files that match. Signs between
        words match any signs. While another process writes the log, its newest programs (fewer than a hundred) are not found yet."""
        words = " ".join('"' + word.replace('"', '""') + '"' for word in query.replace("\0", " ").split())
        if not words:
            return []
        rows = self._rows(
            "SELECT DISTINCT signatures.program FROM (SELECT rowid FROM files_fts WHERE files_fts MATCH CAST(? AS TEXT) "
            "ORDER BY rowid DESC LIMIT ?) AS matching JOIN files ON files.number = matching.rowid "
            "JOIN signatures ON signatures.number = files.program ORDER BY files.number DESC",
            (words.encode("utf-8", "surrogatepass"), limit),
        )
        return [ProgramId(program) for (program,) in rows]

    def _read_stamped(self, row: tuple[Any, ...]) -> Stamped:
        number, at, active, crc, body = row
        self._check(number, at, active, crc, body)
        try:
            return Stamped(number, at, active, _event(_parse(body.decode())))
        except ValueError as error:
            raise StoreError(
                f"{self.path} holds event {number}, which this version cannot read: {error}. Was it made by a newer version of "
                "evolve? Try: update evolve, then open it again"
            ) from error

    def _check(self, number: int, at: float, active: float, crc: int, body: bytes) -> None:
        if check_sum(at, active, body) != crc:
            raise damage_error(self.path, f"event {number} is not what was stored")

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with readable(self.path):
            return self._connection().execute(query, values).fetchall()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = self._local.__dict__.get("connection")
        return connection if connection is not None else self._adopt(reading(self.path))

    def _adopt(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Makes `connection` this thread's own."""
        self._connections.append(connection)
        self._local.connection = connection
        return connection

    def _close_connections(self) -> None:
        while self._connections:
            self._connections.pop().close()


_TIMES = struct.Struct("<dd")


def check_sum(at: float, active: float, body: bytes) -> int:
    """Returns the sum that is stored beside an event, so that damage which SQLite cannot see is found when it is read."""
    return zlib.crc32(body, zlib.crc32(_TIMES.pack(at, active)))


def _text(stored: bytes) -> str:
    # Code from a model may hold half of a surrogate pair, which UTF-8 proper cannot.
    return stored.decode("utf-8", "surrogatepass")
