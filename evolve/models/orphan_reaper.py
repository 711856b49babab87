"""Process that kills external programs, and what they have started, when the engine was killed or has crashed.

A program of its own (`python -I -S orphan_reaper.py`) of the standard library alone. Each line on its standard input is `+GROUP` for a
process group that began, or `-GROUP` for one that the engine has ended. However the engine ends, the end of file there comes, and the
groups that are left are killed. The kernel's parent-death signal would kill the program alone, and not what it has started."""

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress


def remaining_groups(lines: Iterable[bytes]) -> set[int]:
    """Returns the groups that had begun and were not over at the end; half a line, of an engine that was killed while it wrote, is ignored."""
    groups = set[int]()
    for line in lines:
        if line.endswith(b"\n") and line[1:-1].isdigit():
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
    return groups


def main() -> None:
    """Waits for the end of the engine, and kills the groups that are left."""
    for group in remaining_groups(sys.stdin.buffer):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
