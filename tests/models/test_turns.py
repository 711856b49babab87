import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from evolve.models import turns as module
from evolve.models.clock import Clock
from evolve.models.turns import Turns, given_up, gives_way, step_back
from tests.models.meanwhile import until


class Threads:
    """Threads that note what they do, in its order."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._threads: list[threading.Thread] = []

    def start(self, act: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=act)
        self._threads.append(thread)
        thread.start()
        return thread

    def join(self) -> list[str]:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()
        return self.said


def waiting(turns: Turns, count: int) -> None:
    """Until so many threads wait for a turn."""
    until(lambda: turns.waiting == count)


def test_one_thread_at_a_time_computes():
    turns, threads, inside = Turns(), Threads(), list[int]()
    most = []

    def compute() -> None:
        for _ in range(50):
            with turns.one():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    for _ in range(8):
        threads.start(compute)
    threads.join()
    assert (len(most), max(most)) == (400, 1)


def test_who_asked_first_computes_first():
    turns, threads = Turns(), Threads()

    def compute(name: str) -> None:
        with turns.one():
            threads.said.append(name)

    with turns.one():
        for count, name in enumerate("abc", 1):
            threads.start(lambda name=name: compute(name))  # type: ignore[misc]
            waiting(turns, count)
    assert threads.join() == ["a", "b", "c"]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who goes on waits until it has a turn, on a slow machine, too."""
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 60)


@contextmanager
def wanted(turns: Turns, threads: Threads) -> Iterator[None]:
    """This thread has a turn, for which one waits that begins, and one that goes on."""
    answered = threading.Event()

    def call() -> None:
        with turns.one():
            with given_up():
                answered.wait(60)
            threads.said.append("goes on")

    def begin() -> None:
        with turns.one():
            threads.said.append("begins")

    threads.start(call)
    until(lambda: not turns.is_taken)
    with turns.one():
        threads.start(begin)
        waiting(turns, 1)
        answered.set()
        waiting(turns, 2)
        yield


@pytest.mark.usefixtures("patient")
def test_a_thread_that_goes_on_comes_before_one_that_begins():
    turns, threads = Turns(), Threads()
    with wanted(turns, threads):
        threads.said.append("has it")
    assert threads.join() == ["has it", "goes on", "begins"]


@pytest.mark.usefixtures("patient")
def test_who_steps_back_lets_those_go_first_who_wait():
    """One that begins no less than one that goes on; and it has its turn again."""
    turns, threads = Turns(), Threads()
    with wanted(turns, threads):
        step_back()
        threads.said.append("stepped back")
        assert module._mine.turns is turns
    assert threads.join() == ["goes on", "begins", "stepped back"]
    assert not turns.is_taken


def test_who_steps_back_waits_as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch):
    """Also longer than who has an answer that may be paid by the second."""
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.01)
    turns, threads = Turns(), Threads()

    def compute() -> None:
        with turns.one():
            time.sleep(0.1)
            threads.said.append("computed")

    with turns.one():
        threads.start(compute)
        waiting(turns, 1)
        step_back()
        threads.said.append("stepped back")
        assert module._mine.turns is turns
    assert threads.join() == ["computed", "stepped back"]


def test_who_steps_back_alone_goes_on():
    turns = Turns()
    step_back()
    assert not turns.is_taken
    with turns.one():
        step_back()
        assert turns.is_taken
    assert not turns.is_taken


def test_the_hurried_one_comes_next():
    turns, threads = Turns(), Threads()

    def begin() -> None:
        with turns.one():
            threads.said.append("begins")

    def hurry() -> None:
        with turns.hurried(60):
            threads.said.append("hurried")

    with turns.one():
        threads.start(begin)
        waiting(turns, 1)
        threads.start(hurry)
        waiting(turns, 2)
    assert threads.join() == ["hurried", "begins"]


def test_the_hurried_one_does_not_wait_for_who_computes_long():
    turns, threads, over = Turns(), Threads(), threading.Event()

    def compute() -> None:
        with turns.one():
            over.wait(60)

    threads.start(compute)
    until(lambda: turns.is_taken)
    with turns.hurried(0.01):
        over.set()
    threads.join()
    with turns.one():
        assert turns.is_taken
    assert (turns.is_taken, turns.waiting) == (False, 0)


def test_a_turn_is_given_up_once_however_often_one_waits():
    turns = Turns()
    with turns.one():
        with given_up(), given_up():
            assert not turns.is_taken
        assert turns.is_taken
    assert not turns.is_taken


def test_who_has_no_turn_has_none_to_give_up():
    with given_up():
        assert not Clock().pause(0.0, threading.Event())


def test_a_pause_gives_the_turn_up():
    turns, seen, cancelled = Turns(), list[bool](), threading.Event()

    def look() -> None:
        until(lambda: not turns.is_taken)
        seen.append(True)
        cancelled.set()

    threads = Threads()
    with turns.one():
        threads.start(look)
        assert Clock().pause(60, cancelled)
        assert turns.is_taken
    threads.join()
    assert seen == [True]


def test_who_has_waited_goes_on_without_a_turn_where_somebody_computes_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.01)
    turns, threads, begun, over = Turns(), Threads(), threading.Event(), threading.Event()

    def compute() -> None:
        with turns.one():
            begun.set()
            over.wait(60)

    with turns.one():
        with given_up():
            threads.start(compute)
            begun.wait(60)
        with given_up():
            over.set()
    threads.join()
    assert (turns.is_taken, turns.waiting) == (False, 0)


def test_when_all_is_over_nobody_waits():
    turns, threads = Turns(), Threads()

    def compute() -> None:
        with turns.one():
            threads.said.append("over")

    with turns.one():
        for count in (1, 2):
            threads.start(compute)
            waiting(turns, count)
        turns.end()
        assert threads.join() == ["over", "over"]
        step_back()
        with turns.hurried(60):
            pass


def test_who_is_called_while_an_error_ends_its_wait_hands_the_turn_on(monkeypatch: pytest.MonkeyPatch):
    """As when a second signal comes while the main thread waits."""

    class Interrupted(module._Waiting):
        def __init__(self) -> None:
            super().__init__()
            self.called = self  # type: ignore[assignment]

        def release(self) -> None:
            """Nothing: it was called, and hears no more of it."""

        def acquire(self, timeout: float) -> bool:
            turns.give_up()
            raise KeyboardInterrupt

    turns = Turns()
    turns.take(0)
    monkeypatch.setattr(module, "_Waiting", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        turns.take(0, 1.0)
    assert (turns.is_taken, turns.waiting) == (False, 0)


def test_an_error_leaves_the_turn_to_the_next():
    turns = Turns()
    try:
        with turns.one(), given_up():
            raise ValueError
    except ValueError:
        pass
    assert not turns.is_taken


def test_a_model_is_called_with_a_turn_only_where_it_says_that_it_gives_way():
    class Polite:
        gives_way = True

    class Rude:
        gives_way = False

    assert [gives_way(model) for model in (Polite(), Rude(), object())] == [True, False, False]
