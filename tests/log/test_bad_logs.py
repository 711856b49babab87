"""Logs that cannot be opened or read: one clear error each, and nothing lost. Opening spans the modules of the store."""

import functools
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from store_samples import Content, append, asked, content, store_step

from evolve.log import Log
from evolve.types import StoreError


def test_a_log_in_a_read_only_place(public_folder: Path, read_only_place) -> None:
    """It can be read and not be written; the error of the second says what to do."""
    path = public_folder / "a.db"
    with Log.create(path) as log:
        store_step(log, 1)
        expected = list(log.events())
    with read_only_place(public_folder):
        with pytest.raises(StoreError, match=r"cannot be opened for writing.*Try:"):
            Log.open(path)
        with pytest.raises(StoreError, match=r"cannot be opened for writing.*Try:"):
            Log.create(public_folder / "new.db")
        with Log.open(path, readonly=True) as log:
            found = list(log.events())
    assert found == expected


def test_an_unfinished_log_in_a_read_only_place_is_refused(crashed: Path, public_folder: Path, read_only_place) -> None:
    """Commits that lie in the -wal file are not passed over in silence."""
    for suffix in ("", "-wal"):
        shutil.copy(crashed / f"a.db{suffix}", public_folder)
    with read_only_place(public_folder), pytest.raises(StoreError, match=r"a\.db-wal.*Try: copy both"):
        Log.open(public_folder / "a.db", readonly=True)


@pytest.mark.parametrize(
    "content", [b"", b"no database at all, but long enough to be one" * 100], ids=["empty", "text"]
)
@pytest.mark.parametrize("readonly", [False, True])
def test_a_file_that_is_no_log(path: Path, content: bytes, readonly: bool) -> None:
    """It is refused, and not changed."""
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is no log of evolve"):
        Log.open(path, readonly=readonly)
    assert path.read_bytes() == content
    assert not path.with_name("campaign.db.lock").exists()


def test_another_database_is_no_log(path: Path) -> None:
    """A database of something else is refused, and not changed."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE events (number INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is no log of evolve"):
        Log.open(path)
    assert path.read_bytes() == before


def test_a_missing_log(path: Path) -> None:
    """It is an error that says where to look, and no file is made."""
    with pytest.raises(StoreError, match=r"does not exist.*evolve campaign list"):
        Log.open(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_log_is_damaged(path: Path, share: float) -> None:
    """A log that lost its end is refused when it is opened, with the way to save what is left."""
    with Log.create(path) as log:
        for number in range(1, 40):
            store_step(log, number)
    os.truncate(path, int(path.stat().st_size * share))
    with pytest.raises(StoreError, match=r"is damaged.*\.recover"):
        Log.open(path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a finished log of six steps."""
    path = tmp_path_factory.mktemp("finished") / "a.db"
    with Log.create(path) as log:
        for number in range(1, 7):
            store_step(log, number)
    return path


@functools.cache
def undamaged(path: Path) -> Content:
    return content(path, 6)


@given(place=st.floats(0, 1, exclude_max=True), noise=st.binary(min_size=1, max_size=8))
@example(place=0.947061020776628, noise=b" ")
@example(place=0.935546875, noise=b"\x80")
@settings(max_examples=100, deadline=None)
def test_damage_is_an_error_and_never_another_content(finished: Path, place: float, noise: bytes) -> None:
    """With any bytes of the file overwritten, reading all of it gives exactly what was stored, or a `StoreError`."""
    expected, stored = undamaged(finished), finished.read_bytes()
    offset = int(place * len(stored))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        path.write_bytes(stored[:offset] + noise + stored[offset + len(noise) :])
        try:
            found = content(path, 6, readonly=True)
        except StoreError:
            return
        assert found == expected


def test_a_damaged_page_in_the_middle_is_found(path: Path) -> None:
    """A page of zeros among the events is one clear error when it is read, and what was read before it is right."""
    with Log.create(path) as log:
        append(log, *(asked(number) for number in range(1, 400)))
    damaged = bytearray(path.read_bytes())
    page = damaged.index(b'"step":200') // 4096
    damaged[4096 * page : 4096 * (page + 1)] = bytes(4096)
    path.write_bytes(damaged)
    with Log.open(path, readonly=True) as log, pytest.raises(StoreError, match=r"is damaged.*\.recover"):
        list(log.events())
