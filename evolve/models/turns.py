"""Who computes: of all threads that propose, one at a time, for more of them would only hand the interpreter to and fro.

Invariant: nobody waits with a turn for what takes time, and nobody waits for a turn with a lock that others need."""

import heapq
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE_SECONDS = 0.25
"""How long who goes on waits for who computes."""
_HURRIES, _GOES_ON, _BEGINS = range(3)
"""How urgent it is: the main thread, on which all others depend; an answer that has come, or a call that may be sent, for a model waits; a new
proposal, and what is made of the answer to a long call."""


def gives_way(model: object) -> bool:
    """Whether a model may be called with a turn: it computes in it, gives it up while it waits, and says so as `gives_way`."""
    return getattr(model, "gives_way", False) is True


class _Waiting:
    """A thread that waits for a turn. `called` is free once it was called."""

    def __init__(self) -> None:
        self.called = threading.Lock()
        self.called.acquire()
        self.was_called = False
        self.left = False

    def call(self) -> None:
        """It is this thread's turn."""
        self.was_called = True
        self.called.release()


class _Mine(threading.local):
    turns: "Turns | None" = None


_mine = _Mine()


class Turns:
    """One run's turns. Who wants one more urgently has it first, and of several the one that asked first: it is handed on, so that nobody
    overtakes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._queue: list[tuple[int, int, _Waiting]] = []
        self._taken = False
        self._ended = False

    @property
    def is_taken(self) -> bool:
        """Somebody computes."""
        return self._taken

    @property
    def waiting(self) -> int:
        """How many wait for a turn."""
        with self._lock:
            return sum(not waiting.left for _, _, waiting in self._queue)

    @contextmanager
    def one(self) -> Iterator[None]:
        """This thread computes, when it is its turn."""
        self.take(_BEGINS)
        _mine.turns = self
        try:
            yield
        finally:
            if _mine.turns is self:
                self.give_up()
            _mine.turns = None

    @contextmanager
    def hurried(self, seconds: float) -> Iterator[None]:
        """This thread computes next, and after so many seconds at the latest, whoever computes then."""
        mine = False
        try:
            mine = self.take(_HURRIES, seconds)
            yield
        finally:
            if mine:
                self.give_up()

    def take(self, urgency: int, seconds: float = -1) -> bool:
        """Waits for a turn, for so many seconds at most; whether it came."""
        with self._lock:
            if not self._taken or self._ended:
                self._taken = True
                return True
            waiting = _Waiting()
            heapq.heappush(self._queue, (urgency, next(self._numbers), waiting))
        try:
            called = waiting.called.acquire(timeout=seconds)
        except BaseException:  # a second signal
            if self._left(waiting):
                self.give_up()
            raise
        return called or self._left(waiting)

    def _left(self, waiting: "_Waiting") -> bool:
        """It waits no more; whether it was called all the same."""
        with self._lock:
            waiting.left = not waiting.was_called
            return waiting.was_called

    def give_up(self) -> None:
        """The turn goes to who comes next."""
        with self._lock:
            while self._queue:
                waiting = heapq.heappop(self._queue)[2]
                if not waiting.left:
                    waiting.call()
                    return
            self._taken = False

    def end(self) -> None:
        """Nobody waits for a turn any more: the run is over, and its threads end."""
        with self._lock:
            self._ended = True
            for _, _, waiting in self._queue:
                waiting.call()
            self._queue.clear()


@contextmanager
def given_up() -> Iterator[None]:
    """This thread waits for something, and has its turn again afterwards, if it had one. Where somebody computes for long it goes on
    without: what it has waited for may be paid by the second. Any thread."""
    turns, _mine.turns = _mine.turns, None
    if turns is None:
        yield
        return
    turns.give_up()
    try:
        yield
    finally:
        if turns.take(_GOES_ON, _PATIENCE_SECONDS):
            _mine.turns = turns


def step_back() -> None:
    """Whoever waits for a turn by now has it before this thread goes on, if it has one. It waits as long as that takes, for nothing is in
    flight for it. Any thread."""
    turns, _mine.turns = _mine.turns, None
    if turns is None:
        return
    turns.give_up()
    turns.take(_BEGINS)
    _mine.turns = turns
