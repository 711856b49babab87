"""NVIDIA's management library by `ctypes`: which GPUs there are, and how fast they run now.

Functions and numbers are those of NVIDIA's reference (https://docs.nvidia.com/deploy/nvml-api/). Invariant: nothing is changed on any device, and no
CUDA context is made; what a device does not tell is left empty, and one that does not tell who it is is left out."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evolve.devices.gpu import Gpu

LIBRARY = "libnvidia-ml.so.1"
_SUCCESS = 0
_TEXT = 96
_SM, _MEMORY = 1, 2
_DIE = 0
"""The sensor of `nvmlDeviceGetTemperature`."""


class _Memory(ctypes.Structure):
    """`nvmlMemory_t`."""

    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


@dataclass(frozen=True, slots=True)
class Pace:
    """Clocks of a GPU and their maximum, in MHz, and its temperature in degrees Celsius; None where the driver does not tell."""

    sm: int | None = None
    sm_most: int | None = None
    memory: int | None = None
    celsius: int | None = None


class Nvml:
    """The library, begun. Used by one thread."""

    def __init__(self, library: Any) -> None:
        self._library = library

    @classmethod
    def open(cls, load: Callable[[str], Any] = ctypes.CDLL) -> "Nvml | None":
        """Opens the library; returns None where there is no such library, or no driver."""
        try:
            library = load(LIBRARY)
            begun = library.nvmlInit_v2() == _SUCCESS
        except (OSError, AttributeError):  # none, or one that is older than the functions that are needed
            return None
        return cls(library) if begun else None

    def close(self) -> None:
        """Lets go of the driver."""
        self._library.nvmlShutdown()

    def gpus(self) -> list[Gpu]:
        """Returns all usable GPUs, in the order of the bus."""
        driver = self._text(self._library.nvmlSystemGetDriverVersion)
        count = self._number(self._library.nvmlDeviceGetCount_v2) or 0
        found = []
        for index in range(count):
            device = ctypes.c_void_p()
            if self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) != _SUCCESS:
                continue
            uuid = self._text(self._library.nvmlDeviceGetUUID, device)
            if uuid:
                found.append(self._gpu(device, index, uuid, driver))
        return found

    def _gpu(self, device: ctypes.c_void_p, index: int, uuid: str, driver: str) -> Gpu:
        memory = _Memory()
        known = self._library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == _SUCCESS
        minor = self._number(self._library.nvmlDeviceGetMinorNumber, device)
        return Gpu(
            index,
            uuid,
            self._text(self._library.nvmlDeviceGetName, device) or "NVIDIA GPU",
            memory=memory.total if known else 0,
            driver=driver,
            nodes=() if minor is None else (f"/dev/nvidia{minor}",),
        )

    def pace(self, uuid: str) -> Pace:
        """Returns the present pace of the GPU with this uuid; all None where it is gone."""
        device = ctypes.c_void_p()
        if self._library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(device)) != _SUCCESS:
            return Pace()
        return Pace(
            sm=self._number(self._library.nvmlDeviceGetClockInfo, device, _SM),
            sm_most=self._number(self._library.nvmlDeviceGetMaxClockInfo, device, _SM),
            memory=self._number(self._library.nvmlDeviceGetClockInfo, device, _MEMORY),
            celsius=self._number(self._library.nvmlDeviceGetTemperature, device, _DIE),
        )

    def _number(self, ask: Callable[..., int], *what: Any) -> int | None:
        value = ctypes.c_uint()
        return value.value if ask(*what, ctypes.byref(value)) == _SUCCESS else None

    def _text(self, ask: Callable[..., int], *what: Any) -> str:
        text = ctypes.create_string_buffer(_TEXT)
        return text.value.decode("utf-8", "replace") if ask(*what, text, _TEXT) == _SUCCESS else ""
