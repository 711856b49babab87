import os
import subprocess
from pathlib import Path

import pytest

from evolve.log.lock import Locked, acquire, lock_file, release, writer
from evolve.types import StoreError


def test_one_holds_the_lock_at_a_time(path: Path) -> None:
    """A second holder is refused with the process of the first; after the release the lock is free and its file gone."""
    descriptor = acquire(path)
    with pytest.raises(StoreError, match=f"process {os.getpid()}"):
        acquire(path)
    release(path, descriptor)
    assert not lock_file(path).exists()
    release(path, acquire(path))


def test_a_lock_file_that_was_left_is_taken_over(path: Path) -> None:
    """The file of a process that died locks nothing; its number is replaced."""
    lock_file(path).write_text("999999999")
    descriptor = acquire(path)
    assert lock_file(path).read_text() == str(os.getpid())
    release(path, descriptor)


def test_a_lock_on_a_removed_file_is_no_lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the last holder removes the file between our open and our lock, the lock is taken on the file that is there then."""
    opened = os.open
    removed: list[int] = []

    def open_and_remove_once(*arguments: object, **options: object) -> int:
        descriptor = opened(*arguments, **options)
        if not removed:
            removed.append(descriptor)
            lock_file(path).unlink()
        return descriptor

    monkeypatch.setattr(os, "open", open_and_remove_once)
    descriptor = acquire(path)
    assert os.path.samestat(os.fstat(descriptor), lock_file(path).stat())
    release(path, descriptor)


@pytest.mark.integration
def test_a_process_that_has_ended_writes_nothing(path: Path) -> None:
    """Although its parent has not asked for it yet, so that its number is taken."""
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        lock_file(path).write_text(str(ended.pid))
        assert writer(path) is None


def test_the_writer_of_a_log_is_known_without_a_lock(path: Path) -> None:
    """As long as its process lives; nobody who wants the lock meanwhile is in the way."""
    assert writer(path) is None
    descriptor = acquire(path)
    assert writer(path) == os.getpid()
    with pytest.raises(Locked):
        acquire(path)
    release(path, descriptor)
    assert writer(path) is None


@pytest.mark.parametrize("content", ["999999999", "", "no number"])
def test_a_lock_file_that_was_left_names_no_writer(path: Path, content: str) -> None:
    """Its process is gone, or it had not said which it is."""
    lock_file(path).write_text(content)
    assert writer(path) is None
