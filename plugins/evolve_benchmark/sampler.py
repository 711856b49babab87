"""Placed beside a program while its hottest lines are looked for: calls its function, and notes a thousand times a second where it is.

Standard library only, for it runs in the program's process, and nothing that it says there is to be believed. The interpreter's own fault handler notes the place, in the midst of an
instruction and of a library's call, so that no line is taken for the one after it. Invariant: nothing is noted outside of the function's calls."""

import copy
import faulthandler
import re
import signal
import sys
import tempfile
import time
from collections import Counter

INTERVAL = 1e-3
"""Seconds of wall time between two looks; the kernel's ticks, by which processor time is looked at, are ten times as far apart."""
_STACK = "(most recent call first):\n"
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in ', re.MULTILINE)
_noted = tempfile.TemporaryFile()  # noqa: SIM115 it ends with the process


def call(module: str, function: str, seconds: float, *arguments: object) -> None:
    """A call whose places are noted, again and again for so many seconds, with arguments of its own each time; what the function gives stays here."""
    work = getattr(sys.modules[module], function)
    faulthandler.register(signal.SIGALRM, _noted, all_threads=False)
    end = time.monotonic() + seconds
    signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)
    try:
        work(*copy.deepcopy(arguments))
        while time.monotonic() < end:
            work(*copy.deepcopy(arguments))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def lines(files: list[str], most: int) -> list[list[object]]:
    """The lines of these files, `most` of them, the hottest first, each as `[file, line, samples]`: of each stack the innermost one counts."""
    _noted.seek(0)
    found: Counter[tuple[str, int]] = Counter()
    for stack in _noted.read().decode("utf-8", "replace").split(_STACK)[1:]:
        own = ((file, int(line)) for file, line in _FRAME.findall(stack) if file in files)
        found.update([first] if (first := next(own, None)) else [])
    return [[file, line, samples] for (file, line), samples in found.most_common(most)]
