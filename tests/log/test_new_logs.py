"""New logs: of a first event, and with the texts and programs of an old one."""

import sqlite3
from pathlib import Path

import pytest
from store_samples import STEPS, content, program, store_step

from evolve.log import Log, begin, copy
from evolve.types import Opened, Program, Settled, StoreError, text_id

TEXT = "a definition"
FIRST = Opened("begun", "task", "v", text_id(TEXT), {}, {})


def test_a_new_log_holds_its_first_event_and_the_texts_that_it_names(tmp_path: Path) -> None:
    """And it is open for writing."""
    with begin(tmp_path / "begun.db", FIRST, {text_id(TEXT): TEXT}, 7.0) as log:
        assert [(one.number, one.at, one.active, one.event) for one in log.events()] == [(1, 7.0, 0.0, FIRST)]
        assert (log.text(text_id(TEXT)), log.readonly) == (TEXT, False)
    with Log.open(tmp_path / "begun.db", readonly=True) as again:
        assert (again.count(), again.readonly) == (1, True)


def test_what_ends_the_process_meanwhile_leaves_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does an event that a log could not give back."""

    def interrupted(connection: sqlite3.Connection) -> None:
        raise KeyboardInterrupt

    with pytest.raises(StoreError, match="takes finite times"):
        begin(tmp_path / "begun.db", FIRST, {}, float("nan"))
    monkeypatch.setattr("evolve.log.schema.build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path / "begun.db", FIRST, {}, 7.0)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def source(path: Path) -> Path:
    """A log of a few steps."""
    with Log.create(path) as log:
        for number in range(1, STEPS + 1):
            store_step(log, number)
    return path


def test_a_copy_holds_the_events_and_what_they_name(source: Path, tmp_path: Path) -> None:
    """Programs, their signatures, texts and the search index; the old log is as it was."""
    before = content(source, STEPS, readonly=True)
    with Log.open(source, readonly=True) as old, copy(source, tmp_path / "new.db", old.events()) as new:
        assert list(new.signatures()) == list(old.signatures())
    assert content(tmp_path / "new.db", STEPS) == before == content(source, STEPS, readonly=True)


def test_a_copy_without_some_events_has_no_programs_of_theirs(source: Path, tmp_path: Path) -> None:
    """And its events are numbered without a gap."""
    with Log.open(source, readonly=True) as old:
        kept = [stamped for stamped in old.events() if not isinstance(stamped.event, Settled)]
        with copy(source, tmp_path / "new.db", kept) as new:
            assert list(new.signatures()) == []
            assert [stamped.number for stamped in new.events()] == list(range(1, len(kept) + 1))


def test_a_copy_that_fails_leaves_nothing(source: Path, tmp_path: Path) -> None:
    """Nor does one to a name that is taken change what is there."""

    def failing():
        yield from ()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        copy(source, tmp_path / "new.db", failing())
    with pytest.raises(StoreError, match="exists"):
        copy(source, source, [])
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {source.name}


def test_a_copy_is_searched(source: Path, tmp_path: Path) -> None:
    """By the words of its programs."""
    with Log.open(source, readonly=True) as old, copy(source, tmp_path / "new.db", old.events()) as new:
        program = next(iter(old.signatures()))[0]
        word = next(iter(Program(new.program(program).files).files.values())).split()[0]
        assert set(new.search(word, 100)) == set(old.search(word, 100)) != set()


def test_a_copy_keeps_sketches_and_vectors(source: Path, tmp_path: Path) -> None:
    """Of the programs that its events name."""
    kept, left = program(1), Program({"other.py": "never settled"})
    with Log.open(source) as log, log.transaction():
        for one in (kept, left):
            log.put_program(one, "", b"sketch")
            log.put_vector(one.id, "embedder", b"vector")
    with Log.open(source, readonly=True) as old, copy(source, tmp_path / "new.db", old.events()) as new:
        assert len(list(old.sketches())) == 2
        assert list(new.sketches()) == [(kept.id, b"sketch")]
        assert list(new.vectors("embedder")) == [(kept.id, b"vector")]
