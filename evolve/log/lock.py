"""Lock of a log: one engine at a time writes to it. The holder of the `flock` on `<log>.lock` is the only writer, and the lock ends with
its process however that ends. The lock is not on the log itself: closing a second descriptor of it would drop SQLite's own locks."""

import fcntl
import os
from pathlib import Path

from evolve.types import StoreError


class Locked(StoreError):
    """Another process writes to the log."""


def acquire(log: Path) -> int:
    """Locks `log` for writing and returns the descriptor that holds the lock; raises `Locked` naming who has it, or `OSError`."""
    lock = lock_file(log)
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode() or "unknown"
            os.close(descriptor)
            raise Locked(
                f"{log} is locked: another engine (process {holder}) writes to it. Try: wait until it ends, or stop it; "
                "`evolve campaign show` reads it meanwhile"
            ) from None
        if _is_at(lock, descriptor):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            return descriptor
        # Its last holder removed the file between our open and our lock: lock the new one.
        os.close(descriptor)


def release(log: Path, descriptor: int) -> None:
    """Ends the lock and removes its file; the file goes first, while nobody else can hold it."""
    # Closed first, another engine could lock the old file and then lose it.
    lock_file(log).unlink(missing_ok=True)
    os.close(descriptor)


def writer(log: Path) -> int | None:
    """The process that writes to `log`, as far as its lock's file says: None where there is none, or that process is gone. It takes no
    lock, so that nobody who wants one is in the way of another. One that was killed is gone, whether its parent has asked for it or not."""
    try:
        process = int(lock_file(log).read_text("ascii"))
    except (OSError, ValueError):
        return None
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return None if _has_ended(process) else process


def _has_ended(process: int) -> bool:
    """Its parent has not asked how, so that its number is still there (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html)."""
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8", errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state in ("Z", "X")


def lock_file(log: Path) -> Path:
    """The file beside the log that the lock is on."""
    return log.with_name(f"{log.name}.lock")


def _is_at(lock: Path, descriptor: int) -> bool:
    return lock.exists() and os.path.samestat(os.fstat(descriptor), lock.stat())
