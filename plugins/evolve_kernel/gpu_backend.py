"""The back end of Triton and CUDA: launches recorded in one process, and replayed as a graph, on fresh inputs, in another in which no Python of the program runs.

Invariant: a runner's process holds this package's files and empty ones in place of the program's, so that of a program nothing runs there but what runs on the device."""

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import numpy as np

from evolve import Candidate, Segment
from evolve.types import Task, TaskError
from evolve_kernel.arguments import Argument
from evolve_kernel.backend import Built, Side
from evolve_kernel.gpu_nvrtc import compiler
from evolve_kernel.gpu_recording import Call, Recording, parsed
from evolve_kernel.gpu_side import GpuCeilings, GpuSide, Timer, overhead
from evolve_kernel.layout import segment_for
from evolve_kernel.settings import KernelSettings, Language

SUFFIXES: Mapping[Language, str] = {"triton": ".py", "cuda": ".cu"}
RECORDERS: Mapping[Language, str] = {"triton": "gpu_recorder", "cuda": "gpu_nvrtc"}
RUNNER = "gpu_runner"
_NEIGHBOURS = ("gpu_driver", "gpu_graphs")
_IMPORTED = ("torch", "triton")
_NO_ARRAY = 1


class GpuBackend:
    """Of one task. Raises `TaskError` where the task grants no GPU or has no source, or this Python lacks what compiles the language."""

    shortest = 5e-6

    def __init__(self, task: Task, settings: KernelSettings) -> None:
        self._settings = settings
        self._entry = task.entry
        self._source = _source(task, settings.language)
        _check_granted(task)
        _check_installed(settings.language)
        self._ceilings: GpuCeilings | None = None

    def build(self, candidate: Candidate, calls: Sequence[Call]) -> Built:
        """Compiled, and recorded for each of the calls."""
        named = [self._settings.function] if self._settings.language == "cuda" else []
        told = [[[one.kind, one.name, [*one.dims], one.dtype, one.value] for one in call] for call in calls]
        files = placed(self._entry, RECORDERS[self._settings.language])
        with candidate.session(files=files) as session:
            claim = session.call("record", candidate.program.files[self._source], *named, told)
        recording = parsed(claim, calls, self._settings.code_bytes)
        return Built(recording, recording.facts)

    @contextmanager
    def sides(
        self, candidate: Candidate, mine: Built, anchor: Candidate, theirs: Built, largest: Sequence[Argument]
    ) -> Iterator[tuple[Side, Side]]:
        """Both in processes of their own on the same device, with one segment between them and the judge."""
        with (
            segment_for(largest) as segment,
            self._side(candidate, mine, segment) as one,
            self._side(anchor, theirs, segment) as other,
        ):
            yield one, other

    def least_seconds(self, anchor: Candidate, moved: int, operations: int, *, again: bool = False) -> float:
        """By the fastest copy that was measured on the device, and its arithmetic at the clock that the driver names."""
        if again or self._ceilings is None:
            with self._running(anchor) as session:
                facts = session.timed("begin", [], _NO_ARRAY).value
                self._ceilings = GpuCeilings.of(facts, session.timed("bandwidth").value)
        return self._ceilings.least_seconds(moved, operations)

    @contextmanager
    def _side(self, candidate: Candidate, built: Built, segment: Segment) -> Iterator[Side]:
        recording: Recording = built.loaded
        kernels = [[kernel.name, np.frombuffer(kernel.binary, "uint8")] for kernel in recording.kernels]
        with self._running(candidate) as session:
            session.timed("begin", kernels, segment.size)
            yield GpuSide(session, segment, recording, overhead(session), self._settings.seconds)

    @contextmanager
    def _running(self, candidate: Candidate) -> Iterator[Timer]:
        """A timed session of the runner, in which the program's own files are empty."""
        empty = dict.fromkeys(candidate.program.files, b"")
        with candidate.session(files={**empty, **placed(self._entry, RUNNER)}, timed=True) as session:
            yield session


def placed(entry: str, module: str) -> dict[str, bytes]:
    """The files of one of this package's modules, and of those that it imports, as a box needs them: under their own names, and in place of the task's `entry`."""
    here = Path(__file__).parent
    package = here.name
    files = {f"{package}/{name}.py": (here / f"{name}.py").read_bytes() for name in (*_NEIGHBOURS, module)}
    told = f"from {package}.{module} import *\n".encode()
    return {**files, f"{package}/__init__.py": b"", f"{entry}.py": told}


def _source(task: Task, language: Language) -> str:
    """The one file of the program that is recorded; raises `TaskError`."""
    found = [path for path in task.seed.files if PurePosixPath(path).suffix == SUFFIXES[language]]
    if len(found) != 1:
        raise TaskError(
            f"a kernel in {language} has one file with the suffix {SUFFIXES[language]}, got {', '.join(found) or 'none'}. Do: name it in program.files"
        )
    return found[0]


def _check_granted(task: Task) -> None:
    if not task.limits.grants.gpu or not all(stage.needs.gpus for stage in task.stages):
        raise TaskError(
            f"task {task.name!r} is judged on a GPU, and has a stage without one. Do: write gpu = 1 in [sandbox], and needs = {{ gpus = 1, pinned = true }} in the stage"
        )


def _check_installed(language: Language) -> None:
    """Raises `TaskError` where this Python, which is the candidates' too, lacks what the language needs; nothing is imported."""
    if language == "cuda":
        try:
            compiler()
        except OSError as error:
            raise TaskError(f"this machine judges no kernels in cuda: {error}") from None
        return
    missing = [name for name in _IMPORTED if importlib.util.find_spec(name) is None]
    if missing:
        raise TaskError(
            f"this machine judges no kernels in {language}: this Python has no {' and no '.join(missing)}. Do: pip install 'evolve[torch]', or name one that has it in [environment]"
        )
