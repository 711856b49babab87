"""GPUs of this machine, found without any library for computing on them.

NVIDIA's by its management library, else by what its driver writes below /proc, else by the command `nvidia-smi`; AMD's by what the kernel writes
below /sys/class/kfd. Invariant: asking changes nothing, and a source that cannot be read finds nothing."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evolve.devices.gpu import Gpu
from evolve.devices.nvml import Nvml

_FIELDS = "index,uuid,name,memory.total,driver_version"
_PATIENCE = 20.0
_MIB = 1 << 20


def _smi() -> str:
    """Returns the output of `nvidia-smi`; empty where there is no such command, or it fails."""
    command = ["nvidia-smi", f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    try:
        asked = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Sources:
    """Places where GPUs are looked for."""

    library: Callable[[], Nvml | None] = Nvml.open
    driver: Path = Path("/proc/driver/nvidia")
    smi: Callable[[], str] = _smi
    kfd: Path = Path("/sys/class/kfd/kfd/topology/nodes")
    drm: Path = Path("/sys/class/drm")


def find_gpus(sources: Sources | None = None) -> list[Gpu]:
    """Returns NVIDIA's GPUs in the order of the bus, then AMD's."""
    asked = sources or Sources()
    return [*(_by_library(asked) or _by_driver(asked.driver) or _by_command(asked.smi())), *_amd(asked.kfd, asked.drm)]


def _by_library(sources: Sources) -> list[Gpu]:
    nvml = sources.library()
    if nvml is None:
        return []
    try:
        return nvml.gpus()
    finally:
        nvml.close()


def _by_driver(driver: Path) -> list[Gpu]:
    """Folders named by their place on the bus, each with a file of lines like `GPU UUID: GPU-...`."""
    version = _version(driver / "version")
    found: list[Gpu] = []
    for information in sorted((driver / "gpus").glob("*/information")):
        facts = _facts(_read(information), ":")
        uuid, minor = facts.get("GPU UUID", ""), facts.get("Device Minor", "")
        if uuid and "?" not in uuid:  # question marks: nobody has begun to use the device since the machine started
            nodes = (f"/dev/nvidia{minor}",) if minor.isdecimal() else ()
            found.append(Gpu(len(found), uuid, facts.get("Model", "NVIDIA GPU"), driver=version, nodes=nodes))
    return found


def _version(file: Path) -> str:
    """The driver's, from a line such as `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue ...`."""
    first = _read(file).partition("\n")[0]
    return next((word for word in first.split() if word.count(".") and word.replace(".", "").isdecimal()), "")


def _by_command(said: str) -> list[Gpu]:
    rows = [[field.strip() for field in line.split(",")] for line in said.splitlines()]
    return [
        Gpu(int(row[0]), row[1], row[2], int(row[3]) * _MIB if row[3].isdecimal() else 0, row[4])
        for row in rows
        if len(row) == len(_FIELDS.split(",")) and row[0].isdecimal() and row[1].startswith("GPU-")
    ]


def _amd(nodes: Path, drm: Path) -> list[Gpu]:
    """Each node of the topology is a processor or a GPU; a GPU has a `gpu_id` that is not 0."""
    numbered = sorted((path for path in nodes.glob("*") if path.name.isdecimal()), key=lambda path: int(path.name))
    gpus = [path for path in numbered if _read(path / "gpu_id").strip() not in ("", "0")]
    return [_amd_gpu(index, path, drm) for index, path in enumerate(gpus)]


def _amd_gpu(index: int, node: Path, drm: Path) -> Gpu:
    facts = _facts(_read(node / "properties"), " ")
    unique, minor = facts.get("unique_id", "0"), facts.get("drm_render_minor", "")
    name = _read(drm / f"renderD{minor}" / "device" / "product_name").strip()
    uuid = f"GPU-{int(unique):016x}" if unique.isdecimal() and int(unique) else f"AMD-{_read(node / 'gpu_id').strip()}"
    return Gpu(
        index,
        uuid,
        name or f"AMD GPU (gfx target {facts.get('gfx_target_version', 'unknown')})",
        memory=sum(map(_bank_size, (node / "mem_banks").glob("*/properties"))),
        vendor="amd",
        nodes=(f"/dev/dri/renderD{minor}",) if minor.isdecimal() else (),
    )


def _bank_size(properties: Path) -> int:
    size = _facts(_read(properties), " ").get("size_in_bytes", "")
    return int(size) if size.isdecimal() else 0


def _facts(text: str, separator: str) -> dict[str, str]:
    pairs: Sequence[tuple[str, str, str]] = [line.partition(separator) for line in text.splitlines()]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
