"""An event that a thread can wait for beside a socket."""

import select
import threading
import time
from pathlib import Path

import pytest

from evolve.models.cancellation import Cancellation
from evolve.types import ModelError
from tests.models.asking import ask, asked_of
from tests.models.fault_server import HANG, FaultServer
from tests.models.meanwhile import until


def test_its_descriptor_can_be_read_from_once_it_is_set():
    """However often it is set."""
    cancelled = Cancellation()
    poll = select.poll()
    poll.register(cancelled, select.POLLIN)
    assert poll.poll(0) == []
    for _ in range(3):
        cancelled.set()
        assert cancelled.is_set()
        assert poll.poll(0) == [(cancelled.fileno(), select.POLLIN)]
    cancelled.close()


def test_its_descriptors_are_given_back_once():
    """And setting it afterwards harms nobody who has their numbers by then."""
    before = _open_files()
    cancelled = Cancellation()
    cancelled.close()
    cancelled.close()
    cancelled.set()
    assert cancelled.is_set()
    assert cancelled.fileno() == -1
    assert _open_files() == before


def test_a_call_that_waits_for_its_answer_ends_at_once_and_nothing_looks_meanwhile(monkeypatch: pytest.MonkeyPatch):
    """With a plain event it would look five times a second."""
    polls = []
    monkeypatch.setattr("evolve.models.transport.select.poll", lambda: _Counted(polls))
    cancelled, failed = Cancellation(), []

    def call() -> None:
        with pytest.raises(ModelError, match="cancelled") as error:
            ask(model, seconds=600, cancelled=cancelled)
        failed.append((error.value, time.monotonic()))

    with FaultServer([HANG]) as server, asked_of(server) as model:
        thread = threading.Thread(target=call)
        thread.start()
        until(lambda: server.count == 1 and len(polls) > 0)
        time.sleep(0.7)
        seen = len(polls)
        cancelled.set()
        thread.join()
    cancelled.close()
    assert len(failed) == 1
    assert seen <= 2


def _open_files() -> set[str]:
    return {number.name for number in Path("/proc/self/fd").iterdir()}


_POLL = select.poll


class _Counted:
    """A poll that tells of each wait."""

    def __init__(self, waits: list[float]) -> None:
        self._poll = _POLL()
        self._waits = waits

    def register(self, what: object, events: int) -> None:
        """As a poll's."""
        self._poll.register(what, events)

    def poll(self, milliseconds: float) -> list[tuple[int, int]]:
        """As a poll's."""
        self._waits.append(milliseconds)
        return self._poll.poll(milliseconds)
