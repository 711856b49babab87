"""Placed beside a program while its hottest lines are looked for: calls its function, and adds up the time between one line and the next.

Standard library only, for it runs in the program's process, and nothing that it says there is to be believed. What looks at a process by signals would be cheaper, but Python says where it is only at calls
and at the ends of loops, and its fault handler, which knows better, now and then ends a process that it looks at (measured on 3.11). Invariant: time outside of the function's calls is nobody's."""

import copy
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection
from types import FrameType
from typing import Any

Place = tuple[str, int]
_spent: Counter[Place] = Counter()
"""Nanoseconds."""


class Over(BaseException):
    """The time is over; no business of the program's."""


def call(module: str, function: str, files: list[str], seconds: float, *arguments: object) -> None:
    """A call whose lines of these files are followed, again and again for so many seconds, with arguments of its own each time; what the function gives stays here."""
    work = getattr(sys.modules[module], function)
    end = time.perf_counter_ns() + int(1e9 * seconds)
    while time.perf_counter_ns() < end:
        given = copy.deepcopy(arguments)
        sys.settrace(_follower(frozenset(files), end))
        try:
            work(*given)
        except Over:
            return
        finally:
            sys.settrace(None)


def lines(most: int) -> list[list[object]]:
    """The lines, `most` of them, the hottest first, each as `[file, line, microseconds]`."""
    found = [[file, line, spent // 1000] for (file, line), spent in _spent.most_common(most)]
    return [one for one in found if one[2]]


def _follower(files: Collection[str], end: int) -> Callable[..., Any]:
    """What `sys.settrace` takes. The time in a function of the program belongs to its lines, that in a library's to the line that has called it."""
    place: Place | None = None
    outer: list[Place | None] = []
    since, clock = 0, time.perf_counter_ns

    def entered(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        nonlocal place, since
        now, file = clock(), frame.f_code.co_filename
        if file not in files:
            return None
        if place is not None:
            _spent[place] += now - since
        outer.append(place)
        place, since = (file, frame.f_lineno), clock()
        return within

    def within(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        nonlocal place, since
        now = clock()
        if place is not None:
            _spent[place] += now - since
        if event == "return":
            place = outer.pop() if outer else None
        elif event == "line":
            if now > end:
                raise Over
            place = (frame.f_code.co_filename, frame.f_lineno)
        since = clock()
        return within

    return entered
