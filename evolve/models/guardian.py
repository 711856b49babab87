"""The process that ends what external programs have started when the engine cannot: it was killed, or has crashed.

A program of its own (`python -I -S guardian.py`) of the standard library alone. Each line on its standard input is `+GROUP` for a process
group that began, or `-GROUP` for one that the engine has ended. However the engine ends, the end of file there comes, and the groups that
are left are killed. The kernel's parent-death signal would end the program alone, and not what it has started.

Invariant: no group is killed that the engine has said to be over."""

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress


def left(lines: Iterable[bytes]) -> set[int]:
    """The groups that had begun and were not over when the lines ended; half a line, of an engine killed while it wrote, tells nothing."""
    groups = set[int]()
    for line in lines:
        if line.endswith(b"\n") and line[1:-1].isdigit():
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
    return groups


def main() -> None:
    """Reads until the engine has ended."""
    for group in left(sys.stdin.buffer):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
