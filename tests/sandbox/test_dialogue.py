"""Dialogues with a candidate that does whatever comes to its mind, played by the test.

The law: whatever it writes and whenever, the judge has a plain answer or `SessionFailed` soon after its deadline at the latest, and holds no
more than the limits say; no answer is believed that was written before its question was read."""

import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from evolve.sandbox.channel import Channel
from evolve.sandbox.output import readable
from evolve.sandbox.session import Session
from evolve.sandbox.status import Completed, SessionFailed, SessionReport, Status, TemplateLost
from evolve.sandbox.wire import ANSWER, TICKET, ReceivedRequest, encode, receive
from evolve.types import Limits, SandboxError

pytestmark = pytest.mark.integration

_MOST, _LOG, _MESSAGE = 5000, 300, 10_100
_SECONDS = 0.03
_LATE = 5.0
"""Seconds beyond its deadline after which the judge surely hangs, however busy the machine is."""
_LIMITS = Limits(result=_MOST, log=_LOG, file_size=1000)
_CHUNK = 1 << 16
Step = tuple[str, Any]

# What a candidate may do when it is asked, as data: each step is a name and an argument.
_TEXTS = some.text(some.characters(exclude_categories=["Cs"]), max_size=20)
_STATUSES = some.sampled_from(["ok", "error", "no_entry", "broken", "timeout", "", "x"])
_PAYLOADS = (
    some.binary(max_size=40)
    | some.text('[]{}"okerr,:1e9$', max_size=30).map(lambda text: struct.pack(">I", len(text)) + text.encode())
    | some.builds(lambda status, value: encode([status, value]), _STATUSES, _TEXTS | some.lists(some.integers()))
    | some.just(encode(["ok", {"out": b"x"}]))
    | some.just(encode(["ok", [0, "a", "b", 1, 0.5]]))
)
_LENGTHS = [1 << 60, 1 << 41, (1 << 64) - 1, _MOST + 1, _MOST, 900, 0]
_UNASKED = some.tuples(some.just("bytes"), some.binary(min_size=1, max_size=60)) | some.tuples(
    some.just("replay"), some.integers(0, 5)
)
_STEPS = (
    _UNASKED
    | some.tuples(some.just("answer"), _PAYLOADS)
    | some.tuples(some.just("halves"), some.integers(1, 20))
    | some.tuples(some.just("announce"), some.sampled_from(_LENGTHS))
    | some.tuples(some.just("pour"), some.sampled_from([1 << 30, 1 << 60, _MOST + 1, _MOST]))
    | some.tuples(some.just("print"), some.sampled_from([(b"x", 1), (b"\x1b[31m", 1), (b"\xff", 400), (b"#", 40_000)]))
    | some.tuples(some.just("flood"), some.integers(1, 3))
    | some.tuples(some.just("wait"), some.sampled_from([0.0, 0.002, 0.02]))
    | some.tuples(some.just("close"), some.sampled_from(["replies", "requests", "output"]))
    | some.tuples(some.just("send"), some.binary(min_size=1, max_size=3))
    | some.tuples(some.just("leave"), some.none())
)
_FATES = some.sampled_from([(0, False), (3, False), (-9, False), (-11, False), (0, True), (-40, False), None])
_BELIEVED = {"answer", "halves"}
"""Steps that bear the ticket of the question."""


class Player:
    """The candidate's ends, and what is done there. `tickets` are those of the requests that it has read."""

    def __init__(self, channel: Channel) -> None:
        output, requests, replies = (os.dup(number) for number in channel.theirs)
        channel.hand_over()
        self.ends = {"output": output, "requests": requests, "replies": replies}
        self.tickets: list[bytes] = []
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        for number in (output, replies):
            os.set_blocking(number, False)

    @contextmanager
    def answering(self, steps: Sequence[Step], linger: float) -> Iterator[None]:
        """The next request is followed by these steps, in another thread, which ends with the block."""
        self._stop.clear()
        thread = self._thread = threading.Thread(target=self._turn, args=(steps,))
        thread.start()
        try:
            yield
            thread.join(linger)  # what comes after the answer counts, too
        finally:
            self._end_turn()

    def do(self, steps: Sequence[Step]) -> None:
        """These steps, one after the other."""
        for name, argument in steps:
            getattr(self, "_" + name)(argument)

    def leave(self) -> None:
        """The end of the process."""
        self._end_turn()
        self._leave(None)

    def _end_turn(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _turn(self, steps: Sequence[Step]) -> None:
        if self._receive() is not None:
            self.do(steps)

    def _receive(self) -> ReceivedRequest | None:
        while not self._stop.is_set() and self.ends["requests"] >= 0:
            poll = select.poll()
            poll.register(self.ends["requests"], select.POLLIN)
            if poll.poll(1):
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, os.dup(self.ends["requests"])) as sock:
                    request = receive(sock)
                if request is not None:
                    request.close()
                    self.tickets.append(request.ticket)
                return request
        return None

    def _put(self, end: str, data: bytes) -> None:
        rest = memoryview(data)
        while rest and self.ends[end] >= 0 and not self._stop.is_set():
            with suppress(BlockingIOError):
                rest = rest[os.write(self.ends[end], rest) :]
                continue
            time.sleep(0.001)

    def _framed(self, payload: bytes) -> bytes:
        return ANSWER.pack(self.tickets[-1] if self.tickets else bytes(TICKET), len(payload)) + payload

    def _bytes(self, data: bytes) -> None:
        self._put("replies", data)

    def _answer(self, payload: bytes) -> None:
        self._put("replies", self._framed(payload))

    def _replay(self, ago: int) -> None:
        earlier = self.tickets[:-1] or [bytes(TICKET)]
        payload = encode(["ok", "an old answer"])
        self._put("replies", ANSWER.pack(earlier[ago % len(earlier)], len(payload)) + payload)

    def _halves(self, place: int) -> None:
        data = self._framed(encode(["ok", 7]))
        self._put("replies", data[:place])
        time.sleep(0.002)
        self._put("replies", data[place:])

    def _announce(self, length: int) -> None:
        self._put("replies", ANSWER.pack(self.tickets[-1] if self.tickets else bytes(TICKET), length))

    def _pour(self, length: int) -> None:
        self._announce(length)
        self._put("replies", bytes(min(length, 1 << 19)))

    def _print(self, what: tuple[bytes, int]) -> None:
        self._put("output", what[0] * what[1])

    def _flood(self, mebibytes: int) -> None:
        self._put("output" if mebibytes > 1 else "replies", bytes(mebibytes << 20))

    def _wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def _close(self, end: str) -> None:
        if self.ends[end] >= 0:
            os.close(self.ends[end])
            self.ends[end] = -1

    def _send(self, data: bytes) -> None:
        if self.ends["requests"] < 0:
            return
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, os.dup(self.ends["requests"]))
        with sock, pytest.raises(BrokenPipeError):
            socket.send_fds(sock, [data], [0])

    def _leave(self, _: None) -> None:
        for end in self.ends:
            self._close(end)


class Stage:
    """A session with a player, and what holds for whatever is asked in it."""

    def __init__(self, fate: tuple[int, bool] | None) -> None:
        self._before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        self.channel = Channel(_MOST, _LOG)
        self.player = Player(self.channel)
        self.session = Session(self.channel, self._end, 60.0, _LIMITS)
        self._fate = fate

    def _end(self, patience: float) -> SessionReport:
        self.player.leave()
        if self._fate is None:
            raise TemplateLost("the template has ended")
        return SessionReport(*self._fate, 0.0, 0, 0)

    def ask(self, steps: Sequence[Step], act: Callable[[Session], Any], linger: float = 0.03) -> Any:
        """What comes of a request that is followed by these steps, which have `linger` seconds more to end: a plain answer or
        `SessionFailed`, in time."""
        with self.player.answering(steps, linger):
            begun = time.monotonic()
            found: Any
            try:
                found = act(self.session)
            except SessionFailed as failure:
                found = failure
            assert time.monotonic() - begun < _SECONDS + _LATE
        self.check(found)
        if not isinstance(found, SessionFailed):
            assert _BELIEVED & {name for name, _ in steps}, "nothing was written that bears the ticket of the question"
        return found

    def check(self, found: Any) -> None:
        """It is plain data or a failure that can be shown, and a bounded part of all is held."""
        if isinstance(found, SessionFailed):
            assert (readable(found.message), bool(found.message)) == (found.message, True)
            assert len(found.message) <= _MESSAGE
        elif isinstance(found, Completed):
            assert readable(found.stdout + found.stderr) == found.stdout + found.stderr
        else:
            encode(found)
        assert len(self.channel._received) <= ANSWER.size + _MOST + _CHUNK
        assert len(self.channel.log._kept) <= 2 * _LOG + _CHUNK

    def close(self) -> SessionFailed | None:
        """The end of the session, after which no descriptor is left."""
        failure = self.session.close()
        self.check(failure)
        assert len(self.session.usage.log) <= _LOG
        assert len(os.listdir("/proc/self/fd")) == self._before  # noqa: PTH208
        return failure


def _call(session: Session) -> Any:
    return session.call("f", 1, seconds=_SECONDS)


def _call_in_time(session: Session) -> Any:
    """With time enough for a player on a busy machine."""
    return session.call("f", 1, seconds=_LATE)


@settings(max_examples=50, deadline=None)
@given(some.lists(_STEPS, max_size=5), some.lists(_STEPS, max_size=3), _FATES)
def test_whatever_comes_back_is_an_answer_or_a_failure(
    first: list[Step], second: list[Step], fate: tuple[int, bool] | None
) -> None:
    """Twice, and at the end; once the dialogue has failed, the second question fails in the same way."""
    stage = Stage(fate)
    one = stage.ask(first, _call)
    two = stage.ask(second, _call)
    failure = stage.close()
    fatal = isinstance(one, SessionFailed) and one.status not in _CLAIMS
    if fatal:
        assert (two.status, two.message) == (one.status, one.message)
        assert failure is None


_CLAIMS = {Status.ERROR, Status.MEMORY_LIMIT, Status.BAD_JSON, Status.NO_RESULT, Status.NO_ENTRY}
"""Statuses after which a session may go on, for a program may say them of itself."""


class Dialogues(RuleBasedStateMachine):
    """Builds, commands, calls and what is said without having been asked, in any order."""

    stage: Stage

    @initialize(fate=_FATES)
    def open(self, fate: tuple[int, bool] | None) -> None:
        self.stage = Stage(fate)
        self.reached = 0
        self.fatal: SessionFailed | None = None
        self.unasked = False

    def _asked(self, rank: int, steps: list[Step], act: Callable[[Session], Any]) -> None:
        if rank < self.reached:
            with pytest.raises(SandboxError, match="first, or in another session"):
                act(self.stage.session)
            return
        found = self.stage.ask(steps, act)
        self.reached = rank if self.fatal is None else self.reached
        if self.fatal is not None:
            assert str(found).partition(":")[2] == str(self.fatal).partition(":")[2]
        elif self.unasked:
            assert isinstance(found, SessionFailed)
        if isinstance(found, SessionFailed) and self.stage.session._dialogue._failure is not None:
            self.fatal = self.fatal or found

    @rule(steps=some.lists(_STEPS, max_size=4))
    def call(self, steps: list[Step]) -> None:
        self._asked(2, steps, _call)

    @rule(steps=some.lists(_STEPS, max_size=4), count=some.integers(0, 3))
    def map(self, steps: list[Step], count: int) -> None:
        def act(session: Session) -> Any:
            found = session.map("f", [[]] * count, seconds=_SECONDS)
            assert len(found) == count
            return found

        self._asked(2, steps, act)

    @rule(steps=some.lists(_STEPS, max_size=4))
    def run(self, steps: list[Step]) -> None:
        self._asked(1, steps, lambda session: session.run(["sh"], seconds=_SECONDS))

    @rule(steps=some.lists(_STEPS, max_size=4))
    def build(self, steps: list[Step]) -> None:
        self._asked(0, steps, lambda session: session.build(["sh"], seconds=_SECONDS))

    @rule(steps=some.lists(_UNASKED, min_size=1, max_size=2))
    def talk(self, steps: list[Step]) -> None:
        self.stage.player.do(steps)
        self.unasked = self.stage.player.ends["replies"] >= 0

    @invariant()
    def little_is_held(self) -> None:
        if hasattr(self, "stage"):
            self.stage.check(None)

    def teardown(self) -> None:
        failure = self.stage.close()
        if self.unasked and self.fatal is None and failure is not None:
            assert failure.status in (Status.BAD_FRAME, Status.BROKEN)


def test_dialogues_of_all_kinds_end_well() -> None:
    """The law holds whatever was asked and answered before."""
    run_state_machine_as_test(Dialogues, settings=settings(max_examples=25, stateful_step_count=6, deadline=None))


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([("bytes", b"hello, judge")], Status.BAD_FRAME),
        ([("flood", 1)], Status.BAD_FRAME),
        ([("pour", 1 << 60)], Status.BAD_FRAME),
        ([("pour", 1 << 30)], Status.RESULT_TOO_LARGE),
        ([("pour", _MOST)], Status.BAD_JSON),
        ([("announce", 900)], Status.TIMEOUT),
        ([("announce", 900), ("leave", None)], Status.BAD_FRAME),
        ([("close", "replies")], Status.NO_RESULT),
        ([("send", b"x"), ("leave", None)], Status.NO_RESULT),
        ([("flood", 3)], Status.TIMEOUT),
        ([("answer", encode(["broken", "yours"]))], Status.BAD_JSON),
    ],
)
def test_each_kind_of_nonsense_has_its_status(steps: list[Step], status: Status) -> None:
    """And little of it is held."""
    stage = Stage((0, True))
    found = [stage.ask(steps, _call if status is Status.TIMEOUT else _call_in_time), stage.close()]
    assert [failure.status for failure in found if isinstance(failure, SessionFailed)] == [status]


# --- what the ticket is for


def test_an_old_answer_is_no_answer() -> None:
    """It was right the last time, and bears the ticket of the last time."""
    stage = Stage((0, True))
    assert stage.ask([("answer", encode(["ok", 7]))], _call_in_time) == 7
    found = stage.ask([("replay", 0)], _call_in_time)
    assert (found.status, found.message) == (
        Status.BAD_FRAME,
        "the program wrote something that is no answer where its answers go (f())",
    )
    assert stage.close() is None


def test_a_second_answer_fails_the_session() -> None:
    """Whether it comes with the first, which was right, or late."""
    stage = Stage((0, True))
    found = [stage.ask([("halves", 3), ("halves", 9)], _call_in_time, linger=10.0), stage.close()]
    assert [failure.status for failure in found if isinstance(failure, SessionFailed)] == [Status.BAD_FRAME]


def test_an_answer_that_was_prepared_is_no_answer_whenever_it_comes() -> None:
    """Also in the instant between the judge's look at the pipe and its question, which a program can only hit by chance."""
    stage = Stage((0, True))
    ask, looked = stage.channel._outbox.add, []

    def add_after_them(*request: Any) -> None:
        looked.append(stage.channel.spoke())
        stage.player.do([("answer", encode(["ok", "prepared"]))])
        ask(*request)

    stage.channel._outbox.add = add_after_them  # type: ignore[method-assign]
    found = stage.ask([("answer", encode(["ok", 7]))], _call_in_time)
    assert (looked, found.status) == ([False], Status.BAD_FRAME)
    stage.close()


@pytest.mark.parametrize("place", range(1, ANSWER.size + 12))
def test_an_answer_may_come_in_two_parts(place: int) -> None:
    """Whichever byte the first ends with."""
    stage = Stage((0, True))
    assert stage.ask([("halves", place)], _call_in_time) == 7
    assert stage.close() is None


@pytest.mark.parametrize("words", ["", "\u200b\u200b"], ids=["nothing", "what nobody sees"])
def test_a_failure_without_a_reason_says_so(words: str) -> None:
    """A message that is empty tells a person nothing."""
    stage = Stage((0, False))
    found = stage.ask([("answer", encode(["error", words]))], _call_in_time)
    stage.close()
    assert found.message.endswith("failed, and the program gave no reason that can be shown")


def test_a_message_that_claims_too_much_is_cut() -> None:
    """A program that writes its own answers says as much as an honest one, and nothing that cannot be read."""
    stage = Stage((0, True))
    lines = "\N{TAG LATIN SMALL LETTER A}\x1b[31mno\n" * 200
    found = stage.ask([("answer", encode(["error", lines]))], _call_in_time)
    assert (found.status, found.message) == (Status.ERROR, "no\n" * 200)
    stage.close()
