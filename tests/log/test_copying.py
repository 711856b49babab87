"""A new log with the texts and programs of an old one."""

from pathlib import Path

import pytest
from store_samples import STEPS, content, program, store_step

from evolve.log import Log, copy
from evolve.types import Program, Settled, StoreError


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
