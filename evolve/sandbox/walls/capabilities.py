"""The capabilities of a process and how it gives them all up (https://man7.org/linux/man-pages/man7/capabilities.7.html).

Standard library and siblings only, for it lives in the template. Invariant: nothing here ever gives a capability, and after `drop` the
process holds none, nor gains one from a file that it executes as long as its bounding set is empty or it may gain no privileges."""

import ctypes
import errno
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from evolve.sandbox import kernel

SETPCAP = 8
"""The capability that taking others out of the bounding set needs."""
_MOST = 64
_THIS_PROCESS = struct.pack("=Ii", 0x20080522, 0)
"""The header of `capget` and `capset`: version 3, sets of 64 bits in two halves, and 0 for this process."""
_NONE = (ctypes.c_uint32 * 6)()
"""Three empty sets in their halves."""


@dataclass(frozen=True, slots=True)
class Held:
    """What this thread holds; bit n of each is capability n. `bounding` is what it could still gain by executing a file."""

    effective: int
    permitted: int
    inheritable: int
    bounding: int
    ambient: int

    @property
    def nothing(self) -> bool:
        """Whether all are empty."""
        return not (self.effective | self.permitted | self.inheritable | self.bounding | self.ambient)


def held() -> Held:
    """What this thread holds now, asked of the kernel and not of /proc, which a box may lack."""
    effective, permitted, inheritable = _sets()
    known = list(_known())
    ambient = [
        number for number in known if kernel.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_IS_SET, number) == 1
    ]
    bounding = [number for number in known if kernel.prctl(kernel.PR_CAPBSET_READ, number) == 1]
    return Held(effective, permitted, inheritable, _bits(bounding), _bits(ambient))


def empty_bounding() -> bool:
    """Empties the bounding set; False, with nothing changed, where that is not permitted (it needs `SETPCAP`, so: before a change of the
    user). Children inherit it, so once in a template is enough for all that it forks."""
    if not _sets()[0] >> SETPCAP & 1:
        return False
    for number in _known():
        kernel.prctl(kernel.PR_CAPBSET_DROP, number)
    return True


def drop(*, bounding: bool = True) -> None:
    """Gives up every capability of this thread, for good; the bounding set too where that is permitted and `bounding`, which a template has
    done for its children. To be called after the change of the user, which needs capabilities. No question is asked first: it would cost a
    fork more than the answer saves."""
    if bounding:
        empty_bounding()
    # The ambient set goes along, for the kernel keeps in it only what is both permitted and inheritable.
    kernel.capset(_THIS_PROCESS, _NONE)


def _sets() -> tuple[int, int, int]:
    """The effective, permitted and inheritable set."""
    halves = _halves()
    low, high = halves[:3], halves[3:]
    effective, permitted, inheritable = (here | there << 32 for here, there in zip(low, high, strict=True))
    return effective, permitted, inheritable


def _halves() -> "ctypes.Array[ctypes.c_uint32]":
    halves = (ctypes.c_uint32 * 6)()
    kernel.capget(_THIS_PROCESS, halves)
    return halves


def _known() -> Iterator[int]:
    """The capabilities that this kernel has; it refuses to tell about the first that it has not."""
    for number in range(_MOST):
        try:
            kernel.prctl(kernel.PR_CAPBSET_READ, number)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return
        yield number


def _bits(numbers: list[int]) -> int:
    return sum(1 << number for number in numbers)
