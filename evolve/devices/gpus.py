"""NVIDIA GPUs of this machine, found by NVIDIA's management library through `ctypes`, without any library for computing on them.

Functions and numbers are those of NVIDIA's reference (https://docs.nvidia.com/deploy/nvml-api/). Looking changes nothing on a device and makes no CUDA
context."""

import ctypes
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

LIBRARY = "libnvidia-ml.so.1"
_SUCCESS = 0
_TEXT = 96


@dataclass(frozen=True, slots=True)
class Gpu:
    """`index` is its number on this machine, in the order of the bus; `uuid` is the same in every process and after a restart; `memory` is in bytes, 0
    where it is not known; `nodes` are the device files of this GPU alone."""

    index: int
    uuid: str
    name: str
    memory: int = 0
    driver: str = ""
    nodes: tuple[str, ...] = ()


def device_names(gpus: Sequence[Gpu]) -> str:
    """Returns the models with their numbers: `NVIDIA H100 80GB HBM3`, or `2 x NVIDIA H100 80GB HBM3`."""
    counts = Counter(gpu.name for gpu in gpus)
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in sorted(counts.items()))


def visibility(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Returns the variables by which a process sees these GPUs and no others."""
    return {"CUDA_VISIBLE_DEVICES": ",".join(gpu.uuid for gpu in gpus)}


def find_gpus(load: Callable[[str], Any] = ctypes.CDLL) -> list[Gpu]:
    """Returns all usable GPUs in the order of the bus; none where there is no library or no driver."""
    try:
        library = load(LIBRARY)
        if library.nvmlInit_v2() != _SUCCESS:
            return []
    except (OSError, AttributeError):  # no library, or one that is older than the functions that are needed
        return []
    try:
        driver = _text(library.nvmlSystemGetDriverVersion)
        count = _number(library.nvmlDeviceGetCount_v2) or 0
        # A GPU without a uuid cannot be named in CUDA_VISIBLE_DEVICES, so it cannot be leased.
        return [gpu for index in range(count) if (gpu := _gpu(library, index, driver)) and gpu.uuid]
    finally:
        library.nvmlShutdown()


class _Memory(ctypes.Structure):
    """`nvmlMemory_t`."""

    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def _gpu(library: Any, index: int, driver: str) -> Gpu | None:
    device = ctypes.c_void_p()  # a handle is a pointer; without its type ctypes would cut it to 32 bits
    if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) != _SUCCESS:
        return None
    memory = _Memory()
    known = library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == _SUCCESS
    minor = _number(library.nvmlDeviceGetMinorNumber, device)
    return Gpu(
        index,
        _text(library.nvmlDeviceGetUUID, device),
        _text(library.nvmlDeviceGetName, device) or "NVIDIA GPU",
        memory=memory.total if known else 0,
        driver=driver,
        nodes=() if minor is None else (f"/dev/nvidia{minor}",),
    )


def _number(ask: Callable[..., int], *what: Any) -> int | None:
    value = ctypes.c_uint()
    return value.value if ask(*what, ctypes.byref(value)) == _SUCCESS else None


def _text(ask: Callable[..., int], *what: Any) -> str:
    text = ctypes.create_string_buffer(_TEXT)
    return text.value.decode("utf-8", "replace") if ask(*what, text, _TEXT) == _SUCCESS else ""
