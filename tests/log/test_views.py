import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from store_samples import NOWHERE, append, asked, program, replied, settled

from evolve.log import Log
from evolve.log.views import VIEWS
from evolve.types import (
    Call,
    Evaluation,
    Insertion,
    Origin,
    Outcome,
    Placement,
    Record,
    Replied,
    Ruled,
    Settled,
)
from tests.pages import read_chapter

NEW, IMPROVED = Insertion.NEW, Insertion.IMPROVED


def query(path: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture
def campaign(path: Path) -> Path:
    """Five records in two cells, three calls of two models."""
    with Log.create(path) as log:
        with log.transaction():
            for number in range(1, 5):
                log.put_program(program(number), "")
        append(
            log,
            asked(1),
            settled(1, fitness=1.0, placement=Placement(NEW, 0, 3)),
            settled(2, fitness=2.5, placement=Placement(IMPROVED, 0, 3), parents=(1,)),
            settled(3, fitness=9.0, placement=Placement(Insertion.PENDING, 0, 3), parents=(2, 1)),
            settled(4, fitness=0.5, placement=Placement(NEW, 1, 7), parents=(1,)),
            settled(5, of=program(4)),
            replied(1, "small"),
            replied(2, "small", cost=0.25),
            replied(3, "large", error="refused"),
        )
    return path


def test_records(campaign: Path) -> None:
    """One row per record, with defaults in place of what the events leave out."""
    rows = query(
        campaign,
        "SELECT id, event, kind, step, operator, parents, outcome, fitness, measurements, insertion, island, cell FROM records",
    )
    assert rows[1] == (2, 3, "proposal", 2, "tune_literals", "[1]", "ok", 2.5, 1, "IMPROVED", 0, 3)
    assert rows[4] == (5, 6, "proposal", 5, "tune_literals", "[]", "crashed", None, 1, "NOT_ADDED", 0, -1)


def test_programs(campaign: Path) -> None:
    """One row per program, with the first record that has it, its size in bytes and its paths."""
    rows = query(campaign, "SELECT id, first_record, size, files FROM programs ORDER BY first_record")
    size = len(program(1).files["seed.py"])
    assert rows == [(program(number).id, number, size, '["seed.py"]') for number in range(1, 5)]


def test_elites(campaign: Path) -> None:
    """The best inserted record of each cell; what is pending or not added is none."""
    assert query(campaign, "SELECT island, cell, record FROM elites") == [(0, 3, 2), (1, 7, 4)]


def test_a_fitness_stands_beside_its_isolation(campaign: Path) -> None:
    """In both views that have one."""
    rows = query(campaign, "SELECT isolation FROM elites") + query(campaign, "SELECT isolation FROM records LIMIT 1")
    assert rows == [("strict: x",)] * 3


def test_a_quarantined_program_is_no_elite(campaign: Path) -> None:
    """The last ruling about a program counts."""
    with Log.open(campaign) as log:
        append(log, Ruled("quarantine", program(2).id, "rule"), Ruled("promote", program(2).id, "me"))
    assert query(campaign, "SELECT record FROM elites") == [(1,), (4,)]
    with Log.open(campaign) as log:
        append(log, Ruled("release", program(2).id, "me"))
    assert query(campaign, "SELECT record FROM elites") == [(2,), (4,)]


def test_calls_and_costs(campaign: Path) -> None:
    """One row per call, and their sums per model and purpose."""
    rows = query(
        campaign, 'SELECT step, "index", model, purpose, prompt, prompt_tokens, cost, attempts, error FROM calls'
    )
    prompt = '[{"role":"user","name":"task","text":"a"}]'
    assert rows == [
        (1, 0, "small", "propose", prompt, 100, 0.5, 1, ""),
        (2, 0, "small", "propose", prompt, 100, 0.25, 1, ""),
        (3, 0, "large", "propose", prompt, 100, 0.5, 1, "refused"),
    ]
    sums = "calls, failed, prompt_tokens, completion_tokens, exact, gpu_seconds, cost"
    assert query(campaign, f"SELECT model, purpose, {sums} FROM costs") == [
        ("large", "propose", 1, 1, 100, 10, 0, 0.25, 0.5),
        ("small", "propose", 2, 0, 200, 20, 2, 0.5, 0.75),
    ]


def test_the_texts_of_a_call_are_found_by_their_ids(campaign: Path) -> None:
    """What the call has of its own: repair, thinking, parameters, and which sample of equal requests it was."""
    call = Call(
        "small",
        purpose="repair",
        parameters={"temperature": 0.5},
        request="r",
        sample=3,
        reply="x",
        thinking="y",
        finish="length",
        attempts=2,
    )
    with Log.open(campaign) as log:
        append(log, Replied(4, 1, call))
    columns = "purpose, parameters, prompt, request, sample, reply, thinking, finish, attempts"
    assert query(campaign, f"SELECT {columns} FROM calls WHERE step = 4") == [
        ("repair", '{"temperature":0.5}', "[]", "r", 3, "x", "y", "length", 2)
    ]


def test_a_record_says_which_call_wrote_it_and_why_it_was_screened(campaign: Path) -> None:
    """Others have neither."""
    origin = Origin("proposal", 6, operator="diff", model="small", call=2)
    screened = Evaluation(Outcome.SCREENED)
    with Log.open(campaign) as log:
        append(log, Settled(Record(6, origin, None, screened, refusal="near", resembles=program(1).id), NOWHERE))
    rows = query(campaign, "SELECT call, refusal, resembles FROM records WHERE id >= 5")
    assert rows == [(-1, "", None), (2, "near", program(1).id)]


def test_lineage(campaign: Path) -> None:
    """One row per record and parent."""
    assert query(campaign, "SELECT record, parent FROM lineage") == [(2, 1), (3, 2), (3, 1), (4, 1)]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_and_column_is_documented(campaign: Path, view: str) -> None:
    """`docs/python.md` has a heading for each view, and names each of its columns under it."""
    page = read_chapter("python", "The log as a database")
    section = re.search(rf"^### `{view}`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert section is not None
    columns = [row[1] for row in query(campaign, f"PRAGMA table_info({view})")]
    assert [column for column in columns if f"`{column}`" not in section[1]] == []
