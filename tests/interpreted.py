"""A small interpreter of the filters that answer system calls, for checks without a kernel."""

import struct
from collections.abc import Sequence

_RETURN, _AND, _JUMP, _IF_EQUAL, _IF_AT_LEAST, _LOAD = 0x06, 0x54, 0x05, 0x15, 0x35, 0x20


def answer(program: bytes, machine: int, number: int, arguments: Sequence[int] = ()) -> tuple[int, int]:
    """What the program answers to a call, and how many instructions that took."""
    data = struct.pack("=IIQ6Q", number, machine, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    code = list(struct.iter_unpack("=HBBI", program))
    held = place = steps = 0
    while True:
        what, when_true, when_false, value = code[place]
        place, steps = place + 1, steps + 1
        if what == _RETURN:
            return value, steps
        if what == _LOAD:
            (held,) = struct.unpack_from("=I", data, value)
        elif what == _AND:
            held &= value
        elif what == _JUMP:
            place += value
        else:
            holds = held == value if what == _IF_EQUAL else held >= value
            assert what in {_IF_EQUAL, _IF_AT_LEAST}
            place += when_true if holds else when_false
