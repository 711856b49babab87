"""What a stage was measured on, as its evaluation tells of it.

Invariant: without leases there is a seat all the same, which says so."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from evolve.types import Stage


@dataclass(slots=True)
class Seat:
    """`device` is the GPUs' name, else `cpu`; `waited` in seconds; `conditions` is known when the stage is over: how busy and how fast the device was, empty where nobody asked."""

    device: str = "cpu"
    waited: float = 0.0
    conditions: str = ""


Take: TypeAlias = Callable[[Stage], AbstractContextManager[Seat]]
"""What takes a seat for a stage, for as long as that runs; raises `EvolveError` where this machine has none."""


@contextmanager
def anywhere(stage: Stage) -> Iterator[Seat]:
    """No lease: where nothing competes."""
    yield Seat()
