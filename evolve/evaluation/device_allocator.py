"""Devices of a stage: the cores and GPUs that its candidates have, and the box that they run in.

Invariant: while a stage runs, its candidates have what it has leased, and of the devices that leases are about nothing else; a box that was made for one set of GPUs is never
used with another one."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeAlias

from evolve.devices import (
    Gpu,
    Grant,
    Lease,
    Leases,
    Locks,
    device_names,
    filter_gpus,
    find_gpus,
    leases_folder,
    visibility,
)
from evolve.devices.conditions import Conditions
from evolve.devices.nvml import Nvml
from evolve.devices.processors import units, usable
from evolve.evaluation.candidate import OpenSession
from evolve.sandbox import Devices, JobKind, Session
from evolve.types import Program, SandboxError, Stage, Task


@dataclass(slots=True)
class Allocation:
    """The device that a stage was measured on: the GPUs' name, else `cpu`; `waited` in seconds. `conditions` is known when the stage is over: how busy and how
    fast the device was, empty where nothing was leased."""

    device: str = "cpu"
    waited: float = 0.0
    conditions: str = ""


Allocate: TypeAlias = Callable[[Stage], AbstractContextManager[Allocation]]
"""Allocates devices to a stage while the block runs; raises `EvolveError` where this machine has none."""


@contextmanager
def allocate_nothing(stage: Stage) -> Iterator[Allocation]:
    """Runs a stage without leases, where nothing competes for the machine."""
    yield Allocation()


class Sandbox(Protocol):
    """The part of a `Box` that a worker uses."""

    isolation: str

    def open(self, program: Program, entry: str, seconds: float, job: JobKind = "run") -> Session: ...
    def pin(self, cores: Sequence[int]) -> None: ...
    def close(self) -> None: ...


class DeviceAllocator:
    """The boxes of one worker, and the leases that decide which one is used. `make_box` makes one for devices; `told` is called with True when a stage begins to wait,
    and with False when it has what it waited for. Raises what `make_box` raises."""

    def __init__(
        self,
        task: Task,
        grant: Grant,
        make_box: Callable[[Devices], Sandbox],
        told: Callable[[bool], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._task = task
        self._make_box = make_box
        self._told = told
        self._clock = clock
        self._all = find_gpus() if task.limits.grants.gpu else []
        self.gpus = filter_gpus(self._all, grant)
        folder = Path(grant.folder) if grant.folder else leases_folder()
        self._cores = usable()
        self._leases = Leases(self.gpus, units(self._cores), Locks(folder))
        self._leases.open()
        self._nvml = Nvml.open() if any(gpu.vendor == "nvidia" for gpu in self.gpus) else None
        self._base = self._box = make_box(self._devices(()))
        self._pinned = False
        self._with_gpus: tuple[tuple[str, ...], Sandbox] | None = None
        self._stage: Stage | None = None
        self._leased = Lease()
        self._neighbour: tuple[tuple[str, ...], Sandbox] | None = None
        self.isolation = self._base.isolation

    def open(self, program: Program, seconds: float, job: JobKind = "run") -> Session:
        """A session of the present stage. Raises `SandboxError` for one that is timed, in a stage that is kept to no cores."""
        self._check(job)
        return self._box.open(program, self._task.entry, seconds, job)

    @contextmanager
    def allocate(self, stage: Stage) -> Iterator[Allocation]:
        """Leases the devices that a stage needs while the block runs. Raises `SandboxError`."""
        waiting, begun = Waiting(self._told), self._clock()
        what = f"task {self._task.name}, stage {stage.name}"
        with waiting, self._leases.lease(stage.needs, what, waiting.begins) as lease:
            self._stage, self._leased = stage, lease
            self._box = self._box_for(lease.gpus, waiting)
            self._pin(lease.cores)
            waiting.ends()
            kept = lease.cores if stage.needs.pinned else ()
            with Conditions(lease.cores, lease.gpus, self._nvml) as conditions, _pin_thread(kept):
                allocation = Allocation(lease.device, self._clock() - begun)
                yield allocation
            allocation.conditions = conditions.told

    def beside(self) -> OpenSession:
        """Opens sessions of the present stage in a box beside its candidates', on the same cores and GPUs. It is made for the first who asks, and kept as long as the GPUs stay the same."""
        wanted = tuple(gpu.uuid for gpu in self._leased.gpus)
        if self._neighbour is not None and self._neighbour[0] != wanted:
            former, self._neighbour = self._neighbour[1], None
            former.close()
        if self._neighbour is None:
            self._neighbour = (wanted, self._make_box(self._devices(self._leased.gpus)))
        box = self._neighbour[1]
        if self._pinned:
            box.pin(self._leased.cores or self._cores)

        def open_beside(program: Program, seconds: float, job: JobKind = "run") -> Session:
            self._check(job)
            return box.open(program, self._task.entry, seconds, job)

        return open_beside

    def _check(self, job: JobKind) -> None:
        """Two processes on two cores are as different as these are, by half on some machines; what is timed there is the core."""
        if job == "timed" and not self._leased.cores:
            name = self._stage.name if self._stage else "evaluate"
            raise SandboxError(
                f"the stage {name!r} times its programs, which run on any core. Do: write needs = {{ pinned = true }} for it, under [[stages]] in the task's file"
            )

    def accelerators(self, stages: Iterable[Stage]) -> str:
        """The models of the GPUs that stages may run on, for the hardware class; empty where none needs one."""
        needed = max((stage.needs.gpus for stage in stages), default=0)
        return device_names(self.gpus[:needed])

    def _pin(self, cores: Sequence[int]) -> None:
        """To what was leased; a stage that has leased no cores may run wherever the judge may, also after one that has."""
        self._pinned = self._pinned or bool(cores)
        if self._pinned:
            self._box.pin(cores or self._cores)

    def close(self) -> None:
        """Ends every box, and with it every process in it."""
        for kept in (self._neighbour, self._with_gpus):
            if kept is not None:
                kept[1].close()
        self._base.close()
        self._leases.close()
        if self._nvml is not None:
            self._nvml.close()

    def _box_for(self, gpus: tuple[Gpu, ...], waiting: "Waiting") -> Sandbox:
        """The box for these GPUs; of those with some, only the latest one is kept. To make one is to wait."""
        if not gpus:
            return self._base
        wanted = tuple(gpu.uuid for gpu in gpus)
        if self._with_gpus is None or self._with_gpus[0] != wanted:
            waiting.begins()
            if self._with_gpus is not None:
                former, self._with_gpus = self._with_gpus[1], None
                former.close()
            self._with_gpus = (wanted, self._make_box(self._devices(gpus)))
        return self._with_gpus[1]

    def _devices(self, gpus: tuple[Gpu, ...]) -> Devices:
        """For a task that grants GPUs: these, and no other one."""
        if not self._task.limits.grants.gpu:
            return Devices()
        others = [gpu for gpu in self._all if gpu not in gpus]
        return Devices(visibility(gpus), tuple(node for gpu in others for node in gpu.nodes))


@contextmanager
def _pin_thread(cores: Sequence[int]) -> Iterator[None]:
    """The judge's own thread on these cores, where there are any, for as long as the block runs: what it writes lies in the caches of those who read it, and its signals wake no
    other core."""
    if not cores or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Waiting:
    """Reports the beginning and the end of a stage's wait, each once; as a context manager, the end at its exit at the latest."""

    def __init__(self, told: Callable[[bool], None]) -> None:
        self._told = told
        self._waits = False

    def begins(self) -> None:
        """Reports the beginning of a wait, unless one has begun already."""
        if not self._waits:
            self._waits = True
            self._told(True)

    def ends(self) -> None:
        """Reports the end of a wait, if there was one."""
        if self._waits:
            self._waits = False
            self._told(False)

    def __enter__(self) -> "Waiting":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self.ends()
