"""The texts: what is trained on, which everybody may read, and what is compressed, which no program may.

Invariant: a text that is compressed lies in the task's folder alone, and in no package of the Python that programs run in."""

import functools
import gzip
import hashlib
import importlib.util
import sysconfig
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evolve import EvolveError

TEXTS = ("bottle", "markdown2")
"""Modules by other authors, see README.md: one to search with, one that is held out."""
Bytes = NDArray[np.uint8]


def compressed(text: str, start: int, count: int) -> Bytes:
    """A piece of a text; raises `EvolveError` where there is none, and where programs could read it elsewhere."""
    if text not in TEXTS:
        raise EvolveError(f"there is no text {text!r}. Do: set text to one of {', '.join(TEXTS)}")
    if importlib.util.find_spec(text) is not None:
        raise EvolveError(
            f"the package {text} is installed in this Python, where programs could read the text that they are to predict. "
            "Do: uninstall it, or name a Python without it as `python` under [environment] in a copy of the task"
        )
    whole = _whole(text)
    if not (start >= 0 and 1 <= count <= len(whole) - start):
        raise EvolveError(
            f"{text} has {len(whole):,} bytes, and no {count} of them from {start} on. Do: set start and count within them"
        )
    return whole[start : start + count]


@functools.cache
def _whole(text: str) -> Bytes:
    return np.frombuffer(gzip.decompress(Path(__file__).with_name(f"{text}.py.gz").read_bytes()), dtype=np.uint8)


@functools.cache
def training(count: int) -> Bytes:
    """The first bytes of the standard library's own modules, in the order of the hashes of their names: those with a last digit below 8 of ten."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    chosen = sorted((digest, path) for path in folder.glob("*.py") if (digest := _digest(path)) % 10 < 8)
    found = b"".join(path.read_bytes() for _, path in chosen)
    if not 1 <= count <= len(found):
        raise EvolveError(
            f"the standard library in {folder.name} has {len(found):,} bytes to train on, got {count}. Do: set train_bytes to fewer, or use a Python with its sources"
        )
    return np.frombuffer(found[:count], dtype=np.uint8)


def _digest(path: Path) -> int:
    return int(hashlib.sha256(path.name.encode()).hexdigest(), 16)
