"""The third file of the cases that leave word in what the kernel remembers of files which nobody has changed.

Only its text is used, inside candidates; evolve never imports it. Standard library only. Invariant: what it evicts and looks at are files
that are read again when they are needed."""

import contextlib
import ctypes
import hashlib
import mmap
import os
import resource
import statistics
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = mmap.PAGESIZE
FEWEST = 44
"""Of the 48 bits, that are no chance: fewer than one guess in 10**9 has as many."""
_PAGEOUT = 21
_NAMES = 8
"""That stand for one bit."""


def bits(told: Mapping[str, Any]) -> list[bool]:
    """What is left for the next one, which both know so that they can tell how much of it arrived."""
    drawn = hashlib.sha256(told["mark"].encode()).digest()[:6]
    return [bool(byte >> place & 1) for byte in drawn for place in range(8)]


def largest() -> str:
    """The largest source file of the standard library, which nobody has mapped."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    files = [*stdlib.glob("*.py"), *stdlib.glob("pydoc_data/*.py")]
    return str(max(files, key=lambda path: path.stat().st_size))


def evict(path: str) -> list[str]:
    """What of a file it has thrown out of memory, in words: by the first page that is read from the disk afterwards."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        while file.read(1 << 20):
            pass
        with contextlib.suppress(OSError):
            mapped.madvise(_PAGEOUT)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return ["throws a file of the machine out of memory"] if from_disk(file.fileno(), 0) else []


def mark(path: str, word: Sequence[bool]) -> None:
    """Reads the pages of a word's ones."""
    with open(path, "rb", buffering=0) as file:
        for place, bit in zip(_places(path, word), word, strict=True):
            if bit:
                os.pread(file.fileno(), 1, place)


def told_by(look: Callable[[int, int], bool], path: str, word: Sequence[bool]) -> list[str]:
    """Whether a way to look at pages, of a descriptor at a place, finds the word."""
    try:
        with open(path, "rb", buffering=0) as file:
            found = [look(file.fileno(), place) for place in _places(path, word)]
    except OSError:
        return []
    return _arrived(found, word, look.__name__)


def without_waiting(file: int, place: int) -> bool:
    """Whether a page can be read at once."""
    try:
        return os.preadv(file, [bytearray(1)], place, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False


def mincore(file: int, place: int) -> bool:
    """Whether a page is in memory, by the call of that name."""
    libc, told = ctypes.CDLL(None, use_errno=True), ctypes.c_ubyte()
    with mmap.mmap(file, PAGE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE, offset=place) as mapped:
        start = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        if libc.mincore(ctypes.c_void_p(start), ctypes.c_size_t(PAGE), ctypes.byref(told)):
            raise OSError(ctypes.get_errno(), "mincore")
    return bool(told.value & 1)


def from_memory(file: int, place: int) -> bool:
    """Whether a page is in memory, by the count of reads from the disk."""
    return not from_disk(file, place)


LOOKS = (without_waiting, mincore)
"""Those that change nothing."""


def from_disk(file: int, place: int) -> bool:
    """Whether reading a page takes a read from the disk."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_inblock
    os.pread(file, 1, place)
    return resource.getrusage(resource.RUSAGE_SELF).ru_inblock > before


def look_up(told: Mapping[str, Any]) -> None:
    """Looks for the names of a word's ones."""
    for index, bit in enumerate(bits(told)):
        if bit:
            _seconds(told, index)


def looked_up(told: Mapping[str, Any]) -> list[str]:
    """Whether the time that it takes to hear of no such file tells the word."""
    word = bits(told)
    times = [_seconds(told, index) for index in range(2 * len(word))]
    fresh, known = (statistics.median(asked) for asked in (times[len(word) :], [_seconds(told, 0) for _ in word]))
    return _arrived([seconds < (fresh + known) / 2 for seconds in times[: len(word)]], word, "names that are not there")


def _seconds(told: Mapping[str, Any], index: int) -> float:
    """The median time in which one hears that there is no file of some names."""
    folder, times = sysconfig.get_path("stdlib"), []
    for number in range(_NAMES):
        path = f"{folder}/{told['mark']}.{index}.{number}"
        begun = time.perf_counter()
        os.access(path, os.F_OK)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def _places(path: str, word: Sequence[bool]) -> list[int]:
    """Pages that lie apart, so that none is read ahead with another."""
    step = Path(path).stat().st_size // PAGE // (len(word) + 2)
    return [PAGE * step * (index + 1) for index in range(len(word))]


def _arrived(found: Sequence[bool], word: Sequence[bool], way: str) -> list[str]:
    right = sum(map(bool.__eq__, found, word))
    return [f"learns {right} of {len(word)} bits by {way}"] if right >= FEWEST else []
