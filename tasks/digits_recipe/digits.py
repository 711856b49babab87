"""The images and their labels, and how they are moved. See README.md for where they come from.

Invariant: the file with the labels lies in the task's folder, which programs cannot see."""

import functools
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve import EvolveError

SIDE = 8
_FILE = Path(__file__).with_name("digits.npz")
_MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))


def data(parameters: Mapping[str, Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """1,797 images as rows of 64 numbers from 0 to 16, and their labels from 0 to 9."""
    if importlib.util.find_spec("sklearn") is not None:
        raise EvolveError(
            "scikit-learn is installed in this Python, and programs could read these digits with their labels there. "
            "Do: name a Python without it as `python` under [environment] in a copy of the task, or uninstall it"
        )
    return _read()


@functools.cache
def _read() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    with np.load(_FILE, allow_pickle=False) as found:
        return found["inputs"].astype(np.float32), found["targets"].astype(np.int64)


def disturbed(inputs: NDArray[np.float32], rng: Generator, parameters: Mapping[str, Any]) -> NDArray[np.float32]:
    """The images as they are, or with `shift` each moved by so many pixels to a side that is drawn for it; what comes in is paper."""
    shift = parameters["shift"]
    if not shift:
        return inputs
    if shift not in range(1, SIDE):
        raise EvolveError(f"images of {SIDE} pixels cannot be moved by {shift!r}. Do: set shift to 0, or to 1")
    images = inputs.reshape(-1, SIDE, SIDE)
    moves = rng.integers(len(_MOVES), size=len(images))
    moved = np.zeros_like(images)
    for number, (down, right) in enumerate(_MOVES):
        chosen = moves == number
        moved[chosen] = _moved(images[chosen], down * shift, right * shift)
    return moved.reshape(inputs.shape)


def _moved(images: NDArray[np.float32], down: int, right: int) -> NDArray[np.float32]:
    wide = np.pad(images, ((0, 0), (SIDE, SIDE), (SIDE, SIDE)))
    return wide[:, SIDE - down : 2 * SIDE - down, SIDE - right : 2 * SIDE - right]
