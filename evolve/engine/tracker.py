"""A tracker on a thread of its own, with a queue of what it is yet to be told: whatever it does, the loop goes on.

Invariant: no call here waits for a tracker but `wait`, and that has a deadline. What a tracker is told, it is told in order and once; what it is not
told is counted."""

import logging
import sys
import threading
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import Any, TextIO, cast

from evolve.plugins import guarded
from evolve.protocols import Tracker
from evolve.types import EvolveError, TrackedEnd, TrackedRecord, TrackedRun

_log = logging.getLogger(__name__)

BEHIND = 10_000
"""Records that may wait for a tracker; while so many do, what settles is dropped."""
_THREAD = "evolve-tracker-"


class Tracking:
    """A tracker by its name. Main thread, but for `_serve`, which alone calls the tracker, and counts the `records` that it took."""

    def __init__(self, name: str, tracker: Tracker, behind: int = BEHIND) -> None:
        self.name = name
        self.tracker = tracker
        self.records = 0
        self.dropped = 0
        self.failure = ""
        self._behind = behind
        self._given = 0
        self._given_up = ""
        self._calls: SimpleQueue[tuple[Callable[[], None], int] | None] = SimpleQueue()
        # A daemon: one that hangs must not keep the engine from ending.
        self._thread = threading.Thread(target=self._serve, name=f"{_THREAD}{name}", daemon=True)

    def begin(self, run: TrackedRun) -> None:
        """A run begins."""
        self._thread.start()
        self._calls.put((partial(self.tracker.campaign_begun, run), 0))

    def record(self, record: TrackedRecord) -> None:
        """It is to be told of this record, unless too many wait or it has failed."""
        if self.failure:
            return
        if self._calls.qsize() < self._behind:
            self._given += 1
            self._calls.put((partial(self.tracker.record_settled, record), 1))
            return
        self.dropped += 1
        if self.dropped == 1:
            _log.warning(
                "tracker %r is slow: %s records wait for it. What settles until it has caught up is not told it; the log has all",
                self.name,
                f"{self._behind:,}",
            )

    def end(self, end: TrackedEnd) -> None:
        """The run has ended; nothing more comes."""
        self._calls.put((partial(self.tracker.campaign_ended, end), 0))
        self._calls.put(None)

    def wait(self, seconds: float) -> bool:
        """Whether it has taken all, or failed, within so many seconds."""
        self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()

    def give_up(self) -> None:
        """Where it has not taken all by now, it is told nothing more."""
        if self._thread.is_alive():
            left = self._given - self.records
            self._given_up = (
                f"and it has not taken {f'{_counted(left)} and ' if left else ''}the end of the run in time"
            )
            _log.warning("tracker %r is told nothing more: it has not taken all in time. The log has all", self.name)

    def told(self) -> str:
        """What became of it, in a line."""
        dropped = f"{_counted(self.dropped)} dropped while {self._behind:,} waited for it"
        failed = f"then it failed: {self.failure}"
        parts = (_counted(self.records), self.dropped and dropped, self.failure and failed, self._given_up)
        return f"{self.name}: {', '.join(part for part in parts if part)}"

    def _serve(self) -> None:
        while (item := self._calls.get()) is not None and not self._given_up:
            call, records = item
            try:
                guarded(self.name, call)
            except (EvolveError, SystemExit, KeyboardInterrupt, GeneratorExit, CancelledError) as error:
                self.failure = str(error) or type(error).__name__
                _log.warning("tracker %r is told nothing more in this run: %s", self.name, self.failure)
                return
            self.records += records


def _counted(records: int) -> str:
    return f"{records:,} record{'' if records == 1 else 's'}"


class _Aside:
    """Standard output while trackers run: stdout is for records, so what a tracker's thread prints goes to stderr."""

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout

    def __getattr__(self, name: str) -> Any:
        is_theirs = threading.current_thread().name.startswith(_THREAD)
        return getattr(sys.stderr if is_theirs else self._stdout, name)


@contextmanager
def printing_aside() -> Iterator[None]:
    """What trackers print goes to stderr meanwhile; and for good, where one is at work after that."""
    before = sys.stdout
    sys.stdout = cast(TextIO, _Aside(before))
    try:
        yield
    finally:
        if not any(thread.name.startswith(_THREAD) for thread in threading.enumerate()):
            sys.stdout = before
