import json
import sqlite3
import threading
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from store_samples import append, asked, program, settled, store_step

from evolve.log import Log, reading
from evolve.log.reading import check_sum
from evolve.types import Program, ProgramId, Settled, StoreError, TextId, text_id


def change(path: Path, sql: str, *values: object) -> None:
    """Tampers with a log."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql, values)
        connection.commit()


def put_body(path: Path, body: str) -> None:
    """Gives event 1 another body, with the check sum that belongs to it."""
    change(
        path,
        "UPDATE events SET body = ?, crc = ?, at = 1.0, active = 1.0 WHERE number = 1",
        body,
        check_sum(1.0, 1.0, body.encode()),
    )


@pytest.fixture
def log(path: Path):
    """A log of three steps, open for writing."""
    with Log.create(path) as log:
        for number in range(1, 4):
            store_step(log, number)
        yield log


@pytest.fixture
def finished(path: Path) -> Path:
    """The path of a finished log of three steps."""
    with Log.create(path) as log:
        for number in range(1, 4):
            store_step(log, number)
    return path


def test_events_after_a_number(log: Log) -> None:
    """A reader can go on where it stopped."""
    assert [stamped.number for stamped in log.events(after=4)] == [5, 6]
    assert list(log.events(after=6)) == []


def test_events_of_one_type(log: Log) -> None:
    """Only the events of the type come, with their own numbers."""
    assert [stamped.number for stamped in log.events(only=Settled)] == [2, 4, 6]
    assert [stamped.event for stamped in log.events(after=4, only=Settled)] == [settled(3, fitness=3.0)]


def test_events_come_in_batches(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are invisible, and events that are appended while somebody reads are read too."""
    monkeypatch.setattr(reading, "_BATCH", 2)
    events = log.events()
    first = next(events)
    append(log, asked(4))
    assert [first.number, *(stamped.number for stamped in events)] == [1, 2, 3, 4, 5, 6, 7]
    assert [signature for _, signature in log.signatures()] == ["signature 1", "signature 2", "signature 3"]


def test_a_record_by_its_number(log: Log) -> None:
    """The event that settled a record is found by the record's id; an unknown one is an error that names the last."""
    assert log.settled(2) == settled(2, fitness=2.0)
    with pytest.raises(StoreError, match=r"no record 9: its last one is 3"):
        log.settled(9)


def test_the_first_record_of_a_program(log: Log) -> None:
    """Of several the smallest; 0 where a program has none."""
    append(log, settled(4, of=program(2)))
    assert [log.first_record(program(number).id) for number in (2, 3, 9)] == [2, 3, 0]


def test_unknown_programs_and_texts(log: Log) -> None:
    """They are errors that name the id."""
    with pytest.raises(StoreError, match="no program abc"):
        log.program(ProgramId("abc"))
    with pytest.raises(StoreError, match="no text abc"):
        log.text(TextId("abc"))


def test_any_thread_reads_what_is_committed(log: Log) -> None:
    """Other threads read while a transaction is open, and see nothing of it; the writing thread does."""
    counts = []
    with log.transaction():
        log.append(asked(4), at=0, active=0)
        for _ in range(2):
            thread = threading.Thread(
                target=lambda: counts.append((log.count(), log.program(program(1).id) == program(1)))
            )
            thread.start()
            thread.join()
        assert (counts, log.count()) == ([(6, True), (6, True)], 7)


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("answer_2", [2]),
        ("return scale", [1, 2, 3]),
        ("def answer_3():", [3]),
        ("return 2 * scale", [2]),
        ('answer_1 "', [1]),
        ("answer", []),
        ("answer_1 answer_2", []),
        ("", []),
        ("()", []),
        ("\0", []),
        ("\ud800", []),
    ],
)
def test_the_search_takes_any_text(log: Log, query: str, numbers: list[int]) -> None:
    """Every word must be there, names are whole words, and no sign is an operator or an error."""
    assert sorted(log.search(query)) == sorted(program(number).id for number in numbers)


def test_a_program_is_found_once(path: Path) -> None:
    """A program with several files that match is one result, and the limit counts files."""
    many = [Program({"a.py": f"needle = {n}", "b.py": f"needle = {n}"}) for n in range(3)]
    with Log.create(path) as log:
        with log.transaction():
            for each in many:
                log.put_program(each, "")
        assert sorted(log.search("needle")) == sorted(each.id for each in many)
        assert len(log.search("needle", limit=4)) == 2


@pytest.mark.parametrize(
    "body", ['{"type":"Teleported"}', '{"type":"Asked","step":1}', "[]", '{"type":"Asked","new":1}']
)
def test_an_event_that_cannot_be_read(finished: Path, body: str) -> None:
    """It is named by its number, with the likely reason."""
    put_body(finished, body)
    with Log.open(finished, readonly=True) as log, pytest.raises(StoreError, match=r"event 1,.*newer version.*update"):
        list(log.events())


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("UPDATE events SET at = 7.5 WHERE number = 3", "event 3 is not what was stored"),
        (
            "UPDATE events SET body = replace(body, '\"step\":2', '\"step\":4') WHERE number = 3",
            "event 3 is not what was stored",
        ),
        ("DELETE FROM events WHERE number = 3", "event 3 is missing"),
        ("DELETE FROM events WHERE number = 1", "event 1 is missing"),
    ],
)
def test_a_changed_event_is_found(finished: Path, sql: str, part: str) -> None:
    """Events are checked one by one, and none may be missing."""
    change(finished, sql)
    with Log.open(finished, readonly=True) as log, pytest.raises(StoreError, match=part):
        list(log.events())


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE files SET text = replace(text, 'scale', 'SCALE') WHERE program = 1",
        "UPDATE files SET text = CAST(x'ff' AS TEXT) WHERE program = 1",
        "DELETE FROM files WHERE program = 1",
    ],
)
def test_a_changed_program_is_found(finished: Path, sql: str) -> None:
    """A program is named by its content, so another content is damage."""
    change(finished, sql)
    with Log.open(finished, readonly=True) as log, pytest.raises(StoreError, match=r"is damaged.*program"):
        log.program(program(1).id)


@pytest.mark.parametrize("body", [b"", b"junk", zlib.compress(b"another"), zlib.compress(b"\xff")])
def test_a_changed_text_is_found(path: Path, body: bytes) -> None:
    """So is a text."""
    with Log.create(path) as log, log.transaction():
        log.put_text("hello")
    change(path, "UPDATE texts SET body = ?", body)
    with Log.open(path, readonly=True) as log, pytest.raises(StoreError, match=r"is damaged.*text"):
        log.text(text_id("hello"))


def test_an_index_that_leads_astray_is_found(finished: Path) -> None:
    """A record that is not the one asked for is damage."""
    stray = {"type": "LessonWritten", "lesson": {"text": "", "by": ""}}
    put_body(finished, json.dumps(stray))
    with closing(sqlite3.connect(finished)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, '$.record.id', '$.lesson.about') WHERE name = 'events'"
        )
        connection.commit()
    stray["lesson"]["about"] = 9
    put_body(finished, json.dumps(stray))
    with Log.open(finished, readonly=True) as log, pytest.raises(StoreError, match="to another event"):
        log.settled(9)


def test_sketches_and_vectors_come_in_the_order_of_their_programs(log):
    """Vectors are those of one model; a program that another model embeds again has the new one."""
    with log.transaction():
        for number in (3, 1):
            log.put_program(program(number), "", bytes([number]))
            log.put_vector(program(number).id, "one", bytes([number]))
        log.put_vector(program(2).id, "other", b"\0")
        log.put_vector(program(3).id, "other", b"\7")
    assert list(log.sketches()) == [(program(1).id, b"\1"), (program(3).id, b"\3")]
    assert list(log.vectors("one")) == [(program(1).id, b"\1")]
    assert list(log.vectors("other")) == [(program(2).id, b"\0"), (program(3).id, b"\7")]


def test_a_program_that_is_not_stored_has_no_vector(log):
    """Nothing is left that no program belongs to."""
    with log.transaction():
        log.put_vector(program(77).id, "one", b"\0")
    assert list(log.vectors("one")) == []


def test_times_and_feedback_of_several_records(log: Log) -> None:
    """Each by one query; a record that there is not is left out."""
    with log.transaction():
        name = log.put_text("it was slow")
        event = settled(4)
        evaluation = replace(event.record.evaluation, feedback=name)
        log.append(replace(event, record=replace(event.record, evaluation=evaluation)), at=9.0, active=7.5)
    assert log.active_of([1, 4, 99]) == {1: 0.0, 4: 7.5}
    assert log.feedback_of([4, 2]) == {2: TextId(""), 4: name}
    assert log.texts([name, TextId("none")]) == {name: "it was slow"}


def test_times_of_a_changed_event_are_not_told(finished: Path) -> None:
    """They carry the event's check sum."""
    change(finished, "UPDATE events SET active = 9.0 WHERE number = 2")
    with Log.open(finished, readonly=True) as log, pytest.raises(StoreError, match="event 2 is not what was stored"):
        log.active_of([1])


def test_programs_that_hold_words_come_newest_first(log: Log) -> None:
    """Of the newest that match; a program with two such files is one."""
    both = Program({"a.py": "scale answer\n", "b.py": "scale\n"})
    with log.transaction():
        log.put_program(both, "both")
    assert log.search("scale", 10) == [both.id, program(3).id, program(2).id, program(1).id]
    assert log.search("scale", 3) == [both.id, program(3).id]
    assert log.search("scale answer", 10) == [both.id]
    assert log.search(" ", 10) == []


def test_events_of_one_type_are_found_by_their_numbers(log: Log) -> None:
    """The numbers come without a look at the events; a number that there is not brings none."""
    assert log.numbers(Settled) == [2, 4, 6]
    assert [stamped.number for stamped in log.events_at([6, 2, 99])] == [2, 6]
    assert all(isinstance(stamped.event, Settled) for stamped in log.events_at([6, 2]))
