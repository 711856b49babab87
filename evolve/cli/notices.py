"""What the engine logs while a campaign runs, such as that a model is down: told to whoever watches it.

Invariant: each is one line on stderr as it is then, so that a table that is redrawn stays whole below it."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from evolve.cli.output import one_line
from evolve.cli.say import say

_ENGINE = logging.getLogger("evolve")


class Notices(logging.Handler):
    """Prints what is logged. Any thread."""

    def emit(self, record: logging.LogRecord) -> None:
        """A line."""
        say(f"evolve: {record.levelname.lower()}: {one_line(record.getMessage())}", file=sys.stderr)


@contextmanager
def noticed() -> Iterator[None]:
    """Warnings of the engine are printed meanwhile."""
    notices = Notices(logging.WARNING)
    _ENGINE.addHandler(notices)
    try:
        yield
    finally:
        _ENGINE.removeHandler(notices)
