"""A GPU that is none: the driver's functions over the memory of this process, with kernels in Python and a clock that only they move."""

# ruff: noqa: N802  the functions are called as the driver has them

import ctypes
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from evolve import Program, Timed
from evolve_kernel.gpu_driver import Driver

Work = Callable[..., None]
OVERHEAD = 200e-6
"""What the judge's clock shows beyond the device's for each call."""
LAUNCH = 5e-6
"""What the host takes to launch a graph."""


@dataclass(frozen=True)
class FakeKernel:
    """What runs on the device: `work` gets each parameter as a number, `sizes` are their bytes."""

    work: Work
    sizes: tuple[int, ...]
    seconds: float = 1e-3
    loaded: Callable[[], Work] | None = None
    """Makes the work anew for each module that is loaded, with variables of its own."""


@dataclass(frozen=True)
class RecordedEvent:
    """A node of a graph that keeps the time."""

    event: int


def floats(address: int, count: int) -> "np.ndarray[Any, Any]":
    """Numbers at an address."""
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))


def doubled(out: int, given: int, count: int) -> None:
    floats(out, count)[:] = 2 * floats(given, count)


@dataclass
class FakeCuda:
    """The library. `kernels` by the binary that holds them; `now` in seconds; `forged` is what events tell instead of the truth, `delay` how many seconds the machine is away when it is waited for next."""

    kernels: Mapping[bytes, FakeKernel]
    now: float = 0.0
    forged: float | None = None
    delay: float = 0.0
    filled: list[tuple[int, int]] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    """Kinds of nodes that a capture has beside launches."""
    branches: bool = False

    def __post_init__(self) -> None:
        self.memory: list[Any] = []
        self.functions: dict[int, FakeKernel] = {}
        self.modules: dict[int, bytes] = {}
        self.graphs: dict[int, list[Any]] = {}
        self.nodes: dict[int, Any] = {}
        self.events: dict[int, float] = {}
        self.handles = iter(range(1000, 1_000_000))
        self.captured: list[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        """Functions that have nothing to do here."""
        if name.startswith("cu"):
            return lambda *arguments: 0
        raise AttributeError(name)

    def cuGetErrorName(self, code: int, word: Any) -> int:
        word._obj.value = b"CUDA_ERROR_FAKE"
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        value._obj.value = {38: 50 << 20, 16: 100, 13: 1_000_000, 75: 9, 76: 0}[attribute]
        return 0

    def cuMemAlloc_v2(self, address: Any, size: Any) -> int:
        self.memory.append(ctypes.create_string_buffer(min(size.value, 1 << 22)))
        address._obj.value = ctypes.addressof(self.memory[-1])
        return 0

    def cuMemcpyHtoDAsync_v2(self, address: Any, host: Any, size: Any, stream: Any) -> int:
        ctypes.memmove(address.value, host.value, size.value)
        return 0

    def cuMemcpyDtoHAsync_v2(self, host: Any, address: Any, size: Any, stream: Any) -> int:
        ctypes.memmove(host.value, address.value, size.value)
        return 0

    def cuMemsetD8Async(self, address: Any, byte: Any, size: Any, stream: Any) -> int:
        self.filled.append((byte.value, size.value))
        (held,) = [one for one in self.memory if ctypes.addressof(one) == address.value]
        ctypes.memset(address.value, byte.value, min(size.value, len(held)))
        return 0

    def cuMemcpyDtoDAsync_v2(self, to: Any, address: Any, size: Any, stream: Any) -> int:
        assert self.captured is not None
        self.captured.append((FakeKernel(lambda: None, (), 1e-3), []))
        return 0

    def cuModuleLoadData(self, module: Any, binary: Any) -> int:
        module._obj.value = next(self.handles)
        self.modules[module._obj.value] = binary.value
        return 0 if binary.value in self.kernels else 200

    def cuModuleGetFunction(self, function: Any, module: Any, name: Any) -> int:
        function._obj.value = next(self.handles)
        kernel = self.kernels[self.modules[module.value]]
        if kernel.loaded is not None:
            kernel = replace(kernel, work=kernel.loaded())
        self.functions[function._obj.value] = kernel
        return 0

    def cuModuleUnload(self, module: Any) -> int:
        del self.modules[module.value]
        return 0

    def cuFuncGetAttribute(self, value: Any, attribute: int, function: Any) -> int:
        value._obj.value = {4: 32, 3: 0, 1: 16}[attribute]
        return 0

    def cuStreamBeginCapture_v2(self, stream: Any, mode: int) -> int:
        self.captured = []
        return 0

    def cuStreamEndCapture(self, stream: Any, graph: Any) -> int:
        graph._obj.value = next(self.handles)
        self.graphs[graph._obj.value] = self.captured or []
        self.captured = None
        return 0

    def cuLaunchKernel(self, function: Any, *rest: Any) -> int:
        sizes, places = [one.value for one in rest[:7]], rest[8]
        kernel = self.functions[function.value]
        given = [ctypes.string_at(places[index], size) for index, size in enumerate(kernel.sizes)]
        self.launched(function.value, sizes, given)
        return 0

    def launched(self, function: int, sizes: Sequence[int], given: Sequence[bytes]) -> None:
        """On a stream: run at once, or captured."""
        kernel = self.functions[function]
        if self.captured is not None:
            self.captured.append((kernel, list(given), function, list(sizes)))
        else:
            self.run(kernel, given)

    def run(self, kernel: FakeKernel, given: Sequence[bytes]) -> None:
        kernel.work(*(int.from_bytes(one, "little", signed=True) for one in given))
        self.now += kernel.seconds

    def cuGraphInstantiateWithFlags(self, made: Any, graph: Any, flags: Any) -> int:
        made._obj.value = graph.value
        return 0

    def cuGraphLaunch(self, graph: Any, stream: Any) -> int:
        self.now += LAUNCH
        for node in self.graphs[graph.value]:
            if isinstance(node, RecordedEvent):
                self.events[node.event] = self.now
            else:
                self.run(node[0], node[1])
        return 0

    def cuStreamSynchronize(self, stream: Any) -> int:
        self.now, self.delay = self.now + self.delay, 0.0
        return 0

    def cuEventCreate(self, event: Any, flags: int) -> int:
        event._obj.value = next(self.handles)
        return 0

    def cuEventRecordWithFlags(self, event: Any, stream: Any, flags: int) -> int:
        assert self.captured is not None
        assert flags == 1
        self.captured.append(RecordedEvent(event.value))
        return 0

    def cuEventElapsedTime(self, found: Any, first: Any, second: Any) -> int:
        told = self.events[second.value] - self.events[first.value]
        found._obj.value = 1e3 * (self.forged if self.forged is not None and told else told)
        return 0

    def cuGraphGetNodes(self, graph: Any, nodes: Any, count: Any) -> int:
        captured = [*self.graphs[graph.value], *self.others]
        if nodes is not None:
            for index, node in enumerate(captured):
                nodes[index] = 10 * graph.value + index
                self.nodes[nodes[index]] = node
        count._obj.value = len(captured)
        return 0

    def cuGraphNodeGetType(self, node: Any, kind: Any) -> int:
        found = self.nodes[node.value]
        kind._obj.value = found if isinstance(found, int) else 0
        return 0

    def cuGraphGetEdges(self, graph: Any, sources: Any, targets: Any, count: Any) -> int:
        found = 0 if self.branches else max(0, len(self.graphs[graph.value]) - 1)
        for index in range(found if sources is not None else 0):
            sources[index], targets[index] = 10 * graph.value + index, 10 * graph.value + index + 1
        count._obj.value = found
        return 0

    def cuGraphKernelNodeGetParams_v2(self, node: Any, told: Any) -> int:
        _, given, function, sizes = self.nodes[node.value]
        self.memory += [held := [ctypes.create_string_buffer(one, len(one)) for one in given]]
        places = (ctypes.c_void_p * max(1, len(held)))(*map(ctypes.addressof, held))
        self.memory.append(places)
        target = told._obj
        target.function, target.shared = function, sizes[6]
        target.grid[:], target.block[:] = sizes[:3], sizes[3:6]
        target.parameters = ctypes.cast(places, ctypes.POINTER(ctypes.c_void_p))
        return 0

    def cuFuncGetParamInfo(self, function: Any, index: Any, offset: Any, size: Any) -> int:
        sizes = self.functions[function.value].sizes
        if index.value >= len(sizes):
            return 1
        size._obj.value = sizes[index.value]
        return 0


class FakeTorch(ModuleType):
    """As much of torch and Triton as a recorder uses; `load` is what loads a kernel of a binary and gives the handle of its function."""

    def __init__(self, cuda: FakeCuda) -> None:
        super().__init__("torch")
        self.float32, self.int32 = np.float32, np.int32
        self.blocks: list[dict[str, int]] = []
        self.cuda = SimpleNamespace(
            synchronize=lambda: None,
            Stream=lambda: SimpleNamespace(cuda_stream=7),
            stream=_entered,
            memory_snapshot=lambda: self.blocks,
        )
        self.library = cuda
        self.utils = SimpleNamespace(load_binary=self._loaded)
        self.runtime = ModuleType("triton.runtime")
        self.runtime.driver = SimpleNamespace(active=SimpleNamespace(utils=self.utils))  # type: ignore[attr-defined]

    def zeros(self, dims: tuple[int, ...], dtype: Any, device: str) -> Any:
        array = np.zeros(dims, dtype)
        return SimpleNamespace(
            data_ptr=lambda: array.ctypes.data, nbytes=array.nbytes, array=array, numel=lambda: array.size
        )

    def _loaded(self, name: str, binary: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
        function = next(self.library.handles)
        self.library.functions[function] = self.library.kernels[binary]
        return 0, function, 32, 0, 1024

    def installed(self, monkeypatch: Any) -> None:
        """As what `import` finds."""
        monkeypatch.setitem(sys.modules, "torch", self)
        triton = ModuleType("triton")
        triton.runtime = self.runtime  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "triton", triton)
        monkeypatch.setitem(sys.modules, "triton.runtime", self.runtime)


@contextmanager
def _entered(stream: Any) -> Iterator[None]:
    yield


class FakeSession:
    """A session whose box is this process: the placed module, in a namespace of its own."""

    def __init__(self, files: Mapping[str, bytes], library: FakeCuda) -> None:
        (name,) = (path for path in files if Path(path).stem in ("gpu_runner", "gpu_recorder"))
        self.names: dict[str, Any] = {"__name__": "evolve_kernel.placed"}
        module = ModuleType("evolve_kernel.placed")
        sys.modules["evolve_kernel.placed"] = module
        self.names = vars(module)
        exec(compile(files[name], name, "exec"), self.names)
        self.names["Driver"] = lambda: Driver(library)
        self.library = library
        self.asked: list[str] = []

    def call(self, function: str, *arguments: Any) -> Any:
        return self.names[function](*arguments)

    def timed(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Timed:
        self.asked.append(function)
        given = [one if isinstance(one, list | int) else one.view() for one in arguments]
        began = self.library.now
        value = self.names[function](*given)
        return Timed(value, self.library.now - began + OVERHEAD, 0.0, 0.0)


class FakeCandidate:
    """A candidate whose sessions are fake."""

    def __init__(self, program: Program, library: FakeCuda) -> None:
        self.program = program
        self.library = library
        self.sessions: list[FakeSession] = []
        self.placed: list[Mapping[str, bytes]] = []

    @contextmanager
    def session(self, *, files: Mapping[str, bytes], timed: bool = False) -> Iterator[FakeSession]:
        self.placed.append(files)
        self.sessions.append(FakeSession(files, self.library))
        yield self.sessions[-1]

    def beside(self, program: Program) -> "FakeCandidate":
        return FakeCandidate(program, self.library)
