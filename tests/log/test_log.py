import math
import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_samples import STEPS, Content, append, asked, content, feedback, program, settled, store_step

from evolve.log import Log
from evolve.types import Evaluation, Event, MachineMeasured, Outcome, Program, SettingsChanged, StoreError, text_id


def events_of(path: Path, *, readonly: bool = False) -> list[object]:
    with Log.open(path, readonly=readonly) as log:
        return [stamped.event for stamped in log.events()]


def test_a_log_gives_back_what_was_appended(path: Path) -> None:
    """Events come back in their order with their number and times, before and after the log was closed."""
    with Log.create(path) as log:
        with log.transaction():
            assert log.append(asked(1), at=10, active=1.5) == 1
            assert log.append(settled(1), at=11.5, active=2) == 2
        before = list(log.events())
    assert [(s.number, s.at, s.active, s.event) for s in before] == [
        (1, 10.0, 1.5, asked(1)),
        (2, 11.5, 2.0, settled(1)),
    ]
    with Log.open(path) as log:
        assert list(log.events()) == before


def test_a_new_log_belongs_to_its_owner_alone(path: Path) -> None:
    """The file has mode 0600, as have the files that SQLite puts beside it; folders are made."""
    nested = path.parent / "archive" / "campaigns" / "a.db"
    with Log.create(nested) as log:
        append(log, asked(1))
        modes = {stat.S_IMODE(file.stat().st_mode) for file in nested.parent.iterdir()}
    assert modes == {0o600}


def test_a_closed_log_is_one_file(path: Path) -> None:
    """Closing leaves no -wal, no lock and no draft; closing again does nothing."""
    log = Log.create(path)
    store_step(log, 1)
    log.close()
    log.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_log_closes_with_a_query_half_read(path: Path) -> None:
    """As an interrupt leaves it: the traceback still holds the cursor."""
    log = Log.create(path)
    store_step(log, 1)
    store_step(log, 2)
    cursor = log._writing(inside=False).execute("SELECT * FROM events")
    assert cursor.fetchone()
    log.close()
    assert len(events_of(path)) == 4
    del cursor
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_log_is_not_made_twice(path: Path) -> None:
    """`create` leaves an existing file alone and says how to go on."""
    with Log.create(path) as log:
        store_step(log, 1)
    with pytest.raises(StoreError, match=r"exists.*--continue"):
        Log.create(path)
    assert len(events_of(path)) == 2


def test_programs_and_texts_are_stored_once(path: Path) -> None:
    """Both are named by their content; storing them again changes nothing."""
    with Log.create(path) as log:
        for _ in range(2):
            with log.transaction():
                log.put_program(program(1), "first")
                assert log.put_text("hello") == text_id("hello")
        assert (log.program(program(1).id), log.text(text_id("hello"))) == (program(1), "hello")
        assert list(log.signatures()) == [(program(1).id, "first")]


@given(
    files=st.dictionaries(st.text(st.characters(), max_size=5), st.text(st.characters(), max_size=40), max_size=3),
    text=st.text(st.characters(), max_size=40),
)
@settings(max_examples=25, deadline=None)
def test_any_text_survives(files: dict[str, str], text: str) -> None:
    """Programs and texts come back exactly, with NUL, halves of surrogate pairs, no files at all, and in events too."""
    with tempfile.TemporaryDirectory() as folder, Log.create(Path(folder) / "a.db") as log:
        stored = Program(files)
        change = SettingsChanged({text: text})
        with log.transaction():
            log.put_program(stored, "s")
            name = log.put_text(text)
            log.append(change, at=0, active=0)
        assert (log.program(stored.id), log.text(name)) == (stored, text)
        assert [stamped.event for stamped in log.events()] == [change]
        assert log.search(text) in ([], [stored.id])


def append_after_another(log: Log, event: Event, at: float, active: float) -> None:
    with log.transaction():
        log.append(asked(1), at=0.0, active=0.0)
        log.append(event, at=at, active=active)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_nan_enters(path: Path, number: float) -> None:
    """NaN and infinity are refused in an event and in its times, and the transaction leaves no trace."""
    bad = Evaluation(Outcome.OK, fitness=1.0, metrics={"m": number})
    attempts = [
        (MachineMeasured("cpu", number, "reduced"), 0.0, 0.0),
        (replace(settled(1), record=replace(settled(1).record, evaluation=bad)), 0.0, 0.0),
        (asked(1), number, 0.0),
        (asked(1), 0.0, number),
    ]
    with Log.create(path) as log:
        for event, at, active in attempts:
            with pytest.raises(StoreError, match=r"no NaN|finite"):
                append_after_another(log, event, at, active)
        assert log.count() == 0


def test_a_record_settles_once(path: Path) -> None:
    """A second event for the same record is our own bug, and an exception."""
    with Log.create(path) as log:
        append(log, settled(1))
        with pytest.raises(sqlite3.IntegrityError), log.transaction():
            log.append(settled(1), at=0, active=0)
        assert log.count() == 1


def test_writing_needs_a_transaction_and_the_right_thread(path: Path) -> None:
    """Outside a transaction, nested, from another thread, or in a log that only reads, writing is an assertion error."""
    failures: list[BaseException] = []

    def write(log: Log) -> None:
        try:
            with log.transaction():
                pass
        except AssertionError as error:
            failures.append(error)

    with Log.create(path) as log:
        with pytest.raises(AssertionError, match="inside a transaction"):
            log.append(asked(1), at=0, active=0)
        with pytest.raises(AssertionError, match="nest"), log.transaction(), log.transaction():
            pass
        thread = threading.Thread(target=write, args=(log,))
        thread.start()
        thread.join()
    with Log.open(path, readonly=True) as log:
        write(log)
    assert [str(failure).split(" to")[0] for failure in failures] == [
        "only the thread that opened the log writes",
        "the log is closed, or open for reading only",
    ]


@given(transactions=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=6))
@settings(max_examples=20, deadline=None)
def test_a_transaction_is_all_or_nothing(transactions: list[tuple[int, bool]]) -> None:
    """After any transactions, some of them broken off, the log holds exactly the others, numbered without a gap."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        kept = []
        with Log.create(path) as log:
            for count, breaks in transactions:
                events = [asked(1000 * len(kept) + number) for number in range(count)]
                try:
                    with log.transaction():
                        for event in events:
                            log.append(event, at=0, active=0)
                        if breaks:
                            raise KeyboardInterrupt
                    kept += events
                except KeyboardInterrupt:
                    pass
                assert [s.event for s in log.events()] == kept
        with Log.open(path) as log:
            assert [(s.number, s.event) for s in log.events()] == list(enumerate(kept, 1))


@given(share=st.floats(0, 1), readonly=st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_wal_cut_anywhere_leaves_a_prefix(crashed: Path, share: float, readonly: bool) -> None:
    """With the -wal file cut after any byte, the log holds the first transactions, each whole, and all that were in the main file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        shutil.copy(crashed / "a.db", path)
        wal = (crashed / "a.db-wal").read_bytes()
        (path.parent / "a.db-wal").write_bytes(wal[: round(share * len(wal))])
        events = events_of(path, readonly=readonly)
        steps = len(events) // 2
        assert steps >= STEPS // 2
        assert events == [
            event for number in range(1, steps + 1) for event in (asked(number), settled(number, fitness=float(number)))
        ]
        assert content(path, steps, readonly=readonly).texts == [feedback(number) for number in range(1, steps + 1)]
        if share == 1.0:
            assert steps == STEPS


WRITE_AND_DIE = """
import os, signal, sys
sys.path.insert(0, {samples!r})
from pathlib import Path
from store_samples import asked, store_step
from evolve.log import Log
log = Log.create(Path({path!r}))
store_step(log, 1)
with log.transaction():
    log.append(asked(2), at=0, active=0)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.integration
def test_a_killed_writer_loses_nothing_committed(path: Path) -> None:
    """After SIGKILL within a transaction, the log opens at once, with what was committed and nothing of the rest."""
    script = WRITE_AND_DIE.format(samples=str(Path(__file__).parent), path=str(path))
    ended = subprocess.run([sys.executable, "-c", script], timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    with Log.open(path) as log:
        assert [s.event for s in log.events()] == [asked(1), settled(1, fitness=1.0)]
        assert log.search("answer_1") == [program(1).id]
        store_step(log, 2)
        assert log.count() == 4


def full_by_pages(log: Log) -> None:
    pages = log._writer.execute("PRAGMA page_count").fetchone()[0]
    log._writer.execute(f"PRAGMA max_page_count = {pages + 4}")


def full_by_file_size(log: Log) -> None:
    wal = Path(f"{log.path}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (wal + 20_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def put_much(log: Log) -> None:
    with log.transaction():
        log.append(asked(2), at=0, active=0)
        log.put_program(Program({"big.py": "x = 1\n" * 20_000}), "big")


@pytest.fixture
def _file_size_limit():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("fill", [full_by_pages, full_by_file_size])
@pytest.mark.usefixtures("_file_size_limit")
def test_a_full_disk_is_one_clear_error(path: Path, fill) -> None:
    """When the log cannot grow, the transaction is undone with one message that tells the remedy; later it goes on."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = Log.create(path)
    store_step(log, 1)
    fill(log)
    with pytest.raises(StoreError, match=r"disk is full.*Nothing.*lost.*free space.*--continue"):
        put_much(log)
    assert log.count() == 2
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    log.close()
    with Log.open(path) as log:
        store_step(log, 2)
        assert content_of(log, 2) == Content(list(log.events()), [program(1), program(2)], [feedback(1), feedback(2)])


def content_of(log: Log, steps: int) -> Content:
    numbers = range(1, steps + 1)
    return Content(
        list(log.events()),
        [log.program(program(number).id) for number in numbers],
        [log.text(text_id(feedback(number))) for number in numbers],
    )


def test_one_engine_writes(path: Path) -> None:
    """A second writer is refused with the first one's process number; the first goes on; readers come in meanwhile."""
    with Log.create(path) as log:
        store_step(log, 1)
        with pytest.raises(StoreError, match=f"locked.*process {os.getpid()}"):
            Log.open(path)
        assert len(events_of(path, readonly=True)) == 2
        store_step(log, 2)
    assert len(events_of(path)) == 4


def test_the_search_finds_what_was_just_stored(path: Path) -> None:
    """The writing thread finds every program at once, inside a transaction too; a full batch is indexed by its commit."""
    with Log.create(path) as log:
        with log.transaction():
            log.put_program(program(1), "")
            assert log.search("answer_1") == [program(1).id]
        with log.transaction():
            for number in range(2, 80):
                log.put_program(program(number), "")
        with Log.open(path, readonly=True) as reader:
            assert reader.search("answer_77") == [program(77).id]
        assert len(log.search("scale", limit=100)) == 79


@pytest.mark.parametrize("replaced", [False, True])
def test_a_log_that_was_removed_while_it_is_written_is_an_error(tmp_path: Path, replaced: bool) -> None:
    """SQLite would go on writing to a file without a name, and all of it would be lost."""
    log = Log.create(tmp_path / "gone.db")
    log.path.rename(tmp_path / "elsewhere.db")
    if replaced:
        log.path.write_bytes(b"another file")
    with pytest.raises(StoreError, match="was removed or replaced while the campaign ran"), log.transaction():
        pass
    (tmp_path / "elsewhere.db").rename(log.path)
    log.close()
