"""How busy and how fast what was leased was while it was measured on.

Invariant: asked for where a lease was taken, and nowhere else: a stage that leases nothing pays nothing for it."""

from collections.abc import Sequence
from types import TracebackType

from evolve.devices import processors
from evolve.devices.gpu import Gpu, device_names
from evolve.devices.nvml import Nvml, Pace


class Conditions:
    """Of one stage, as a context: the load is that before it, the clocks of a GPU are those at its end, while it is still warm. `nvml` is asked about NVIDIA's."""

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
    """Where the stage was kept to some."""
    if not cores:
        return ""
    governor, load = processors.governor(cores), processors.load()
    parts = [f"cores {processors.ranges(cores)}"]
    parts += [f"governor {governor}"] if governor else []
    parts += [f"load {load}"] if load else []
    return ", ".join(parts)


def format_pace(pace: Pace) -> str:
    """Clocks and temperature, as far as they are known."""
    most = "" if pace.sm_most is None else f" of {pace.sm_most}"
    parts = [] if pace.sm is None else [f"SM {pace.sm}{most} MHz"]
    parts += [] if pace.memory is None else [f"memory {pace.memory} MHz"]
    parts += [] if pace.celsius is None else [f"{pace.celsius} C"]
    return ", ".join(parts)
