"""Timing of what a candidate does: the clock of its process, read and held still from outside, and memory that it shares with the worker.

The candidate's arguments say go and its answer says done, or one byte each; then it is stopped and its clock is read. A time is the worker's or the
kernel's word: arguments that are sent are not known before the clock runs, and their answer is complete when it stops. What a program does before or
after that is counted apart.

A process's clock counts all its threads, those that have ended too, in nanoseconds; the number of that clock is made of the pid as
`clock_getcpuclockid(3)` makes it (https://man7.org/linux/man-pages/man3/clock_getcpuclockid.3.html). What runs at the moment is counted up to
now, so that of a process which rests two readings are equal."""

import contextlib
import fcntl
import importlib
import math
import mmap
import os
import select
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from evolve.sandbox.channel import Conversation, memory_file
from evolve.sandbox.processes import PROCESSES, descendants, thread_states, threads_sleep
from evolve.sandbox.status import SessionFailed, Status
from evolve.sandbox.wire import ARRAY_TYPES
from evolve.types import SandboxError

if TYPE_CHECKING:  # the worker may run where there is none
    from numpy.typing import NDArray
_OF_A_PROCESS = 2
"""CPUCLOCK_SCHED: what the scheduler has counted."""
_READINGS = 400
"""So many times is a process looked at that should come to rest; each takes a microsecond."""
_STOPPING = 5.0
"""Seconds that it may take until all threads have stopped; on a machine that is busy beyond measure they get a turn late."""
_LEAVING = 0.05
"""Seconds that a stopped thread gets for its last steps, where the kernel does not tell whether it has made them."""
_LAST_STEPS = 200_000
"""Nanoseconds that these may take afterwards, where it does not tell."""
_RESTING = frozenset({b"T", b"t", b"Z", b"X"})
_REMEDY = (
    "Try: evaluate on Linux 5.4 or newer, with /proc, outside of a container that hides processes; or time nothing"
)
_NANO = 1e-9
NATIVE_BLOCK = 512
"""Bytes at the beginning of a segment that a native session needs for itself."""
_MOST_ARGUMENTS = 31
_PLACES = struct.Struct(f"={2 + 2 * _MOST_ARGUMENTS}q")
_LARGEST = 1 << 63


@dataclass(frozen=True, slots=True)
class Window:
    """An array in a segment, as an argument of a timed call: `offset` in bytes, `dtype` the name of an element type that may cross."""

    segment: "Segment"
    offset: int
    shape: tuple[int, ...]
    dtype: str

    def view(self) -> "NDArray[Any]":
        """The same array, here."""
        numpy = importlib.import_module("numpy")
        found: NDArray[Any] = numpy.frombuffer(
            self.segment.memory, self.dtype, math.prod(self.shape), self.offset
        ).reshape(self.shape)
        return found


class Segment:
    """`size` bytes of zeros at first; `memory` is what is mapped here. Close it, or use it in a `with` block: arrays that were made of it may outlive that.
    Raises `SandboxError` where the system has no files in memory."""

    def __init__(self, size: int) -> None:
        if type(size) is not int or size <= 0:
            raise ValueError(f"a segment has a size of {size!r} bytes. Try: give a whole number above 0")
        self.size = size
        self._file = memory_file("segment")
        if self._file < 0:
            raise SandboxError(
                "there is no memory to share: this system has no files in memory that can be sealed. Try: evaluate on Linux"
            )
        try:
            os.ftruncate(self._file, size)
            fcntl.fcntl(self._file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
            self.memory = mmap.mmap(self._file, size)
        except OSError:
            os.close(self._file)
            raise

    def __enter__(self) -> "Segment":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self.close()

    def fileno(self) -> int:
        """The file, to be sent to a candidate."""
        return self._file

    def window(self, offset: int, shape: Sequence[int], dtype: str) -> Window:
        """An array in it as an argument of `Session.timed`; raises `ValueError` for one that does not lie in it."""
        if dtype not in ARRAY_TYPES:
            raise ValueError(f"an array is of type {dtype!r}; allowed are {', '.join(ARRAY_TYPES)}")
        wanted = tuple(shape)
        if offset < 0 or any(length < 0 for length in wanted):
            raise ValueError(f"an array of shape {wanted} at {offset} bytes is none. Try: give numbers from 0 on")
        end = offset + ARRAY_TYPES[dtype] * math.prod(wanted)
        if end > self.size:
            raise ValueError(
                f"an array of shape {wanted} and type {dtype} at {offset} bytes ends at {end}, and the segment has {self.size}. "
                "Try: make the segment larger"
            )
        return Window(self, offset, wanted, dtype)

    def view(self, offset: int, shape: Sequence[int], dtype: str) -> "NDArray[Any]":
        """An array in it, not copied: it changes as the candidate writes. Raises as `window` does."""
        return self.window(offset, shape, dtype).view()

    def close(self) -> None:
        """No more candidates can have it; the memory goes with the last who maps it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class TimingUnavailable(SandboxError):
    """This machine does not let the worker read the clock of a candidate's process."""


class ProcessEnded(Exception):
    """There is no process any more whose clock could be read."""


class Unstoppable(Exception):
    """A process does not stop in time."""


class ProcessClock:
    """Clock of the process behind the descriptor `handle` (a pidfd, which it owns) and, where a process `template` is named, of all that descends from that
    one. Raises `TimingUnavailable`, and `ProcessEnded` where it has ended already. Used by one thread."""

    def __init__(self, handle: int, template: int | None = None) -> None:
        self._handle = handle
        self._template = template
        self._pid = _pid(handle)
        self._counted: dict[int, int] = {}
        self._held: int | None = None
        # How far a reading may move while the process is stopped.
        self._slack = 0
        try:
            time.clock_gettime_ns(_number(self._pid))
        except OSError as error:
            if self._has_ended():
                raise ProcessEnded from error
            raise TimingUnavailable(
                f"the processor time of a candidate's process cannot be read here: {error}. {_REMEDY}"
            ) from error

    @property
    def holds(self) -> bool:
        """True while the process is stopped from here."""
        return self._held is not None

    def read(self) -> int:
        """Nanoseconds, when the process has come to rest; those up to now, where it goes on working."""
        pids = self._pids()
        # A process that has just answered is still on its way into the wait for the next request.
        before = self._total(pids)
        for _ in range(_READINGS):
            now = self._total(pids)
            if now == before:
                break
            before = now
        return before

    def stop(self) -> int:
        """Stops all threads of all its processes, and gives what they have used. Raises `Unstoppable` and `ProcessEnded`."""
        deadline = time.monotonic() + _STOPPING
        known: set[int] = set()
        while True:
            pids = self._pids()
            moving = [pid for pid in pids if not _RESTING.issuperset(thread_states(pid))]
            # What is started while others are stopped is found in the next round: the last one finds nothing new.
            # Twice the same processes, none of which moves: one look could miss a fork between two reads.
            if not moving and pids == known:
                self._await_sleep(pids)
                self._held = self.read()
                return self._held
            known = pids
            self._signal(moving, signal.SIGSTOP)
            if time.monotonic() > deadline:
                raise Unstoppable

    def is_still(self) -> bool:
        """Returns whether nothing has run since it was stopped: a program may have set itself an alarm that wakes it."""
        return self._held is None or self.read() - self._held <= self._slack

    def _await_sleep(self, pids: set[int]) -> None:
        """Until all that was told to stop has made its last steps; where the kernel does not tell, these are counted later."""
        deadline = time.monotonic() + _LEAVING
        while not self._slack and not all(map(threads_sleep, pids)):
            if time.monotonic() > deadline:
                self._slack = _LAST_STEPS

    def go_on(self) -> None:
        """Lets it go on."""
        self._held = None
        self._signal(self._pids(), signal.SIGCONT)

    def close(self) -> None:
        """Gives the descriptor back."""
        os.close(self._handle)

    def _pids(self) -> set[int]:
        if self._template is None:
            return {self._pid}
        return {self._pid, *descendants(self._template)}

    def _total(self, pids: set[int]) -> int:
        """Returns the nanoseconds of processes together; of one that has ended, what it had used when it was last looked at."""
        for pid in pids:
            try:
                self._counted[pid] = time.clock_gettime_ns(_number(pid))
            except OSError as error:
                if pid == self._pid:
                    raise ProcessEnded from error
        return sum(self._counted.values())

    def _signal(self, pids: "set[int] | list[int]", number: signal.Signals) -> None:
        for pid in pids:
            if pid == self._pid:
                try:
                    signal.pidfd_send_signal(self._handle, number)
                except ProcessLookupError as error:
                    raise ProcessEnded from error
            else:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def _has_ended(self) -> bool:
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(0))


def _number(pid: int) -> int:
    """Returns the number of a process's clock."""
    return (~pid << 3) | _OF_A_PROCESS


def _pid(handle: int) -> int:
    """As this process sees it, by what the kernel tells of a descriptor."""
    try:
        lines = (PROCESSES / "self" / "fdinfo" / str(handle)).read_text().splitlines()
    except OSError as error:
        raise TimingUnavailable(
            f"there is no /proc that tells which process is the candidate's: {error}. {_REMEDY}"
        ) from error
    pid = next((int(line.split()[1]) for line in lines if line.startswith("Pid:")), 0)
    if pid < 0:
        raise ProcessEnded
    if pid == 0:
        raise TimingUnavailable(f"the candidate's process has no number here. {_REMEDY}")
    return pid


@dataclass(frozen=True, slots=True)
class Timed:
    """Answer of a timed call, and what it took in seconds. `wall`: from the worker's go to the candidate's done, by the worker's clock. `cpu`: processor time of all the
    candidate's threads from go until it stood still. `outside`: its processor time since the timed call before that was not within this one: to look the
    function up, to hand over the answer where that comes after done, and whatever else it did. `span`: wall time around all of `cpu`, from before it went on until it
    stood still; of one thread no more than that can be processor time."""

    value: Any
    wall: float
    cpu: float
    outside: float
    span: float = 0.0


class Stopwatch:
    """Stopwatch of one session, whose failures it raises."""

    def __init__(self, dialogue: Conversation, clock: ProcessClock) -> None:
        self._dialogue = dialogue
        self._clock = clock
        # The reading up to which all processor time was told.
        self._until = clock.read()

    def lap(self, what: str, act: Callable[[], Any]) -> Timed:
        """Has the candidate work by `act`, which gives its answer, and leaves it stopped. Where it was stopped before, all that it does from then on counts."""
        since = time.perf_counter()
        stopped = self._until if self._clock.holds else None
        self.go_on(what)
        with self._following(what):
            began = self._clock.read() if stopped is None else stopped
            sent = time.perf_counter()
            value = act()
            came = time.perf_counter()
            ended = self._clock.stop()
        span = time.perf_counter() - since
        outside, self._until = began - self._until, ended
        return Timed(value, came - sent, (ended - began) * _NANO, outside * _NANO, span=span)

    def signal_lap(self, what: str, seconds: float | None) -> Timed:
        """A lap of a process that waits for one byte, works, and sends the same byte back."""
        return self.lap(what, lambda: self._dialogue.signal(what, seconds))

    def go_on(self, what: str) -> None:
        """Ends a stop. What was not still meanwhile may have written what the worker was reading: `SessionFailed`."""
        if not self._clock.holds:
            return
        with self._following(what):
            still = self._clock.is_still()
            self._clock.go_on()
            if not still:
                self._dialogue.fail(_woken(what))

    def add_answer(self, lap: Timed, value: Any, what: str) -> Timed:
        """Returns a lap with the answer that came after it, and with what that has taken."""
        with self._following(what):
            now = self._clock.read()
        outside, self._until = (now - self._until) * _NANO, now
        return replace(lap, value=value, outside=lap.outside + outside)

    def close(self) -> SessionFailed | None:
        """The session is over; gives what was wrong with its last stop, which nobody has ended."""
        failure = None
        with suppress(ProcessEnded):  # how it did, the dialogue knows
            failure = None if self._clock.is_still() else _woken("the last call")
        self._clock.close()
        return failure

    @contextmanager
    def _following(self, what: str) -> Iterator[None]:
        try:
            yield
        except ProcessEnded:
            self._dialogue.miss(what)
        except Unstoppable:
            self._dialogue.fail(SessionFailed(Status.TIMEOUT, f"the program cannot be stopped ({what})"))


def _woken(what: str) -> SessionFailed:
    return SessionFailed(Status.BAD_FRAME, f"the program went on while it was stopped ({what})")


def native_source() -> str:
    """The C source of a native session's loop, to be compiled with glue that defines `void evolve_call(void **pointers, const long *numbers)`, into one
    shared library."""
    return (Path(__file__).parent / "inner" / "native.c").read_text("utf-8")


class Native:
    """Made by `Session.native`. The candidate's process is the loop of `native_source` now, and can do nothing else any more."""

    def __init__(self, watch: Stopwatch, segment: Segment, library: str) -> None:
        self._watch = watch
        self._segment = segment
        self._library = library

    def call(self, pointers: Sequence[int] = (), numbers: Sequence[int] = (), *, seconds: float | None = None) -> Timed:
        """One call with pointers to these offsets in the segment, from `NATIVE_BLOCK` on, and with these numbers: at most 31 of each. The process stands
        still afterwards. Raises `SessionFailed`, and `ValueError` for what cannot be passed."""
        if len(pointers) > _MOST_ARGUMENTS or len(numbers) > _MOST_ARGUMENTS:
            raise ValueError(
                f"a call has {len(pointers)} pointers and {len(numbers)} numbers; {_MOST_ARGUMENTS} of each can be passed"
            )
        for offset in pointers:
            if not NATIVE_BLOCK <= offset < self._segment.size:
                raise ValueError(
                    f"a pointer leads to the offset {offset!r} of a segment of {self._segment.size} bytes. "
                    f"Try: give one from {NATIVE_BLOCK} on, which is where yours begins"
                )
        if any(not -_LARGEST <= number < _LARGEST for number in numbers):
            raise ValueError("a number does not fit into 64 bits")
        what = f"the call of {self._library}"
        places = (
            *pointers,
            *[0] * (_MOST_ARGUMENTS - len(pointers)),
            *numbers,
            *[0] * (_MOST_ARGUMENTS - len(numbers)),
        )
        _PLACES.pack_into(self._segment.memory, 0, len(pointers), len(numbers), *places)
        return self._watch.signal_lap(what, seconds)
