"""What a recorder says that a program's launches are, parsed: nothing of it is believed, and what is parsed is all that is run.

Invariant: an address that a launch passes lies in one of the call's arrays; sizes are such that the driver takes them, or refuses them in the runner, where nothing else is at stake."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolve_kernel.arguments import Argument
from evolve_kernel.backend import Refused

Call = tuple[Argument, ...]
_MOST_KERNELS, _MOST_LAUNCHES, _MOST_PARAMETERS = 64, 256, 128
_LONGEST_NAME = 2000
_LARGEST_GRID, _LARGEST_BLOCK, _LARGEST_SHARED = (1 << 31) - 1, 1024, 256 << 10
_LARGEST_NUMBER = 8
_RESOURCES = ("registers", "spilled", "shared")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled kernel; `resources` are what the recorder claims of it."""

    name: str
    binary: bytes
    resources: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    """One launch: which kernel, its sizes, and parameters that are each a place (an array, by its position, and an offset in bytes) or the bytes of a number."""

    kernel: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    parameters: tuple[tuple[int, int] | bytes, ...]

    def told(self, places: Sequence[int]) -> list[Any]:
        """As the runner takes it, with the arrays at these places."""
        parameters = [one.hex() if isinstance(one, bytes) else places[one[0]] + one[1] for one in self.parameters]
        return [self.kernel, [*self.grid], [*self.block], self.shared, parameters]


@dataclass(frozen=True, slots=True)
class Recording:
    """All kernels of a program, and the launches of each call that it was asked for."""

    kernels: tuple[Kernel, ...]
    launches: Mapping[Call, tuple[RecordedLaunch, ...]]

    @property
    def facts(self) -> dict[str, float]:
        """Descriptors: the size of the code, and what its largest kernel takes."""
        size = sum(len(kernel.binary) for kernel in self.kernels)
        most = {name: float(max(kernel.resources[name] for kernel in self.kernels)) for name in _RESOURCES}
        return {"log2_code": math.log2(size), "launches": float(max(map(len, self.launches.values()))), **most}


def parsed(claim: object, calls: Sequence[Call], most_bytes: int) -> Recording:
    """A recorder's answer; raises `Refused` with the recorder's reason, or where it is none that could be."""
    match claim:
        case {"refused": str(reason)}:
            raise Refused(reason[:8000])
        case {"kernels": [*kernels], "calls": [*told]} if len(told) == len(calls):
            pass
        case _:
            raise _strange("what was recorded")
    if not 1 <= len(kernels) <= _MOST_KERNELS:
        raise Refused(f"the program launches {len(kernels)} kernels, and 1 to {_MOST_KERNELS} are allowed")
    found = tuple(map(_kernel, kernels))
    size = sum(len(kernel.binary) for kernel in found)
    if size > most_bytes:
        raise Refused(f"the compiled kernels have {size:,} bytes, and {most_bytes:,} are allowed")
    return Recording(found, {call: _launches(one, call, len(found)) for call, one in zip(calls, told, strict=True)})


def _kernel(told: object) -> Kernel:
    match told:
        case [str(name), np.ndarray() as binary, dict(resources)]:
            right = binary.ndim == 1 and binary.dtype == np.uint8 and binary.size > 0 and 0 < len(name) <= _LONGEST_NAME
            if right and "\0" not in name and all(_whole(resources.get(one), 0, 1 << 30) for one in _RESOURCES):
                return Kernel(name, binary.tobytes(), {one: resources[one] for one in _RESOURCES})
    raise _strange("a kernel")


def _launches(told: Any, call: Call, kernels: int) -> tuple[RecordedLaunch, ...]:
    if not isinstance(told, list) or not 1 <= len(told) <= _MOST_LAUNCHES:
        raise Refused(f"each call launches 1 to {_MOST_LAUNCHES} kernels, got something else")
    arrays = [one for one in call if one.kind != "number"]
    return tuple(_launch(one, arrays, kernels) for one in told)


def _launch(told: Any, arrays: Sequence[Argument], kernels: int) -> RecordedLaunch:
    match told:
        case [kernel, [*grid], [*block], shared, [*parameters]] if _whole(kernel, 0, kernels - 1):
            sizes = len(grid) == len(block) == 3 and all(_whole(one, 1, _LARGEST_GRID) for one in grid)
            blocks = all(_whole(one, 1, _LARGEST_BLOCK) for one in block) and math.prod(block) <= _LARGEST_BLOCK
            if not sizes or not blocks or not _whole(shared, 0, _LARGEST_SHARED):
                raise Refused(
                    f"a kernel is launched with the grid {grid!r:.60}, the block {block!r:.60} and {shared!r:.20} bytes of shared memory, which no device takes"
                )
            if len(parameters) <= _MOST_PARAMETERS:
                values = tuple(_parameter(one, arrays) for one in parameters)
                return RecordedLaunch(kernel, tuple(grid), tuple(block), shared, values)
    raise _strange("a launch")


def _parameter(told: Any, arrays: Sequence[Argument]) -> tuple[int, int] | bytes:
    match told:
        case [array, offset] if _whole(array, 0, len(arrays) - 1) and _whole(offset, 0, arrays[array].bytes - 1):
            return array, offset
        case str(digits) if len(digits) <= 2 * _LARGEST_NUMBER:
            try:
                return bytes.fromhex(digits)
            except ValueError:
                pass
    raise _strange("a parameter")


def _whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _strange(what: str) -> Refused:
    return Refused(f"{what} is not what a recorder says: the program has changed what records it")
