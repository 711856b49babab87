"""Columns of settled records, and what a bounded view of them answers."""

import threading
from dataclasses import replace

import pytest

from evolve.campaign.history import Columns, Past, Reader
from evolve.types import Evaluation, Insertion, Origin, Outcome, Placement, Program, ProgramId, Record, Settled


class Texts:
    """A fake reader over a few programs."""

    def __init__(self) -> None:
        self.known = {ProgramId("p1"): Program({"a": "1"})}

    def program(self, program: ProgramId) -> Program:
        return self.known[program]

    def text(self, text: str) -> str:
        return f"text {text}"


def record(number: int, fitness: float | None, **extras: object) -> Record:
    """A settled proposal."""
    evaluation = Evaluation.ok(fitness) if fitness is not None else Evaluation.wrong("no")
    origin = Origin("proposal", number, operator="op" if number % 2 else "", parents=(number - 1,))
    return Record(number, origin, ProgramId(f"p{number}"), evaluation, extras=extras)


@pytest.fixture
def columns() -> Columns:
    """Three records, the second one a failure; two of them with a plugin's extras."""
    made = Columns()
    for item in (record(1, 1.5, mine={"k": 1}), record(2, None), record(3, -2.0, mine={"k": 3}, other=7)):
        made.append(item)
    return made


def test_columns_answer_what_was_appended(columns):
    """In the order in which it settled."""
    past = Past(columns, Texts(), 3)
    assert [past.fitness(number) for number in (1, 2, 3)] == [1.5, None, -2.0]
    assert [past.outcome(number) for number in (1, 2, 3)] == [Outcome.OK, Outcome.WRONG, Outcome.OK]
    assert [past.operator(number) for number in (1, 2, 3)] == ["op", "", "op"]
    assert [past.parents(number) for number in (1, 2, 3)] == [(0,), (1,), (2,)]
    assert past.program_id(3) == "p3"
    assert len(past) == 3


def test_a_past_ends_where_it_was_told_to(columns):
    """Later records do not exist for it, extras neither."""
    past = Past(columns, Texts(), 2)
    assert list(past.extras("mine")) == [(1, {"k": 1})]
    with pytest.raises(IndexError, match="no record 3 here; there are 1 to 2"):
        past.fitness(3)
    with pytest.raises(IndexError):
        past.fitness(0)


def test_extras_after_a_record(columns):
    """So that a fold goes on where it stopped."""
    past = Past(columns, Texts(), 3)
    assert list(past.extras("mine", after=1)) == [(3, {"k": 3})]
    assert list(past.extras("other")) == [(3, 7)]
    assert list(past.extras("nobody")) == []


def test_texts_come_from_the_reader(columns):
    """History holds none."""
    past = Past(columns, Texts(), 3)
    assert Program({"a": "1"}) == past.program(ProgramId("p1"))
    assert past.text("x") == "text x"


def test_a_past_is_the_same_while_others_append(columns):
    """A proposal thread reads while the main thread appends."""
    past, seen, done = Past(columns, Texts(), 3), [], threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.append((len(past), past.fitness(3), len(past.extras("mine"))))

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(4, 2000):
        columns.append(record(number, float(number), mine=number))
    done.set()
    thread.join()
    assert {(3, -2.0, 2)} == set(seen)


def test_a_violation_is_remembered_and_one_on_a_case_is_none(columns):
    """As the fitness of a case is none."""
    missed = replace(Evaluation.ok(1.0), violation=0.5)
    columns.append(Record(4, Origin("proposal", 4), ProgramId("p4"), missed))
    columns.append(Record(5, Origin("measurement", 5, about=4, case="far"), ProgramId("p4"), missed))
    past = Past(columns, Texts(), 5)
    assert [past.violation(number) for number in (1, 2, 4, 5)] == [0.0, 0.0, 0.5, 0.0]
    with pytest.raises(IndexError):
        past.violation(6)


class CountingLog:
    """A log that counts what is read of it."""

    def __init__(self) -> None:
        self.reads: list[int] = []

    def program(self, program: ProgramId) -> Program:
        return Program({})

    def text(self, text: str) -> str:
        return text

    def settled(self, record: int) -> str:
        self.reads.append(record)
        return f"record {record}"


def test_a_record_that_many_steps_tell_of_is_read_once():
    """A settled record never changes."""
    log = CountingLog()
    reader = Reader(log)
    assert [reader.settled(number) for number in (1, 2, 1)] == ["record 1", "record 2", "record 1"]
    assert log.reads == [1, 2]


def test_a_record_that_has_just_settled_is_not_read():
    """It is known before a prompt tells of it."""
    log = CountingLog()
    event = Settled(Record(3, Origin("seed", 0), None, Evaluation.ok(1.0)), Placement(Insertion.NEW))
    reader = Reader(log)
    reader.keep(event)
    assert (reader.settled(3), log.reads) == (event, [])


def test_records_of_earlier_versions_of_the_task_are_known(columns):
    """Their scores do not compare with later ones."""
    columns.since = 2
    past = Past(columns, Texts(), 3)
    assert [past.is_current(number) for number in (1, 2, 3)] == [False, False, True]
