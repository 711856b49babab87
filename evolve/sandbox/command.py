"""Runs a command in the candidate's process: a compiler, a program in another language, a script.

Standard library only, for it lives in the template. Its standard streams are files without a name, so that nobody has to read while
it runs and no process that it leaves behind can hold up the end. Invariant: however much it prints, a bounded part is held here, and
the kernel's limit on one file bounds the rest."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evolve.sandbox.folder import Missing

_STREAM = ".evolve-stream"


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
    copies = [(os.POSIX_SPAWN_DUP2, here, there) for there, here in enumerate(streams)]
    try:
        # Python ignores these two for itself; a command is to be ended by them.
        return os.posix_spawnp(
            argv[0], list(argv), os.environ, file_actions=copies, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ]
        )
    except OSError as error:
        raise Missing(f"the command {argv[0]!r} cannot be started: {error.strerror}") from None


def _ended(pid: int) -> tuple[int, float]:
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def _text(found: bytes) -> str:
    return found.decode("utf-8", "replace")
