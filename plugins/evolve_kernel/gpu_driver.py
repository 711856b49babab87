"""NVIDIA's driver library by `ctypes`: memory, modules and graphs of launches of one GPU, and nothing of torch.

Runs in a candidate's box, whose Python needs this file and its neighbours alone. Functions and numbers are those of NVIDIA's reference
(https://docs.nvidia.com/cuda/cuda-driver-api/). Whatever the driver refuses raises `DriverError`; everything happens on one stream. A graph that is replayed was captured by
this code from launches that it made itself; of a graph that somebody else's code has filled, only the launches are read."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

LIBRARY = "libcuda.so.1"
_MULTIPROCESSORS, _CLOCK_KHZ, _L2_BYTES, _MAJOR, _MINOR = 16, 13, 38, 75, 76
_REGISTERS, _SPILLED, _STATIC_SHARED = 4, 3, 1
_NON_BLOCKING = 1
_MOST_SHARED = 8
"""The attribute of a function that says how much shared memory a launch may ask for."""
_USUAL_SHARED = 48 << 10
_OF_THIS_THREAD = 1
"""A capture that other threads' calls do not disturb."""
_AS_NODE = 1
"""The flag by which an event that is recorded in a capture becomes a node of the graph (CU_EVENT_RECORD_EXTERNAL)."""
_KERNEL_NODE = 0
KINDS = {1: "copy", 2: "fill", 3: "call of the host", 4: "graph", 5: "empty node", 6: "wait", 7: "record"}
"""What a node of a graph may be beside a launch."""


class DriverError(Exception):
    """Refusal of the driver, by the name of the function and the driver's word for it."""


class Driver:
    """The first GPU that this process sees. `library` stands in for the driver's in a test."""

    def __init__(self, library: Any = None) -> None:
        self.library = ctypes.CDLL(LIBRARY) if library is None else library
        self.call("cuInit", 0)
        device, context, stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuStreamCreate", ctypes.byref(stream), _NON_BLOCKING)
        self._device, self.stream = device, stream

    def facts(self) -> dict[str, int]:
        """`l2` in bytes, `multiprocessors`, `clock` in kHz, and `arch`, such as 90."""
        read = self._attribute
        return {
            "l2": read(_L2_BYTES),
            "multiprocessors": read(_MULTIPROCESSORS),
            "clock": read(_CLOCK_KHZ),
            "arch": 10 * read(_MAJOR) + read(_MINOR),
        }

    def wait(self) -> None:
        """Waits until all is done that was asked for."""
        self.call("cuStreamSynchronize", self.stream)

    def module(self, binary: bytes) -> int:
        """Returns the handle of a compiled module, loaded: its variables are as they were compiled."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(binary))
        return int(module.value or 0)

    def function(self, module: int, name: str) -> int:
        """Returns the handle of a function of a module."""
        found = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(found), ctypes.c_void_p(module), ctypes.c_char_p(name.encode()))
        return int(found.value or 0)

    def unload(self, module: int) -> None:
        """Gives a module back, with its variables."""
        self.call("cuModuleUnload", ctypes.c_void_p(module))

    def resources(self, function: int) -> dict[str, int]:
        """Returns what a function takes: `registers` of a thread, bytes that a thread has `spilled`, static `shared` memory."""
        wanted = {"registers": _REGISTERS, "spilled": _SPILLED, "shared": _STATIC_SHARED}
        found = {}
        for name, attribute in wanted.items():
            value = ctypes.c_int()
            self.call("cuFuncGetAttribute", ctypes.byref(value), attribute, ctypes.c_void_p(function))
            found[name] = value.value
        return found

    def _attribute(self, attribute: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, self._device)
        return value.value

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the library, which must succeed."""
        code = getattr(self.library, name)(*arguments)
        if code:
            raise DriverError(f"{name}: {self._word(code)}")

    def _word(self, code: int) -> str:
        word = ctypes.c_char_p()
        if self.library.cuGetErrorName(code, ctypes.byref(word)) or not word.value:
            return f"error {code}"
        return word.value.decode("ascii", "replace")


class Memory:
    """The memory of the GPU of one driver, by addresses."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def allocate(self, size: int) -> int:
        """Returns the address of so many bytes, which live as long as the process."""
        address = ctypes.c_uint64()
        self._driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return int(address.value)

    def put(self, address: int, host: int, size: int) -> None:
        """Copies from the host to the device, and waits for it."""
        # On the stream: a copy on none need not have arrived when work on a non-blocking stream begins.
        told = ctypes.c_uint64(address), ctypes.c_void_p(host), ctypes.c_size_t(size)
        self._driver.call("cuMemcpyHtoDAsync_v2", *told, self._driver.stream)
        self._driver.wait()

    def get(self, host: int, address: int, size: int) -> None:
        """Copies from the device to the host, and waits for it."""
        told = ctypes.c_void_p(host), ctypes.c_uint64(address), ctypes.c_size_t(size)
        self._driver.call("cuMemcpyDtoHAsync_v2", *told, self._driver.stream)
        self._driver.wait()

    def fill(self, address: int, byte: int, size: int) -> None:
        """Has a range filled; does not wait for it."""
        told = ctypes.c_uint64(address), ctypes.c_ubyte(byte), ctypes.c_size_t(size)
        self._driver.call("cuMemsetD8Async", *told, self._driver.stream)

    def copy(self, to: int, address: int, size: int) -> None:
        """Has a range copied on the device; does not wait for it."""
        places = ctypes.c_uint64(to), ctypes.c_uint64(address)
        self._driver.call("cuMemcpyDtoDAsync_v2", *places, ctypes.c_size_t(size), self._driver.stream)


class _Node(ctypes.Structure):
    """`CUDA_KERNEL_NODE_PARAMS_v2`."""

    _fields_ = [
        ("function", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("parameters", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel: `function` is the driver's handle, `parameters` the bytes of each, `shared` in bytes."""

    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    parameters: tuple[bytes, ...]


class Graphs:
    """Graphs of one driver. A graph is the driver's handle of it."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def capture(self, work: Callable[[int], None], stream: int = 0) -> int:
        """Returns the graph of what `work` launches on a stream, the driver's own or the one that is given."""
        graph = ctypes.c_void_p()
        on = ctypes.c_void_p(stream) if stream else self._driver.stream
        self._driver.call("cuStreamBeginCapture_v2", on, _OF_THIS_THREAD)
        try:
            work(int(on.value or 0))
        except BaseException:
            self._driver.library.cuStreamEndCapture(on, ctypes.byref(graph))
            raise
        self._driver.call("cuStreamEndCapture", on, ctypes.byref(graph))
        return int(graph.value or 0)

    def capture_timed(self, work: Callable[[int], None], events: Sequence[int]) -> int:
        """Returns the graph of what `work` launches between two events. They are nodes of it: the time between them is the device's alone, whatever the host takes to launch the graph."""

        def marked(stream: int) -> None:
            self._mark(events[0])
            work(stream)
            self._mark(events[1])

        return self.capture(marked)

    def _mark(self, event: int) -> None:
        self._driver.call("cuEventRecordWithFlags", ctypes.c_void_p(event), self._driver.stream, _AS_NODE)

    def launch(self, launch: Launch) -> None:
        """Launches a kernel on the driver's stream."""
        if launch.shared > _USUAL_SHARED:
            self._driver.call("cuFuncSetAttribute", ctypes.c_void_p(launch.function), _MOST_SHARED, launch.shared)
        held = [ctypes.create_string_buffer(each, max(8, len(each))) for each in launch.parameters]
        places = (ctypes.c_void_p * max(1, len(held)))(*(ctypes.addressof(each) for each in held))
        function, sizes = ctypes.c_void_p(launch.function), (*launch.grid, *launch.block, launch.shared)
        self._driver.call("cuLaunchKernel", function, *map(ctypes.c_uint, sizes), self._driver.stream, places, None)

    def ready(self, graph: int) -> int:
        """Returns a graph as it can be launched, on the device already; the graph itself is given back."""
        made = ctypes.c_void_p()
        self._driver.call(
            "cuGraphInstantiateWithFlags", ctypes.byref(made), ctypes.c_void_p(graph), ctypes.c_ulonglong(0)
        )
        self._driver.call("cuGraphDestroy", ctypes.c_void_p(graph))
        self._driver.call("cuGraphUpload", made, self._driver.stream)
        return int(made.value or 0)

    def forget(self, made: int) -> None:
        """Gives back what `ready` has made."""
        self._driver.call("cuGraphExecDestroy", ctypes.c_void_p(made))

    def replay(self, made: int) -> None:
        """Launches a graph; does not wait."""
        self._driver.call("cuGraphLaunch", ctypes.c_void_p(made), self._driver.stream)

    def event(self) -> int:
        """Returns a new event, which keeps the time when it is reached."""
        made = ctypes.c_void_p()
        self._driver.call("cuEventCreate", ctypes.byref(made), 0)
        return int(made.value or 0)

    def between(self, events: Sequence[int]) -> float:
        """Returns seconds between two events that were reached."""
        found = ctypes.c_float()
        self._driver.call("cuEventElapsedTime", ctypes.byref(found), *map(ctypes.c_void_p, events))
        return float(found.value) / 1e3


def launches(driver: Driver, graph: int) -> list[Launch]:
    """Returns the launches of a graph, in their order; raises `ValueError` for anything else in it, and where they are no chain."""
    nodes = _nodes(driver, graph)
    if not nodes:
        raise ValueError("it launches nothing")
    return [_launch(driver, node) for node in _order_nodes(driver, graph, nodes)]


def _nodes(driver: Driver, graph: int) -> list[int]:
    count, whole = ctypes.c_size_t(), ctypes.c_void_p(graph)
    driver.call("cuGraphGetNodes", whole, None, ctypes.byref(count))
    nodes = (ctypes.c_void_p * max(1, count.value))()
    driver.call("cuGraphGetNodes", whole, nodes, ctypes.byref(count))
    found = [int(node or 0) for node in nodes[: count.value]]
    for node in found:
        kind = ctypes.c_int()
        driver.call("cuGraphNodeGetType", ctypes.c_void_p(node), ctypes.byref(kind))
        if kind.value != _KERNEL_NODE:
            told = KINDS.get(kind.value, f"node of kind {kind.value}")
            raise ValueError(f"it does something else than launch kernels: a {told}")
    return found


def _order_nodes(driver: Driver, graph: int, nodes: Sequence[int]) -> list[int]:
    count, whole = ctypes.c_size_t(), ctypes.c_void_p(graph)
    driver.call("cuGraphGetEdges", whole, None, None, ctypes.byref(count))
    size = max(1, count.value)
    sources, targets = (ctypes.c_void_p * size)(), (ctypes.c_void_p * size)()
    if count.value:
        driver.call("cuGraphGetEdges", whole, sources, targets, ctypes.byref(count))
    after = {int(sources[i] or 0): int(targets[i] or 0) for i in range(count.value)}
    first = set(nodes) - set(after.values())
    if len(after) != count.value or count.value != len(nodes) - 1 or len(first) != 1:
        raise ValueError("its launches do not follow each other on one stream")
    found = [first.pop()]
    while found[-1] in after:
        found.append(after[found[-1]])
    return found


def _launch(driver: Driver, node: int) -> Launch:
    told = _Node()
    driver.call("cuGraphKernelNodeGetParams_v2", ctypes.c_void_p(node), ctypes.byref(told))
    function = ctypes.c_void_p(told.function)
    if not told.function:
        driver.call("cuKernelGetFunction", ctypes.byref(function), ctypes.c_void_p(told.kernel))
    if not told.parameters and _sizes(driver, function):
        raise ValueError("it passes parameters as one block of bytes")
    parameters = tuple(
        ctypes.string_at(told.parameters[index], size) for index, size in enumerate(_sizes(driver, function))
    )
    grid, block = tuple(map(int, told.grid)), tuple(map(int, told.block))
    return Launch(int(function.value or 0), grid, block, int(told.shared), parameters)  # type: ignore[arg-type]


def _sizes(driver: Driver, function: ctypes.c_void_p) -> list[int]:
    """Returns the bytes of each parameter of a function: the driver is asked until it knows no further one."""
    found: list[int] = []
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    while True:
        asked = ctypes.byref(offset), ctypes.byref(size)
        if driver.library.cuFuncGetParamInfo(function, ctypes.c_size_t(len(found)), *asked):
            return found
        found.append(size.value)
