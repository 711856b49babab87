"""One GPU, as whoever found it tells of it.

Invariant: `uuid` names the same device in every process and after a restart, and two devices never share it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Vendor = Literal["nvidia", "amd"]
_VARIABLES: dict[Vendor, str] = {"nvidia": "CUDA_VISIBLE_DEVICES", "amd": "ROCR_VISIBLE_DEVICES"}
"""What each vendor's driver reads: only the devices that it names are seen by a process."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """`index` is its number on this machine, in the order of the bus; `memory` in bytes, 0 where it is not known; `nodes` are the device files that
    are its alone."""

    index: int
    uuid: str
    name: str
    memory: int = 0
    driver: str = ""
    vendor: Vendor = "nvidia"
    nodes: tuple[str, ...] = ()


def device_names(gpus: Sequence[Gpu]) -> str:
    """The models with their numbers: `NVIDIA H100 80GB HBM3`, or `2 x NVIDIA H100 80GB HBM3`."""
    counts = Counter(gpu.name for gpu in gpus)
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in sorted(counts.items()))


def visibility(gpus: Sequence[Gpu]) -> dict[str, str]:
    """The variables by which a process sees these GPUs, in this order, and no others of their vendors; without any, it sees none."""
    named = {vendor: [gpu for gpu in gpus if gpu.vendor == vendor] for vendor in _VARIABLES}
    return {
        _VARIABLES["nvidia"]: ",".join(gpu.uuid for gpu in named["nvidia"]),
        **({_VARIABLES["amd"]: ",".join(str(gpu.index) for gpu in named["amd"])} if named["amd"] else {}),
    }
