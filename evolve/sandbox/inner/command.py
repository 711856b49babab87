"""Runs a command in the candidate's process: a compiler, a program in another language, a script.

Standard library only, for it lives in the template. Its standard streams are files without a name, so that nobody has to read while
it runs and no process that it leaves behind can hold up the end. Invariant: however much it prints, a bounded part is held here, and
the kernel's limit on one file bounds the rest."""

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evolve.sandbox.inner.folder import Missing

_STREAM = ".evolve-stream"
_MARKED = ".evolve-marked"


def run(argv: Sequence[str], text: str, most: int, log: int) -> list[Any]:
    """`[exit code, output, errors, bytes of output, processor seconds]` of a command that has ended: the first `most` bytes of its
    output, the last `log` bytes of its errors. A negative code is the signal that ended it."""
    streams = [_unnamed_file() for _ in range(3)]
    try:
        os.write(streams[0], text.encode())
        os.lseek(streams[0], 0, os.SEEK_SET)
        code, seconds = _ended(_started(argv, streams))
        size = os.fstat(streams[2]).st_size
        output, errors = os.pread(streams[1], most, 0), os.pread(streams[2], log, max(0, size - log))
        return [code, _text(output), _text(errors), os.fstat(streams[1]).st_size, seconds]
    finally:
        for number in streams:
            os.close(number)


def _unnamed_file() -> int:
    number = os.open(_STREAM, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    Path(_STREAM).unlink()
    return number


def _started(argv: Sequence[str], streams: Sequence[int]) -> int:
    try:
        return _spawned(argv, streams)
    except PermissionError as error:
        if not _mark_executable(argv[0]):
            raise _not_started(argv[0], error) from None
    except OSError as error:
        raise _not_started(argv[0], error) from None
    return _started(argv, streams)


def _spawned(argv: Sequence[str], streams: Sequence[int]) -> int:
    copies = [(os.POSIX_SPAWN_DUP2, here, there) for there, here in enumerate(streams)]
    # Python ignores these two for itself; a command is to be ended by them.
    ended_by = [signal.SIGPIPE, signal.SIGXFSZ]
    return os.posix_spawnp(argv[0], list(argv), os.environ, file_actions=copies, setsigdef=ended_by)


def _not_started(name: str, error: OSError) -> Missing:
    return Missing(f"the command {name!r} cannot be started: {error.strerror}")


def _mark_executable(name: str) -> bool:
    """Whether a file of the program's was not marked and now is. Where the box makes no change of modes (see `seccomp.Filter`), a linker
    cannot mark what it wrote; but a file is made with the mark that it is to have."""
    path = Path(name)
    if "/" not in name or not path.is_file() or os.access(path, os.X_OK):
        return False
    marked = path.with_name(_MARKED)
    try:
        with open(os.open(marked, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "wb") as copy, path.open("rb") as file:
            shutil.copyfileobj(file, copy)
        marked.replace(path)
    except OSError:
        marked.unlink(missing_ok=True)
        return False
    return True


def _ended(pid: int) -> tuple[int, float]:
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def _text(found: bytes) -> str:
    return found.decode("utf-8", "replace")
