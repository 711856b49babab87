"""Leases on devices, taken right before a stage runs and given back after it.

Invariant: a stage runs on what it has leased and on nothing that another stage of this user has leased; a stage that needs one core like any other, whichever it is, leases nothing,
and waits only while another one has the machine to itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from evolve.devices.gpu import Gpu, device_names
from evolve.devices.locks import LockPool, Locks
from evolve.devices.processors import Unit, choose_threads
from evolve.types import Needs, SandboxError

_CORE, _GPU = "core-", "gpu-"


@dataclass(frozen=True, slots=True)
class Lease:
    """`cores` are the threads to run on; none: wherever the judge may."""

    cores: tuple[int, ...] = ()
    gpus: tuple[Gpu, ...] = ()

    @property
    def device(self) -> str:
        """Name of the device that is measured on: the GPUs' name, else `cpu`."""
        return device_names(self.gpus) or "cpu"


class Leases:
    """Leases on `gpus` and `units` (the threads of each core). Used by one thread; one lease at a time."""

    def __init__(self, gpus: Sequence[Gpu], units: Mapping[int, Unit], locks: Locks) -> None:
        self._gpus = {_GPU + gpu.uuid: gpu for gpu in gpus}
        self._units = {f"{_CORE}{core}": unit for core, unit in units.items()}
        self._locks = locks

    def open(self) -> None:
        """Raises `SandboxError` where nothing can be leased, before anything is."""
        self._locks.open()

    def close(self) -> None:
        """Lets go of what is kept between two leases."""
        self._locks.close()

    @contextmanager
    def lease(self, needs: Needs, what: str, waits: Callable[[], None] = lambda: None) -> Iterator[Lease]:
        """Leases what is needed while the block runs. `what` names the task and stage; `waits` is called when it has to wait. Raises `SandboxError` for what this
        machine never has."""
        with self._locks.acquire(self._pools(needs), what, alone=needs.exclusive, waits=waits) as names:
            # Who has the machine alone has all cores of it.
            units = [unit for name, unit in self._units.items() if name in names or needs.exclusive]
            gpus = tuple(gpu for name, gpu in self._gpus.items() if name in names)
            yield Lease(choose_threads(units, needs.cores), gpus)

    def _pools(self, needs: Needs) -> list[LockPool]:
        threads = sum(map(len, self._units.values()))
        if needs.gpus > len(self._gpus) or needs.cores > threads:
            raise SandboxError(
                f"a stage needs {format_needs(needs)}, and {threads} cores and {len(self._gpus)} GPUs may be leased here. "
                "Do: grant more with --devices, or use another machine; `evolve devices` lists what there is"
            )
        some = (needs.cores > 1 or needs.pinned) and not needs.exclusive
        cores = min(needs.cores, len(self._units)) if some else 0
        return [LockPool(tuple(self._units), cores), LockPool(tuple(self._gpus), needs.gpus)]


def format_needs(needs: Needs) -> str:
    """Formats needs for people."""
    parts = [f"{needs.cores} core{'s' if needs.cores > 1 else ''}"]
    parts += [f"{needs.gpus} GPU{'s' if needs.gpus > 1 else ''}"] if needs.gpus else []
    parts += ["the machine to itself"] if needs.exclusive else []
    parts += ["pinned"] if needs.pinned else []
    return ", ".join(parts)
