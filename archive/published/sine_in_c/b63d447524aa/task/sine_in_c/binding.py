"""The C function as the judge calls it: the library lies in the folder where a session starts."""

import ctypes
from pathlib import Path

_sine = ctypes.CDLL(str(Path("sine.so").resolve())).sine
_sine.argtypes = [ctypes.c_double]
_sine.restype = ctypes.c_double


def sines(angles):
    """The program's sine of each angle."""
    return [_sine(angle) for angle in angles]
