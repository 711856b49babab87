"""Capabilities of a process, and how it gives them all up (https://man7.org/linux/man-pages/man7/capabilities.7.html).

Standard library and siblings only, for it lives in the template. Nothing here ever gives a capability, and after `drop` the process holds none, nor
gains one from a file that it executes as long as its bounding set is empty or it may gain no privileges."""

import ctypes
import errno
import struct

from evolve.sandbox import kernel

_MOST = 64
_THIS_PROCESS = struct.pack("=Ii", 0x20080522, 0)
"""Header of `capset`: version 3, sets of 64 bits in two halves, and 0 for this process."""
_NONE = (ctypes.c_uint32 * 6)()
"""Three empty sets in their halves."""


def empty_bounding() -> bool:
    """Empties the bounding set; returns False, with nothing changed, where that is not permitted (it needs CAP_SETPCAP, so: before a change of
    the user). Children inherit it, so once in a template is enough for all that it forks."""
    for number in range(_MOST):
        try:
            kernel.prctl(kernel.PR_CAPBSET_DROP, number)
        except OSError as error:
            if error.errno == errno.EPERM:
                return False
            if error.errno == errno.EINVAL:  # the first that this kernel has not
                return True
            raise
    return True


def drop() -> None:
    """Gives up every capability of this thread but the bounding set, for good. To be called after the change of the user, which needs
    capabilities."""
    # The ambient set goes along, for the kernel keeps in it only what is both permitted and inheritable.
    kernel.capset(_THIS_PROCESS, _NONE)
