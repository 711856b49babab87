"""Timing of kernels on a GPU, in a process of its own, in which no line of a program's Python runs.

The evaluator places this file and its neighbours in a candidate's box, as the module whose functions are called, and gives it compiled kernels and the launches that a
recorder has seen. Graph, events and memory are this code's own; of a program there is only what runs on the device, and of what that keeps there nothing outlives a call."""

from collections.abc import Sequence
from typing import Any

from evolve_kernel.gpu_driver import Driver, Graphs, Launch, Memory

_LEAST_FLUSHED = 128 << 20
_CACHES = 2
"""What is written between calls is so many times as large as the device's L2 cache, and not less than the above."""
_COPIED = 256 << 20
_TRIES = 5

_opened: list["Runner"] = []


def begin(kernels: Sequence[Any], size: int, driver: Driver | None = None) -> dict[str, int]:
    """Loads kernels (each a name and its binary as an array of bytes) and makes room for so many bytes of arguments; gives what the driver tells of the device."""
    _opened[:] = [Runner(Driver() if driver is None else driver, kernels, size)]
    return _opened[0].facts


def refill(image: Any, start: int, launches: Sequence[Any]) -> None:
    """Loads the kernels anew, copies an image of the arguments to the device, from the byte `start` of its room on, captures the launches, and throws everything out of the caches."""
    _opened[0].refill(image, start, launches)


def replay() -> float:
    """Returns the launches, once, until the device has come to rest: seconds between the events around them."""
    return _opened[0].replay()


def nothing() -> float:
    """As `replay`, of a graph that does nothing."""
    return _opened[0].nothing()


def give(image: Any, start: int) -> None:
    """Copies all of the arguments back."""
    _opened[0].give(image, start)


def bandwidth() -> float:
    """Returns the most bytes that the device has read and written in a second, while it copied."""
    return _opened[0].bandwidth()


class Runner:
    """The state of one process: what is loaded, and the graph of the present call."""

    def __init__(self, driver: Driver, kernels: Sequence[Any], size: int) -> None:
        self._driver = driver
        self._memory = Memory(driver)
        self._graphs = Graphs(driver)
        self.facts = driver.facts()
        self._kernels = [(name, bytes(binary)) for name, binary in kernels]
        self._modules: list[int] = []
        self._functions: list[int] = []
        self._size = max(1, size)
        self._room = self._memory.allocate(self._size)
        self._flushed = max(_LEAST_FLUSHED, _CACHES * self.facts["l2"])
        self._flush = self._memory.allocate(self._flushed)
        self._events = (self._graphs.event(), self._graphs.event())
        self._empty = self._graphs.ready(self._graphs.capture(lambda stream: None))
        self._graph = 0
        self._calls = 0

    def refill(self, image: Any, start: int, launches: Sequence[Any]) -> None:
        """See the function of this name."""
        self._calls += 1
        self._load()
        made = [self._decode_launch(launch) for launch in launches]
        self._graph = self._graphs.ready(self._graphs.capture(lambda stream: self._launch_all(made)))
        self._memory.fill(self._room, self._calls % 256, self._size)
        self._driver.wait()
        self._memory.put(self._room + start, image.ctypes.data, image.nbytes)
        self._memory.fill(self._flush, self._calls % 256, self._flushed)
        self._driver.wait()

    def replay(self) -> float:
        """See the function of this name."""
        return self._time(self._graph)

    def nothing(self) -> float:
        """See the function of this name."""
        return self._time(self._empty)

    def give(self, image: Any, start: int) -> None:
        """See the function of this name."""
        self._memory.get(image.ctypes.data, self._room + start, image.nbytes)

    def bandwidth(self) -> float:
        """See the function of this name."""
        one, other = self._memory.allocate(_COPIED), self._memory.allocate(_COPIED)
        copy = self._graphs.ready(self._graphs.capture(lambda stream: self._memory.copy(other, one, _COPIED)))
        return 2 * _COPIED / min(self._time(copy) for _ in range(_TRIES))

    def _load(self) -> None:
        """Loads the kernels anew: variables on the device are as they were compiled."""
        if self._graph:
            self._graphs.forget(self._graph)
        for module in self._modules:
            self._driver.unload(module)
        self._modules = [self._driver.module(binary) for _, binary in self._kernels]
        named = zip(self._modules, self._kernels, strict=True)
        self._functions = [self._driver.function(module, name) for module, (name, _) in named]

    def _time(self, graph: int) -> float:
        self._graphs.replay(graph, self._events)
        self._driver.wait()
        return self._graphs.between(self._events)

    def _launch_all(self, made: Sequence[Launch]) -> None:
        for launch in made:
            self._graphs.launch(launch)

    def _decode_launch(self, told: Any) -> Launch:
        """Returns a launch as the evaluator tells it: `[kernel, grid, block, shared, parameters]`, each parameter a place in the room, or bytes in hexadecimal digits."""
        kernel, grid, block, shared, parameters = told
        values = tuple(
            (self._room + one).to_bytes(8, "little") if isinstance(one, int) else bytes.fromhex(one)
            for one in parameters
        )
        return Launch(self._functions[kernel], tuple(grid), tuple(block), shared, values)
