"""NVIDIA's management library without a device: as a Python object, and as a library that a loader finds."""

# ruff: noqa: N802, N815 the names are NVIDIA's
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolve.devices.inventory import Gpu

UUIDS = ("GPU-aaaaaaaa-0000-0000-0000-000000000000", "GPU-bbbbbbbb-0000-0000-0000-000000000001")
NAME = "Fake H100 80GB"
MEMORY = 85_520_809_984
GPUS = tuple(
    Gpu(index, uuid, NAME, MEMORY, "550.54.15", nodes=(f"/dev/nvidia{index}",)) for index, uuid in enumerate(UUIDS)
)
_SUCCESS, _NOT_SUPPORTED = 0, 3


@dataclass
class FakeLibrary:
    """Two devices; what stands in `silent` is not supported, and the devices in `lost` do not answer."""

    silent: frozenset[str] = frozenset()
    lost: frozenset[int] = frozenset()
    cut: Mapping[int, int] = field(default_factory=dict)
    """Slices of a device, by its number."""
    calls: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvml"):
            raise AttributeError(name)
        self.calls.append(name)
        return (lambda *_: _NOT_SUPPORTED) if name in self.silent else getattr(self, f"_{name}")

    def _nvmlInit_v2(self) -> int:
        return _SUCCESS

    _nvmlShutdown = _nvmlInit_v2

    def _nvmlSystemGetDriverVersion(self, text: Any, size: int) -> int:
        text.value = b"550.54.15"
        return _SUCCESS

    def _nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = len(UUIDS)
        return _SUCCESS

    def _nvmlDeviceGetHandleByIndex_v2(self, index: int, device: Any) -> int:
        device._obj.value = index + 1
        return 15 if index in self.lost else _SUCCESS

    def _nvmlDeviceGetMigMode(self, device: Any, now: Any, later: Any) -> int:
        now._obj.value = later._obj.value = device.value - 1 in self.cut
        return _SUCCESS

    def _nvmlDeviceGetMaxMigDeviceCount(self, device: Any, count: Any) -> int:
        count._obj.value = 7
        return _SUCCESS

    def _nvmlDeviceGetMigDeviceHandleByIndex(self, device: Any, index: int, found: Any) -> int:
        found._obj.value = 10 * device.value + index
        return _SUCCESS if index < self.cut[device.value - 1] else 6

    def _nvmlDeviceGetGpuInstanceId(self, device: Any, number: Any) -> int:
        number._obj.value = 5 + device.value % 10
        return _SUCCESS

    def _nvmlDeviceGetComputeInstanceId(self, device: Any, number: Any) -> int:
        number._obj.value = 0
        return _SUCCESS

    def _nvmlDeviceGetUUID(self, device: Any, text: Any, size: int) -> int:
        text.value = (f"MIG-{device.value}" if device.value >= 10 else UUIDS[device.value - 1]).encode()
        return _SUCCESS

    def _nvmlDeviceGetName(self, device: Any, text: Any, size: int) -> int:
        text.value = NAME.encode()
        return _SUCCESS

    def _nvmlDeviceGetMemoryInfo(self, device: Any, memory: Any) -> int:
        memory._obj.total = MEMORY
        return _SUCCESS

    def _nvmlDeviceGetMinorNumber(self, device: Any, minor: Any) -> int:
        minor._obj.value = device.value - 1
        return _SUCCESS


SOURCE = f"""
#include <string.h>
typedef void *device;
static const char *uuids[] = {{"{UUIDS[0]}", "{UUIDS[1]}"}};
/* Handles that do not fit into 32 bits, as pointers do not. */
static device handle(unsigned long number) {{ return (device)(0x7f0000000000ul + number); }}
static unsigned long number(device one) {{ return (unsigned long)one - 0x7f0000000000ul; }}
static int told(char *text, const char *what, unsigned size) {{ strncpy(text, what, size); return 0; }}
int nvmlInit_v2(void) {{ return 0; }}
int nvmlShutdown(void) {{ return 0; }}
int nvmlSystemGetDriverVersion(char *text, unsigned size) {{ return told(text, "550.54.15", size); }}
int nvmlDeviceGetCount_v2(unsigned *count) {{ *count = 2; return 0; }}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *one) {{ *one = handle(index); return 0; }}
int nvmlDeviceGetUUID(device one, char *text, unsigned size) {{ return told(text, uuids[number(one)], size); }}
int nvmlDeviceGetName(device one, char *text, unsigned size) {{ return told(text, "{NAME}", size); }}
int nvmlDeviceGetMemoryInfo(device one, unsigned long long *three) {{ three[0] = {MEMORY}ull; three[1] = three[2] = 0; return 0; }}
int nvmlDeviceGetMigMode(device one, unsigned *now, unsigned *later) {{ return 3; }}
int nvmlDeviceGetMinorNumber(device one, unsigned *minor) {{ *minor = (unsigned)number(one); return 0; }}
"""
"""By NVIDIA's reference: what the Python object says, with the types that the real one has."""


def built_library(folder: Path) -> Path:
    """The library as a file of the real one's name."""
    source, library = folder / "nvml.c", folder / "libnvidia-ml.so.1"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library
