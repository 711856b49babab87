"""Leases on cores and GPUs, taken right before a stage runs and given back after it, of what `--devices` grants.

Leases are locks on open files, which the kernel releases when a process ends, however it ends. Named locks are taken several at a time out of pools; the machine
as a whole is shared by many or held by one alone. A stage that needs one core like any other leases nothing, and waits only while another stage
has the machine to itself.

No deadlock: a process that waits for names holds none of them, and a process that waits for the machine already holds all else. Fairness: processes that choose among the same
names queue, and one that wants the machine alone closes a gate, so that those that share it come to an end."""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from evolve.devices.inventory import Gpu, Unit, choose_threads, device_names, numbers, ranges
from evolve.sandbox.machine.identity import own_folder
from evolve.types import ConfigError, Needs, SandboxError

_DO = "Try: write cpu, cpu:0-3, gpu, gpu:0,1 or a GPU's uuid; `evolve devices` lists what there is"


@dataclass(frozen=True, slots=True)
class Grant:
    """The threads of cores that may be used, and the GPUs, by their uuids, that may be leased; None: all of them. `folder` is where the leases lie; empty: where
    they always do."""

    cores: tuple[int, ...] | None = None
    gpus: tuple[str, ...] | None = None
    folder: str = ""


EVERYTHING = Grant()
"""All cores that the engine may use, and all GPUs."""


def parse(words: Sequence[str], gpus: Sequence[Gpu], cores: Collection[int]) -> Grant:
    """Parses words such as `cpu`, `cpu:0-3`, `gpu`, `gpu:0,1` and a uuid; raises `ConfigError`.
    Words about cores alone grant no GPU, and words about GPUs alone all cores; no words grant everything."""
    if not words:
        return EVERYTHING
    chosen_cores: set[int] = set()
    chosen_gpus: list[str] = []
    known = {gpu.index: gpu.uuid for gpu in reversed(gpus)}
    for word in words:
        kind, _, which = word.partition(":")
        if kind == "cpu":
            chosen_cores.update(_parse_numbers(word, which, cores))
        elif kind == "gpu" and gpus:
            chosen_gpus += [known[index] for index in _parse_numbers(word, which, sorted(known))]
        elif word in known.values():
            chosen_gpus.append(word)
        else:
            what = "no GPU was found on this machine" if kind == "gpu" else "there is no such device"
            raise ConfigError(f"--devices {word}: {what}. {_DO}")
    return Grant(tuple(sorted(chosen_cores)) or None, tuple(dict.fromkeys(chosen_gpus)))


def _parse_numbers(word: str, which: str, known: Collection[int]) -> list[int]:
    """Returns the numbers behind the colon of a word; without any, all that are known."""
    try:
        wanted = numbers(which) or list(known)
    except ValueError as error:
        raise ConfigError(f"--devices {word}: {error}. {_DO}") from None
    missing = set(wanted) - set(known)
    if missing:
        what = "core" if word.startswith("cpu") else "GPU"
        raise ConfigError(f"--devices {word}: there is no {what} {ranges(missing)} here, but {ranges(known)}. {_DO}")
    return wanted


def filter_gpus(gpus: Sequence[Gpu], grant: Grant, environment: Mapping[str, str] = os.environ) -> list[Gpu]:
    """Returns the GPUs that may be leased. Without `--devices`, `CUDA_VISIBLE_DEVICES` chooses:
    uuids, their beginnings, or numbers in the order of the bus; as for CUDA, what follows a name that is no device's does not count."""
    if grant.gpus is not None:
        return [gpu for gpu in gpus if gpu.uuid in grant.gpus]
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return list(gpus)
    named: list[Gpu] = []
    # Ends at the first name that is no device's, as CUDA itself does.
    for word in filter(None, map(str.strip, visible.split(","))):
        matching = [
            gpu for gpu in gpus if word == str(gpu.index) or (word.startswith("GPU-") and gpu.uuid.startswith(word))
        ]
        if len(matching) != 1:
            break
        named += matching
    return [gpu for gpu in gpus if gpu in named]


_SUFFIX = ".lease"
_CORE, _GPU = "core-", "gpu-"
_MACHINE, _GATE, _LINE = "machine", "gate", "line-"
_PAUSE_SECONDS = 0.01
_YIELD_SECONDS = 0.005
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


@dataclass(frozen=True, slots=True)
class Lease:
    """`cores` are the threads to run on; none: any that the worker may use."""

    cores: tuple[int, ...] = ()
    gpus: tuple[Gpu, ...] = ()

    @property
    def device(self) -> str:
        """Name of the device that is measured on: the GPUs' name, else `cpu`."""
        return device_names(self.gpus) or "cpu"


class Leases:
    """Leases on `gpus` and `units` (the threads of each core). Used by one thread; one lease at a time."""

    def __init__(self, gpus: Sequence[Gpu], units: Mapping[int, Unit], folder: Path) -> None:
        self._gpus = {_GPU + gpu.uuid: gpu for gpu in gpus}
        self._units = {f"{_CORE}{core}": unit for core, unit in units.items()}
        self._locks = Locks(folder)

    @contextmanager
    def lease(self, needs: Needs, what: str, waits: Callable[[], None] = lambda: None) -> Iterator[Lease]:
        """Leases what is needed while the block runs. `what` names the task and stage; `waits` is called when it has to wait. Raises `SandboxError` for what this
        machine never has."""
        with self._locks.acquire(self._pools(needs), what, alone=needs.exclusive, waits=waits) as names:
            # A stage that has the machine alone has all its cores, without a lock on any.
            units = [unit for name, unit in self._units.items() if name in names or needs.exclusive]
            gpus = tuple(gpu for name, gpu in self._gpus.items() if name in names)
            yield Lease(choose_threads(units, needs.cores), gpus)

    def _pools(self, needs: Needs) -> list[LockPool]:
        threads = sum(map(len, self._units.values()))
        if needs.gpus > len(self._gpus) or needs.cores > threads:
            raise SandboxError(
                f"a stage needs {format_needs(needs)}, and {threads} cores and {len(self._gpus)} GPUs may be leased here. "
                "Try: grant more with --devices, or use another machine; `evolve devices` lists what there is"
            )
        some = (needs.cores > 1 or needs.pinned) and not needs.exclusive
        cores = min(needs.cores, len(self._units)) if some else 0
        return [LockPool(tuple(self._units), cores), LockPool(tuple(self._gpus), needs.gpus)]


def format_needs(needs: Needs) -> str:
    """Formats needs for people."""
    parts = [f"{needs.cores} core{'s' if needs.cores > 1 else ''}"]
    parts += [f"{needs.gpus} GPU{'s' if needs.gpus > 1 else ''}"] if needs.gpus else []
    parts += ["the machine to itself"] if needs.exclusive else []
    parts += ["pinned"] if needs.pinned else []
    return ", ".join(parts)


class Locks:
    """The locks of one folder, as one process takes them. Used by one thread; one `acquire` at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._had_machine = False

    @contextmanager
    def acquire(
        self, pools: Sequence[LockPool], what: str, *, alone: bool, waits: Callable[[], None] = lambda: None
    ) -> Iterator[frozenset[str]]:
        """Takes as many of each pool as it says, and a share of the machine, or the machine `alone`; yields the names. Calls `waits` each time it
        has to wait for others. `holders` shows `what`."""
        with ExitStack() as files:
            wanted = [pool for pool in pools if pool.count]
            taken = self._take_pools(wanted, files, waits) if wanted else {}
            # Signed before the machine is waited for: `evolve devices` then says who holds them meanwhile.
            _sign(taken.values(), what, files)
            machine = self._take_machine(files, waits, alone=alone)
            if alone:
                _sign([machine], what, files)
            yield frozenset(taken)

    def _take_pools(self, pools: Sequence[LockPool], files: ExitStack, waits: Callable[[], None]) -> dict[str, int]:
        """Returns the open files of the named locks; `files` closes them, which releases the locks."""
        # Whoever chooses among the same names stands in the same line; others pass.
        every = sorted({name for pool in pools for name in pool.names})
        with ExitStack() as queue:
            line = self._open(_LINE + hashlib.sha256("\n".join(every).encode()).hexdigest()[:16], queue)
            _lock(line, fcntl.LOCK_EX, waits)
            while (taken := self._try_pools(pools, files)) is None:
                waits()
                time.sleep(_PAUSE_SECONDS)
        return taken

    def _try_pools(self, pools: Sequence[LockPool], files: ExitStack) -> dict[str, int] | None:
        """Takes all locks that are wanted, or returns None and takes none."""
        with ExitStack() as attempt:
            taken: dict[str, int] = {}
            for pool in pools:
                free = (name for name in pool.names if self._try(name, taken, attempt))
                if len(list(islice(free, pool.count))) < pool.count:
                    return None
            files.push(attempt.pop_all())
            return taken

    def _try(self, name: str, taken: dict[str, int], files: ExitStack) -> bool:
        number = self._open(name, files)
        if _try_lock(number, fcntl.LOCK_EX):
            taken[name] = number
        return name in taken

    def _take_machine(self, files: ExitStack, waits: Callable[[], None], *, alone: bool) -> int:
        """Takes a share of the machine, or all of it; returns the file of that lock."""
        if alone and self._had_machine:
            time.sleep(_YIELD_SECONDS)  # the kernel's locks are not fair: others would never wake up in time
        self._had_machine = alone
        kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        # Whoever wants the machine alone holds the gate while it waits, so that no new share is taken.
        gate, machine = self._open(_GATE, files), self._open(_MACHINE, files)
        _lock(gate, kind, waits)
        _lock(machine, kind, waits)
        if not alone:
            fcntl.flock(gate, fcntl.LOCK_UN)
        return machine

    def _open(self, name: str, files: ExitStack) -> int:
        """Opens the file of a lock. Each time anew, so that a file that a cleaner of temporary folders removed is the same lock for everybody again."""
        try:
            number = os.open(
                self._folder / (name + _SUFFIX), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
        except OSError as error:
            raise SandboxError(
                f"the lease {name!r} cannot be taken: {error}. Try: make {self._folder} a folder that this user may write"
            ) from error
        files.callback(os.close, number)
        return number


def leases_folder() -> Path:
    """Returns the folder that all engines of this user on this machine share, whatever their variables say; raises `SandboxError` where it cannot be made."""
    try:
        return own_folder(f"evolve-leases-{os.geteuid()}")
    except OSError as error:
        raise SandboxError(
            f"devices cannot be leased: {error}. Try: make room there, or remove what is in the way and not this user's"
        ) from error


def holders(folder: Path) -> dict[str, Holder]:
    """Returns the present holders by the name of their lock; `machine` is there where a process has it alone. Looking takes each lock for a moment; a process that wants it then
    tries again."""
    found = {}
    for file in sorted(folder.glob(f"*{_SUFFIX}")):
        name = file.name.removesuffix(_SUFFIX)
        if name == _GATE or name.startswith(_LINE):
            continue
        try:
            number = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:  # it was removed meanwhile
            continue
        try:
            if not _try_lock(number, fcntl.LOCK_SH):
                found[name] = _parse_holder(name, os.pread(number, _MOST, 0))
        finally:
            os.close(number)
    return found


def _parse_holder(name: str, words: bytes) -> Holder:
    try:
        written = json.loads(words)
        return Holder(name, int(written["pid"]), str(written["what"]), float(written["since"]))
    except (ValueError, TypeError, KeyError):  # it has not been written yet
        return Holder(name)


def _sign(numbers: Iterable[int], what: str, files: ExitStack) -> None:
    """Writes this process into the files of locks, until `files` closes them."""
    words = json.dumps(asdict(Holder("", os.getpid(), what[:_SHOWN], time.time()))).encode()
    for number in numbers:
        files.callback(os.ftruncate, number, 0)
        os.ftruncate(number, 0)
        os.pwrite(number, words, 0)


def _lock(number: int, kind: int, waits: Callable[[], None]) -> None:
    if not _try_lock(number, kind):
        waits()
        fcntl.flock(number, kind)


def _try_lock(number: int, kind: int) -> bool:
    try:
        fcntl.flock(number, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
