"""Equal programs of two boxes lie at equal addresses: where they lie is a part of how fast they are."""

import ctypes
import sys

import pytest

from evolve.sandbox.box import Box
from evolve.types import Limits, Program

pytestmark = pytest.mark.integration

WHERE = """
import ctypes
import mmap

def where():
    text, found = bytearray(100), ctypes.c_int()
    pages = mmap.mmap(-1, 4096)
    places = [ctypes.addressof((ctypes.c_char * 1).from_buffer(held)) for held in (text, pages)]
    return [*places, ctypes.addressof(found), ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value]
"""
_DRAWN = 0x0040000


def _can_be_fixed() -> bool:
    """Some containers forbid to ask for it."""
    if sys.platform != "linux":
        return False
    system = ctypes.CDLL(None)
    before = system.personality(0xFFFFFFFF)
    allowed = bool(system.personality(before | _DRAWN) >= 0)
    system.personality(before)
    return allowed


def places() -> list[int]:
    """Of things of a program, in a box that was made for it."""
    box = Box(Limits(preload=()))
    try:
        with box.open(Program({"seed.py": WHERE}), "seed", 20) as session:
            found: list[int] = session.call("where")
            return found
    finally:
        box.close()


@pytest.mark.skipif(not _can_be_fixed(), reason="addresses cannot be fixed here")
def test_equal_programs_of_two_boxes_have_equal_addresses() -> None:
    """What it has allocated, what it has mapped, and where the C library lies."""
    assert places() == places()
