"""Load and clocks of the leased devices while a stage was measured.

Invariant: asked for where a lease was taken, and nowhere else: a stage that leases nothing pays nothing for it."""

from collections.abc import Sequence
from types import TracebackType

from evolve.devices import processors
from evolve.devices.gpu import Gpu, device_names
from evolve.devices.nvml import Nvml, Pace


class Conditions:
    """Conditions of one stage, as a context manager: the load before it, and the clocks of its GPUs at its end, while they are still warm. `nvml` reads those of NVIDIA GPUs."""

    def __init__(self, cores: Sequence[int], gpus: Sequence[Gpu], nvml: Nvml | None) -> None:
        self._cores = cores
        self._gpus = gpus
        self._nvml = nvml
        self.told = ""

    def __enter__(self) -> "Conditions":
        self.told = _describe_cores(self._cores)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        parts = [self.told, *([self._describe_gpus()] if self._gpus else [])]
        self.told = "; ".join(filter(None, parts))

    def _describe_gpus(self) -> str:
        drivers = sorted({gpu.driver for gpu in self._gpus} - {""})
        paces = [format_pace(self._nvml.pace(gpu.uuid)) for gpu in self._gpus if self._nvml and gpu.vendor == "nvidia"]
        return ", ".join([device_names(self._gpus), *(f"driver {driver}" for driver in drivers), *filter(None, paces)])


def _describe_cores(cores: Sequence[int]) -> str:
    """Describes cores, their governor and the load; empty for a stage that leased no cores."""
    if not cores:
        return ""
    governor, load = processors.governor(cores), processors.load()
    parts = [f"cores {processors.ranges(cores)}"]
    parts += [f"governor {governor}"] if governor else []
    parts += [f"load {load}"] if load else []
    return ", ".join(parts)


def format_pace(pace: Pace) -> str:
    """Formats clocks and temperature, as far as they are known."""
    most = "" if pace.sm_most is None else f" of {pace.sm_most}"
    parts = [] if pace.sm is None else [f"SM {pace.sm}{most} MHz"]
    parts += [] if pace.memory is None else [f"memory {pace.memory} MHz"]
    parts += [] if pace.celsius is None else [f"{pace.celsius} C"]
    return ", ".join(parts)
