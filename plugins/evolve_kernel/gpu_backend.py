"""The back end of Triton and CUDA: launches recorded in one process, and replayed as a graph, on fresh inputs, in another in which no Python of the program runs.

A runner's process holds this package's files and empty ones in place of the program's, so that of a program nothing runs there but what runs on the device."""

import importlib.util
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import numpy as np

from evolve import Candidate, Segment, Timed
from evolve.types import Task, TaskError
from evolve_kernel.backend import GUARD, Built, Called, Layout, Question, RefusedProgram, Side, find_source
from evolve_kernel.gpu_recorder import nvrtc
from evolve_kernel.problem import Argument
from evolve_kernel.settings import KernelSettings, Language

RECORDER, RUNNER = "gpu_recorder", "gpu_runner"
_NEIGHBOURS = ("gpu_driver",)
_IMPORTED = ("torch", "triton")
_NO_ARRAY = 1
Call = tuple[Argument, ...]


class GpuBackend:
    """Back end of one task. Raises `TaskError` where the task grants no GPU or has no source, or this Python lacks what compiles the language."""

    shortest = 5e-6

    def __init__(self, task: Task, settings: KernelSettings) -> None:
        self._settings = settings
        self._entry = task.entry
        self._source = find_source(task, settings.language)
        _check_granted(task)
        _check_installed(settings.language)
        self._ceilings: tuple[int, float, float] | None = None
        """Bytes of the cache, bytes moved and operations computed in a second."""

    def build(self, candidate: Candidate, calls: Sequence[Call]) -> Built:
        """Compiles a program, and records it for each of the calls."""
        named = [self._settings.function] if self._settings.language == "cuda" else []
        told = [[[one.kind, one.name, [*one.dims], one.dtype, one.value] for one in call] for call in calls]
        files = place_module(self._entry, RECORDER)
        with candidate.session(files=files) as session:
            claim = session.call(
                f"record_{self._settings.language}", candidate.program.files[self._source], *named, told
            )
        recording = parse_recording(claim, calls)
        return Built(candidate, recording, recording.facts)

    def least_seconds(self, anchor: Candidate, moved: int, operations: int, *, again: bool = False) -> float:
        """Returns a bound by the fastest copy that was measured on the device, and its arithmetic at the clock that the driver names."""
        if again or self._ceilings is None:
            with self._running(anchor) as session:
                facts = session.timed("begin", [], _NO_ARRAY).value
                computed = 2e3 * _LANES * facts["multiprocessors"] * facts["clock"]
                self._ceilings = facts["l2"], session.timed("bandwidth").value, computed
        cache, copied, computed = self._ceilings
        # What was written may lie in the cache when the kernel has ended, but what was read came from memory: so at most half of the bytes are not counted.
        return max(max(moved - cache, moved / 2) / copied, operations / computed)

    @contextmanager
    def open_side(self, program: Built, segment: Segment) -> Iterator[Side]:
        """Opens a process of the runner, with the program's kernels and nothing else of it."""
        recording: Recording = program.loaded
        kernels = [[kernel.name, np.frombuffer(kernel.binary, "uint8")] for kernel in recording.kernels]
        with self._running(program.candidate) as session:
            session.timed("begin", kernels, segment.size)
            yield GpuSide(session, segment, recording, measure_overhead(session), self._settings.seconds)

    @contextmanager
    def _running(self, candidate: Candidate) -> "Iterator[TimingSession]":
        """Yields a timed session of the runner, in which the program's own files are empty."""
        empty = dict.fromkeys(candidate.program.files, b"")
        with candidate.session(files={**empty, **place_module(self._entry, RUNNER)}, timed=True) as session:
            yield session


def place_module(entry: str, module: str) -> dict[str, bytes]:
    """Returns the files of one of this package's modules, and of those that it imports, as a box needs them: under their own names, and in place of the task's `entry`."""
    here = Path(__file__).parent
    package = here.name
    files = {f"{package}/{name}.py": (here / f"{name}.py").read_bytes() for name in (*_NEIGHBOURS, module)}
    told = f"from {package}.{module} import *\n".encode()
    return {**files, f"{package}/__init__.py": b"", f"{entry}.py": told}


def _check_granted(task: Task) -> None:
    if not task.limits.grants.gpu or not all(stage.needs.gpus for stage in task.stages):
        raise TaskError(
            f"task {task.name!r} is evaluated on a GPU, and has a stage without one. Try: write gpu = 1 in [sandbox], and needs = {{ gpus = 1, pinned = true }} in the stage"
        )


def _check_installed(language: Language) -> None:
    """Raises `TaskError` where this Python, which is the candidates' too, lacks what the language needs; nothing is imported."""
    if language == "cuda":
        try:
            nvrtc()
        except OSError as error:
            raise TaskError(f"this machine evaluates no kernels in cuda: {error}") from None
        return
    missing = [name for name in _IMPORTED if importlib.util.find_spec(name) is None]
    if missing:
        raise TaskError(
            f"this machine evaluates no kernels in {language}: this Python has no {' and no '.join(missing)}. Try: pip install 'evolve[torch]', or name one that has it in [environment]"
        )


# --- what a recorder says that a program's launches are: nothing of it is believed, and what is parsed is all that is run

_MOST_KERNELS, _MOST_LAUNCHES, _MOST_PARAMETERS = 64, 256, 128
_LONGEST_NAME = 2000
_MOST_BYTES = 1 << 20
"""Bytes of the compiled kernels of a program."""
_LARGEST_GRID, _LARGEST_BLOCK, _LARGEST_SHARED = (1 << 31) - 1, 1024, 256 << 10
_LARGEST_NUMBER = 8
_RESOURCES = ("registers", "spilled", "shared")


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A compiled kernel; `resources` are what the recorder claims of it."""

    name: str
    binary: bytes
    resources: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    """One launch: which kernel, its sizes, and parameters that are each a place (an array, by its position, and an offset in bytes) or the bytes of a number."""

    kernel: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    parameters: tuple[tuple[int, int] | bytes, ...]

    def encode(self, places: Sequence[int]) -> list[Any]:
        """As the runner takes it, with the arrays at these places."""
        parameters = [one.hex() if isinstance(one, bytes) else places[one[0]] + one[1] for one in self.parameters]
        return [self.kernel, [*self.grid], [*self.block], self.shared, parameters]


@dataclass(frozen=True, slots=True)
class Recording:
    """Kernels of a program, and the launches of each call that it was asked for."""

    kernels: tuple[CompiledKernel, ...]
    launches: Mapping[Call, tuple[RecordedLaunch, ...]]

    @property
    def facts(self) -> dict[str, float]:
        """Descriptors: the size of the code, and what its largest kernel takes."""
        size = sum(len(kernel.binary) for kernel in self.kernels)
        most = {name: float(max(kernel.resources[name] for kernel in self.kernels)) for name in _RESOURCES}
        # A kernel's own resources have its static memory alone; what Triton uses is asked for by the launch.
        shared = [
            self.kernels[one.kernel].resources["shared"] + one.shared for call in self.launches.values() for one in call
        ]
        launches = float(max(map(len, self.launches.values())))
        return {"log2_code": math.log2(size), "launches": launches, **most, "shared": float(max(shared))}


def parse_recording(claim: object, calls: Sequence[Call]) -> Recording:
    """Returns a recorder's answer; raises `RefusedProgram` with the recorder's reason, or where it is none that could be."""
    match claim:
        case {"refused": str(reason)}:
            raise RefusedProgram(reason[:8000])
        case {"kernels": [*kernels], "calls": [*told]} if len(told) == len(calls):
            pass
        case _:
            raise _strange("what was recorded")
    if not 1 <= len(kernels) <= _MOST_KERNELS:
        raise RefusedProgram(f"the program launches {len(kernels)} kernels, and 1 to {_MOST_KERNELS} are allowed")
    found = tuple(map(_kernel, kernels))
    size = sum(len(kernel.binary) for kernel in found)
    if size > _MOST_BYTES:
        raise RefusedProgram(f"the compiled kernels have {size:,} bytes, and {_MOST_BYTES:,} are allowed")
    return Recording(found, {call: _launches(one, call, len(found)) for call, one in zip(calls, told, strict=True)})


def _kernel(told: object) -> CompiledKernel:
    match told:
        case [str(name), np.ndarray() as binary, dict(resources)]:
            right = binary.ndim == 1 and binary.dtype == np.uint8 and binary.size > 0 and 0 < len(name) <= _LONGEST_NAME
            if right and "\0" not in name and all(_whole(resources.get(one), 0, 1 << 30) for one in _RESOURCES):
                return CompiledKernel(name, binary.tobytes(), {one: resources[one] for one in _RESOURCES})
    raise _strange("a kernel")


def _launches(told: Any, call: Call, kernels: int) -> tuple[RecordedLaunch, ...]:
    if not isinstance(told, list) or not 1 <= len(told) <= _MOST_LAUNCHES:
        raise RefusedProgram(f"each call launches 1 to {_MOST_LAUNCHES} kernels, got something else")
    arrays = [one for one in call if one.kind != "number"]
    return tuple(_launch(one, arrays, kernels) for one in told)


def _launch(told: Any, arrays: Sequence[Argument], kernels: int) -> RecordedLaunch:
    match told:
        case [kernel, [*grid], [*block], shared, [*parameters]] if _whole(kernel, 0, kernels - 1):
            sizes = len(grid) == len(block) == 3 and all(_whole(one, 1, _LARGEST_GRID) for one in grid)
            blocks = all(_whole(one, 1, _LARGEST_BLOCK) for one in block) and math.prod(block) <= _LARGEST_BLOCK
            if not sizes or not blocks or not _whole(shared, 0, _LARGEST_SHARED):
                raise RefusedProgram(
                    f"a kernel is launched with the grid {grid!r:.60}, the block {block!r:.60} and {shared!r:.20} bytes of shared memory, which no device takes"
                )
            if len(parameters) <= _MOST_PARAMETERS:
                values = tuple(_parameter(one, arrays) for one in parameters)
                return RecordedLaunch(kernel, tuple(grid), tuple(block), shared, values)
    raise _strange("a launch")


def _parameter(told: Any, arrays: Sequence[Argument]) -> tuple[int, int] | bytes:
    match told:
        case [array, offset] if _whole(array, 0, len(arrays) - 1) and _whole(offset, 0, arrays[array].bytes - 1):
            return array, offset
        case str(digits) if len(digits) <= 2 * _LARGEST_NUMBER:
            try:
                return bytes.fromhex(digits)
            except ValueError:
                pass
    raise _strange("a parameter")


def _whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _strange(what: str) -> RefusedProgram:
    return RefusedProgram(f"{what} is not what a recorder says: the program has changed what records it")


# --- one program in its runner's process: a time counts where the device's events and the evaluator's clock agree

DOUBTS = 5
"""In how many calls of a process the clocks may disagree: the machine may have done something else, which only makes the evaluator's clock later."""
APART, AT_ONCE = 0.1, 60e-6
"""How far two clocks may be apart: a share of the time, and seconds."""
DISAGREE = "two clocks that disagree"
_NOTHINGS = 9
_PLACES = 64
_LANES = 128
"""Numbers in single precision that a multiprocessor multiplies and adds in a cycle, on every device of the last years."""


class TimingSession(Protocol):
    """Part of a timed session of the runner that is used here."""

    def timed(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Timed:
        """Returns one timed call."""
        ...


@dataclass(slots=True)
class GpuSide:
    """`overhead` is what the evaluator's clock shows beyond the device's where nothing is replayed; `seconds` the wall time of one call; `doubts` in how many calls the clocks have disagreed."""

    session: TimingSession
    segment: Segment
    recording: Recording
    overhead: float
    seconds: float
    doubts: int = 0

    def call(self, question: Question, poison: int) -> Called:
        """Returns one call; see `Side.call`. Where the clocks disagree it is doubtful, and a failure of integrity if that was too often."""
        # Only the guards are drawn: the device finds the arrays of every call at the same places.
        layout = Layout.of(self.segment, question.arguments, question.draw - question.draw % _PLACES)
        launches = [launch.encode(layout.places) for launch in self.recording.launches[question.arguments]]
        start = layout.places[0] - GUARD
        last, place = layout.arrays[-1]
        image = self.segment.window(start, (place + last.bytes + GUARD - start,), "uint8")
        layout.prepare(question.inputs, poison)
        self.session.timed("refill", image, start, launches, seconds=self.seconds)
        replayed = self.session.timed("replay", seconds=self.seconds)
        self.session.timed("give", image, start, seconds=self.seconds)
        doubtful = not agree(replayed.value, replayed.wall - self.overhead)
        self.doubts += doubtful
        tag = layout.violation(question.inputs) or (DISAGREE if self.doubts > DOUBTS else "")
        return Called(layout.outputs(), float(replayed.value), tag, doubtful)


def agree(events: float, wall: float) -> bool:
    """Returns whether seconds between two events are those that the evaluator has seen."""
    return abs(wall - events) <= APART * max(wall, events) + AT_ONCE


def measure_overhead(session: TimingSession) -> float:
    """Returns what the evaluator's clock shows beyond the device's for a graph that does nothing, the median of some."""
    found = [session.timed("nothing") for _ in range(_NOTHINGS)]
    return float(median(one.wall - one.value for one in found))
