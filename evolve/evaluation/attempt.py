"""Calling a task's own code, which may raise anything.

Invariant: this holds the worker's one broad `except`; what it catches is reported with its traceback, never dropped."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")
_OURS = str(Path(__file__).parent)
_SHOWN, _LINE = 4000, 240
"""Characters of a traceback, and of a line."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Exception that a call raised."""

    error: BaseException

    @property
    def line(self) -> str:
        """The error as one line: `ValueError: message`. One that cannot be said, such as a number of too many digits, is named alone."""
        said = attempt(lambda: str(self.error))
        return " ".join(f"{type(self.error).__name__}: {'' if isinstance(said, Raised) else said}".split())

    def within(self, path: Path) -> str:
        """The line, no longer than can be read at once, and where in a file, or in one beside it, it was raised."""
        folder = f"{path.parent}/"
        frames = [one for one in traceback.extract_tb(self.error.__traceback__) if one.filename.startswith(folder)]
        if not frames:
            return self.line[:_LINE]
        last = frames[-1]
        other = "" if last.filename == str(path) else f"{last.filename[len(folder) :]}, "
        return f"{self.line[:_LINE]} ({other}line {last.lineno})"

    @property
    def trace(self) -> str:
        """The traceback from where the task's code begins; of a long one, its end."""
        error, place = self.error, _theirs(self.error.__traceback__)
        return "".join(traceback.format_exception(type(error), error, place)).strip()[-_SHOWN:]


def attempt(call: Callable[[], T]) -> T | Raised:
    """`call()`, or what it raised. A `sys.exit` in a task's code is an error like any other."""
    try:
        return call()
    except (Exception, SystemExit) as error:  # noqa: BLE001 a task's code may raise anything
        return Raised(error)


def _theirs(place: TracebackType | None) -> TracebackType | None:
    """The traceback without the leading frames of the worker itself."""
    first = place
    while place is not None and place.tb_frame.f_code.co_filename.startswith(_OURS):
        place = place.tb_next
    return place or first
