"""Locks that processes of one user compete for, as open files that the kernel lets go of when a process ends, however it ends.

Two kinds: named ones, of which a process takes as many as it wants out of several, and the machine as a whole, which many share or one has alone. What keeps this free of
deadlocks: nobody holds a part of what it wants while it waits for the rest, and who waits for the machine holds all else and is
waited for by nobody who has the machine. What keeps it fair: those who choose among the same names stand in a line, and who wants the machine alone closes a gate, so
that those who share it come to an end.

Invariant: a file's name is the same lock for everybody: one that was removed and made anew is noticed when it is taken."""

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from evolve.sandbox.machine.identity import own_folder
from evolve.types import SandboxError

_SUFFIX = ".lease"
_MACHINE, _GATE, _WAITING, _LINE = "machine", "gate", "waiting", "line-"
_FIRST_PAUSE, _LONGEST_PAUSE, _SLOWER = 0.002, 0.1, 1.5
"""Seconds between two tries of who is first in line."""
_COURTESY = 0.005
"""Seconds for those who wait to take what was given back, before it is wanted again."""
_MOST = 1 << 12
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class LockPool:
    """Names of which `count` locks are wanted; the first ones are preferred."""

    names: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Holder:
    """Process that holds a lock, its purpose, and since when, in seconds since 1970 (0: not written yet)."""

    name: str
    pid: int = 0
    what: str = ""
    since: float = 0.0


def leases_folder() -> Path:
    """Returns the folder that all engines of this user on this machine share, whatever their variables say; raises `SandboxError` where it cannot be made."""
    try:
        return own_folder(f"evolve-leases-{os.geteuid()}")
    except OSError as error:
        raise SandboxError(
            f"devices cannot be leased: {error}. Do: make room there, or remove what is in the way and not this user's"
        ) from error


class Locks:
    """The locks of one folder, as one process takes them. Used by one thread; one `acquire` at a time."""

    def __init__(
        self, folder: Path, sleep: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder = folder
        self._sleep = sleep
        self._clock = clock
        self._kept: dict[str, int] = {}
        self._latest: frozenset[str] = frozenset()
        self._had_it = False

    def open(self) -> None:
        """Opens now what stays open, so that it is known before the first lease whether there can be any; raises `SandboxError`."""
        for name in (_GATE, _MACHINE, _WAITING):
            self._standing(name)

    def close(self) -> None:
        """Lets go of the files that are kept open."""
        for number in self._kept.values():
            os.close(number)
        self._kept.clear()

    @contextmanager
    def acquire(
        self, pools: Sequence[LockPool], what: str, *, alone: bool, waits: Callable[[], None] = lambda: None
    ) -> Iterator[frozenset[str]]:
        """Takes as many of each pool as it says, and a share of the machine, or the machine `alone`; gives the names. Calls `waits` each time it
        has to wait for others. `what` is told to whoever asks who has a lock."""
        with ExitStack() as files:
            wanted = [pool for pool in pools if pool.count]
            taken = self._some(wanted, files, waits) if wanted else {}
            self._sign(taken.values(), what, files)
            if alone:
                self._give_way()
            machine = self._machine(files, waits, alone=alone)
            self._had_it = alone
            if alone:
                self._sign([machine], what, files)
            yield frozenset(taken)

    def _give_way(self) -> None:
        """Lets waiting processes go first after this one had the machine alone; the kernel would not."""
        if self._had_it:
            waiting = self._standing(_WAITING)
            if _at_once(waiting, fcntl.LOCK_EX):
                fcntl.flock(waiting, fcntl.LOCK_UN)
            else:
                self._sleep(_COURTESY)

    def _sign(self, numbers: Iterable[int], what: str, files: ExitStack) -> None:
        """Writes who has these locks into them; that goes with the locks."""
        for number in numbers:
            words = json.dumps(asdict(Holder("", os.getpid(), what[:_SHOWN], self._clock()))).encode()
            files.callback(os.ftruncate, number, 0)
            os.ftruncate(number, 0)
            os.pwrite(number, words, 0)

    def _some(self, pools: Sequence[LockPool], files: ExitStack, waits: Callable[[], None]) -> dict[str, int]:
        """The named locks, by their names; they are given back with `files`."""
        every = sorted({name for pool in pools for name in pool.names})
        line = self._open_file(_LINE + hashlib.sha256("\n".join(every).encode()).hexdigest()[:16])
        try:
            _lock(line, fcntl.LOCK_EX, waits)
            pause = _FIRST_PAUSE
            while (taken := self._try_pools(pools)) is None:
                waits()
                self._sleep(pause)
                pause = min(_LONGEST_PAUSE, pause * _SLOWER)
        finally:
            os.close(line)
        for number in taken.values():
            files.callback(os.close, number)
        self._latest = frozenset(taken)
        return taken

    def _try_pools(self, pools: Sequence[LockPool]) -> dict[str, int] | None:
        """Takes all locks that are wanted, or returns None and takes none. The latest ones are tried first, because their caches are warm."""
        with ExitStack() as files:
            taken: dict[str, int] = {}
            for pool in pools:
                before = len(taken)
                for name in sorted(pool.names, key=lambda name: name not in self._latest):
                    if len(taken) - before == pool.count:
                        break
                    number = self._open_file(name)
                    if _at_once(number, fcntl.LOCK_EX) and self._is_current(name, number):
                        taken[name] = number
                        files.callback(os.close, number)
                    else:
                        os.close(number)
                if len(taken) - before < pool.count:
                    return None
            files.pop_all()
            return taken

    def _machine(self, files: ExitStack, waits: Callable[[], None], *, alone: bool) -> int:
        """A share of the machine, or all of it; gives the file of that lock."""
        kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        gate, machine = self._standing(_GATE), self._standing(_MACHINE)
        self._wait_for(gate, kind, waits)
        files.callback(fcntl.flock, gate, fcntl.LOCK_UN)
        self._wait_for(machine, kind, waits)
        files.callback(fcntl.flock, machine, fcntl.LOCK_UN)
        if not alone:
            fcntl.flock(gate, fcntl.LOCK_UN)
        return machine

    def _wait_for(self, number: int, kind: int, waits: Callable[[], None]) -> None:
        """As `_lock`, and others can see that somebody waits."""
        if _at_once(number, kind):
            return
        waits()
        waiting = self._standing(_WAITING)
        fcntl.flock(waiting, fcntl.LOCK_SH)
        try:
            fcntl.flock(number, kind)
        finally:
            fcntl.flock(waiting, fcntl.LOCK_UN)

    def _standing(self, name: str) -> int:
        """A file that stays open from one time to the next."""
        number = self._kept.get(name)
        if number is not None and self._is_current(name, number):
            return number
        if number is not None:
            os.close(number)
        self._kept[name] = self._open_file(name)
        return self._kept[name]

    def _open_file(self, name: str) -> int:
        try:
            return os.open(
                self._folder / (name + _SUFFIX), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
        except OSError as error:
            raise SandboxError(
                f"the lease {name!r} cannot be taken: {error}. Do: make {self._folder} a folder that this user may write"
            ) from error

    def _is_current(self, name: str, number: int) -> bool:
        """Returns whether the open file is the one that other processes find by its name."""
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.stat(self._folder / (name + _SUFFIX)), os.fstat(number))  # noqa: PTH116 a hot path
        return False


def holders(folder: Path) -> dict[str, Holder]:
    """Returns the present holders by the name of their lock; `machine` is there where a process has it alone. To look takes each lock for a moment; who wants it then
    tries again."""
    found = {}
    for file in sorted(folder.glob(f"*{_SUFFIX}")):
        name = file.name.removesuffix(_SUFFIX)
        if name in (_GATE, _WAITING) or name.startswith(_LINE):
            continue
        try:
            number = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:  # it was removed meanwhile
            continue
        try:
            if not _at_once(number, fcntl.LOCK_SH):
                found[name] = _parse_holder(name, os.pread(number, _MOST, 0))
        finally:
            os.close(number)
    return found


def _parse_holder(name: str, words: bytes) -> Holder:
    try:
        told = json.loads(words)
        return Holder(name, int(told["pid"]), str(told["what"]), float(told["since"]))
    except (ValueError, TypeError, KeyError):  # it has not been written yet
        return Holder(name)


def _lock(number: int, kind: int, waits: Callable[[], None]) -> None:
    """Waits for a lock where it must."""
    if not _at_once(number, kind):
        waits()
        fcntl.flock(number, kind)


def _at_once(number: int, kind: int) -> bool:
    try:
        fcntl.flock(number, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
