"""What of the machine's devices the processes of one box may use.

Invariant: a device file that is closed to a box is not in its slot's file tree, whatever a program asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Devices:
    """`environment` are variables by which drivers are told which devices a process sees, and `closed` the device files that are somebody else's."""

    environment: Mapping[str, str] = field(default_factory=dict)
    closed: tuple[str, ...] = ()


EVERY = Devices()
"""Whatever the judge may use."""
