"""Guard that keeps processes, sockets and sleeps out of unit tests, so that `make test` stays quick.

`EVOLVE_UNIT_GUARD=FILE` lists the offenders in a file instead of failing them."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

EXEMPT_MARKS = ("integration", "slow", "gpu", "server", "browser")
FORBIDDEN = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.system",
        "socket.bind",
        "socket.connect",
        "subprocess.Popen",
    }
)
"""Audit events (https://docs.python.org/3/library/audit_events.html)."""
_HARMLESS_SECONDS = 0.005


class UnitGuard:
    """Refuses forbidden actions while a unit test runs. Python keeps an audit hook until the process ends, so there is one for all tests."""

    def __init__(self) -> None:
        self._running: str | None = None
        self._thread = 0
        self._list = os.environ.get("EVOLVE_UNIT_GUARD")
        self._sleep = time.sleep
        sys.addaudithook(self._audit)

    @contextmanager
    def watch(self, item: pytest.Item) -> Iterator[None]:
        """Guards a test with its fixtures, unless one of its marks exempts the test."""
        if any(item.get_closest_marker(mark) for mark in EXEMPT_MARKS):
            yield
            return
        self._running, self._thread, time.sleep = item.nodeid, threading.get_ident(), self._refuse_sleep
        try:
            yield
        finally:
            self._running, time.sleep = None, self._sleep

    def _refuse_sleep(self, seconds: float) -> None:
        # A thread that an earlier test left sleeps on its own account; a few milliseconds cost nobody anything.
        if seconds > _HARMLESS_SECONDS and threading.get_ident() == self._thread:
            self._refuse("time.sleep")
        self._sleep(seconds)

    def _audit(self, event: str, _: tuple[Any, ...]) -> None:
        if self._running is not None and event in FORBIDDEN:
            self._refuse(event)

    def _refuse(self, event: str) -> None:
        test = self._running
        if self._list:
            self._running = None  # opening the list raises audit events, too
            with Path(self._list).open("a", encoding="utf-8") as file:
                file.write(f"{test}\t{event}\n")
            self._running = test
            return
        raise RuntimeError(f"{test} is a unit test, and does {event}. Try: use a fake, or mark it `integration`")
