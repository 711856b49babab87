"""Cores and NVIDIA GPUs of this machine, and the state of the cores.

GPUs are found by NVIDIA's management library through `ctypes`, without any library for computing on them; functions and numbers are those of its
reference (https://docs.nvidia.com/deploy/nvml-api/). Looking changes nothing on a device and makes no CUDA context."""

import ctypes
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SYSTEM = Path("/sys/devices/system/cpu")
_LOAD = Path("/proc/loadavg")

Unit = tuple[int, ...]


def usable() -> tuple[int, ...]:
    """Returns the numbers of the hardware threads that this process may run on, in their order."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def usable_cores() -> int:
    """Returns the number of hardware threads that this process may run on."""
    return len(usable())


def units(threads: Collection[int], system: Path = SYSTEM) -> dict[int, Unit]:
    """The usable threads of each core, by the number of the core's first thread, usable or not, so that everybody names it alike; where /sys says nothing of a thread, it is
    a core of its own."""
    found: dict[int, list[int]] = {}
    for thread in sorted(threads):
        siblings = numbers(_read(system / f"cpu{thread}" / "topology" / "thread_siblings_list"))
        found.setdefault(min(siblings, default=thread), []).append(thread)
    return {core: tuple(unit) for core, unit in sorted(found.items())}


def choose_threads(taken: Sequence[Unit], count: int) -> tuple[int, ...]:
    """Returns the `count` threads to run on: one of each core before a second one of any."""
    # Two threads of one core share its arithmetic units, and slow each other down.
    firsts = [unit[0] for unit in taken]
    rest = [thread for unit in taken for thread in unit[1:]]
    return tuple(sorted([*firsts, *rest][:count]))


def governor(threads: Collection[int], system: Path = SYSTEM) -> str:
    """Returns the frequency governor of these threads, such as `performance`; several are joined, and it is empty where the system does not tell."""
    told = {_read(system / f"cpu{thread}" / "cpufreq" / "scaling_governor").strip() for thread in threads}
    return "+".join(sorted(told - {""}))


def load(file: Path = _LOAD) -> str:
    """Returns the load average of the last minute as text; empty where the system does not tell."""
    return _read(file).partition(" ")[0]


def numbers(text: str) -> list[int]:
    """`0-3,8` as numbers; raises `ValueError` for another text that is not empty."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"numbers are written like 0-3,8, got {text!r}")
        found += range(int(first), int(last if dash else first) + 1)
    return found


def ranges(threads: Collection[int]) -> str:
    """Numbers as `0-3,8`."""
    parts: list[list[int]] = []
    for thread in sorted(threads):
        if parts and parts[-1][-1] == thread - 1:
            parts[-1].append(thread)
        else:
            parts.append([thread])
    return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


LIBRARY = "libnvidia-ml.so.1"
_SUCCESS = 0
_TEXT = 96
_SLICES = 100
"""From one GPU to the next in the numbers of slices: more than a GPU can have."""
CAPABILITIES = Path("/proc/driver/nvidia/capabilities")
_CAPABILITY = re.compile(r"DeviceFileMinor: (\d+)")


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU, or a slice of one (MIG). `index` is its number on this machine, in the order of the bus, of slice s of GPU g 100 (g + 1) + s; `uuid` is the same in every process and after a restart; `memory` is in bytes, 0
    where it is not known; `nodes` are the device files of this GPU or slice alone."""

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
        found = [gpu for index in range(count) for gpu in _find_usable(library, index, driver)]
        # A GPU without a uuid cannot be named in CUDA_VISIBLE_DEVICES, so it cannot be leased.
        return [gpu for gpu in found if gpu.uuid]
    finally:
        library.nvmlShutdown()


class _Memory(ctypes.Structure):
    """`nvmlMemory_t`."""

    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def _find_usable(library: Any, index: int, driver: str) -> Sequence[Gpu]:
    """Returns a GPU, or its slices where it has been cut into some: programs cannot use it whole then; nothing where it is lost."""
    device = _handle(library.nvmlDeviceGetHandleByIndex_v2, index)
    if device is None:
        return ()
    minor = _number(library.nvmlDeviceGetMinorNumber, device)
    if not _is_cut(library, device):
        return (_describe_gpu(library, device, index, driver, () if minor is None else (f"/dev/nvidia{minor}",)),)
    slices = range(_number(library.nvmlDeviceGetMaxMigDeviceCount, device) or 0)
    handles = ((each, _handle(library.nvmlDeviceGetMigDeviceHandleByIndex, device, each)) for each in slices)
    return [
        _describe_gpu(library, one, _SLICES * (index + 1) + each, driver, _slice_nodes(library, one, minor))
        for each, one in handles
        if one is not None
    ]


def _describe_gpu(library: Any, device: ctypes.c_void_p, index: int, driver: str, nodes: tuple[str, ...]) -> Gpu:
    memory = _Memory()
    known = library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == _SUCCESS
    name = _text(library.nvmlDeviceGetName, device) or "NVIDIA GPU"
    uuid = _text(library.nvmlDeviceGetUUID, device)
    return Gpu(index, uuid, name, memory=memory.total if known else 0, driver=driver, nodes=nodes)


def _is_cut(library: Any, device: ctypes.c_void_p) -> bool:
    """Reports whether a GPU is in use by slices; no driver that is too old to know of them cuts one."""
    now, later = ctypes.c_uint(), ctypes.c_uint()
    ask = getattr(library, "nvmlDeviceGetMigMode", None)
    return ask is not None and ask(device, ctypes.byref(now), ctypes.byref(later)) == _SUCCESS and bool(now.value)


def _slice_nodes(library: Any, device: ctypes.c_void_p, minor: int | None) -> tuple[str, ...]:
    """Returns the device files by which a slice and its computing part are opened, where the driver names them."""
    part, computing = (
        _number(getattr(library, name), device)
        for name in ("nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId")
    )
    if minor is None or part is None or computing is None:
        return ()
    place = CAPABILITIES / f"gpu{minor}" / "mig" / f"gi{part}"
    told = (_read(file) for file in (place / "access", place / f"ci{computing}" / "access"))
    return tuple(f"/dev/nvidia-caps/nvidia-cap{found[1]}" for text in told if (found := _CAPABILITY.search(text)))


def _handle(ask: Callable[..., int], *what: Any) -> ctypes.c_void_p | None:
    device = ctypes.c_void_p()  # a handle is a pointer; without its type ctypes would cut it to 32 bits
    return device if ask(*what, ctypes.byref(device)) == _SUCCESS else None


def _number(ask: Callable[..., int], *what: Any) -> int | None:
    value = ctypes.c_uint()
    return value.value if ask(*what, ctypes.byref(value)) == _SUCCESS else None


def _text(ask: Callable[..., int], *what: Any) -> str:
    text = ctypes.create_string_buffer(_TEXT)
    return text.value.decode("utf-8", "replace") if ask(*what, text, _TEXT) == _SUCCESS else ""
