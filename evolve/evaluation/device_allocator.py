"""Devices of a stage: the cores and GPUs that its candidates have, and the box that they run in.

Invariant: while a stage runs, its candidates have what it has leased, and of the devices that leases are about nothing else; a box that was made for one set of GPUs is never
used with another one."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from evolve.devices.inventory import Gpu, device_names, find_gpus, governor, load, ranges, units, usable, visibility
from evolve.devices.leases import Grant, Lease, Leases, filter_gpus, leases_folder
from evolve.evaluation.candidate import OpenSession
from evolve.sandbox.policy import Devices
from evolve.sandbox.session import JobKind, Session
from evolve.types import Program, SandboxError, Stage, Task


@dataclass(frozen=True, slots=True)
class Allocation:
    """Device that a stage is measured on: the GPUs' name, else `cpu`; `waited` in seconds. `conditions` says how busy it was before the stage, and is empty
    where nothing was leased."""

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
    """The boxes of one worker, and the leases that decide which one is used. `make_box` makes one for devices; `report_wait` is called with True when a stage begins to wait,
    and with False when it has its devices. Raises what `make_box` raises."""

    def __init__(
        self,
        task: Task,
        grant: Grant,
        make_box: Callable[[Devices], Sandbox],
        report_wait: Callable[[bool], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._task = task
        self._make_box = make_box
        self._report_wait = report_wait
        self._clock = clock
        self._all = find_gpus() if task.limits.grants.gpu else []
        self.gpus = filter_gpus(self._all, grant)
        folder = Path(grant.folder) if grant.folder else leases_folder()
        self._cores = usable()
        # Units are whole cores: two threads of one core would slow each other down.
        self._leases = Leases(self.gpus, units(self._cores), folder)
        self._boxes: dict[str, tuple[tuple[Gpu, ...], Sandbox]] = {}
        self._box = self._box_for("plain", ())
        self._pinned = False
        self._stage = Stage("evaluate")
        self._lease = Lease()
        self.isolation = self._box.isolation

    def open(self, program: Program, seconds: float, job: JobKind = "run") -> Session:
        """Opens a session of the present stage. Raises `SandboxError` for one that is timed, in a stage that is kept to no cores."""
        return self._open(self._box, program, seconds, job)

    @contextmanager
    def allocate(self, stage: Stage) -> Iterator[Allocation]:
        """Leases the devices that a stage needs while the block runs. Raises `SandboxError`."""
        begun = self._clock()
        with ExitStack() as stack:
            with self._wait() as waits:
                what = f"task {self._task.name}, stage {stage.name}"
                lease = stack.enter_context(self._leases.lease(stage.needs, what, waits))
                self._stage, self._lease = stage, lease
                self._box = self._box_for("gpu" if lease.gpus else "plain", lease.gpus, waits)
                self._pin(self._box)
            stack.enter_context(_pin_thread(lease.cores if stage.needs.pinned else ()))
            yield Allocation(lease.device, self._clock() - begun, _describe(lease))

    def beside(self) -> OpenSession:
        """Opens sessions of the present stage in a box beside its candidates', on the same cores and GPUs. It is made when it is first asked for."""
        box = self._box_for("beside", self._lease.gpus)
        self._pin(box)

        def open_beside(program: Program, seconds: float, job: JobKind = "run") -> Session:
            return self._open(box, program, seconds, job)

        return open_beside

    def accelerators(self, stages: Iterable[Stage]) -> str:
        """Returns the models of the GPUs that stages may run on, for the hardware class; empty where none needs one."""
        needed = max((stage.needs.gpus for stage in stages), default=0)
        return device_names(self.gpus[:needed])

    def close(self) -> None:
        """Ends every box, and with it every process in it."""
        for _, box in self._boxes.values():
            box.close()

    def _open(self, box: Sandbox, program: Program, seconds: float, job: JobKind) -> Session:
        # Two processes on two cores are as different as these cores are, by half on some machines; without a pin the core is what is timed.
        if job == "timed" and not self._lease.cores:
            raise SandboxError(
                f"the stage {self._stage.name!r} times its programs, which run on any core. Try: write needs = {{ pinned = true }} for it, under [[stages]] in the task's file"
            )
        return box.open(program, self._task.entry, seconds, job)

    def _pin(self, box: Sandbox) -> None:
        """Keeps a box to the leased cores. A stage that has leased none may run wherever the worker may, also after one that has."""
        self._pinned = self._pinned or bool(self._lease.cores)
        if self._pinned:
            box.pin(self._lease.cores or self._cores)

    @contextmanager
    def _wait(self) -> Iterator[Callable[[], None]]:
        """Yields a function that reports the beginning of a wait, once; reports its end after the block, if there was one."""
        waits = False

        def begin() -> None:
            nonlocal waits
            if not waits:
                waits = True
                self._report_wait(True)

        try:
            yield begin
        finally:
            if waits:
                self._report_wait(False)

    def _box_for(self, role: str, gpus: tuple[Gpu, ...], waits: Callable[[], None] = lambda: None) -> Sandbox:
        """Returns the role's box for these GPUs. A warm template is kept for the next stage, but one that sees GPUs which others may lease by then is closed."""
        former = self._boxes.get(role)
        if former is not None and former[0] == gpus:
            return former[1]
        waits()
        if former is not None:
            del self._boxes[role]
            former[1].close()
        self._boxes[role] = (gpus, self._make_box(self._devices(gpus)))
        return self._boxes[role][1]

    def _devices(self, gpus: tuple[Gpu, ...]) -> Devices:
        """Returns these GPUs and no other one, for a task that grants GPUs."""
        if not self._task.limits.grants.gpu:
            return Devices()
        others = [gpu for gpu in self._all if gpu not in gpus]
        return Devices(visibility(gpus), tuple(node for gpu in others for node in gpu.nodes))


@contextmanager
def _pin_thread(cores: Sequence[int]) -> Iterator[None]:
    """Keeps the worker's own thread to these cores, where there are any, while the block runs: what it writes lies in the caches of those who read it, and its signals wake no
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


def _describe(lease: Lease) -> str:
    """Describes the leased devices and the load on them; empty where nothing was leased."""
    facts = {"cores": ranges(lease.cores), "governor": governor(lease.cores), "load": load()} if lease.cores else {}
    gpus = [device_names(lease.gpus), *sorted({f"driver {gpu.driver}" for gpu in lease.gpus if gpu.driver})]
    cores = ", ".join(f"{name} {value}" for name, value in facts.items() if value)
    return "; ".join(filter(None, [cores, ", ".join(filter(None, gpus))]))
