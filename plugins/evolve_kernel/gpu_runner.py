"""Timing of kernels on a GPU, in a process of its own, in which no line of a program's Python runs.

The evaluator places this file and its neighbours in a candidate's box, as the module whose functions are called, and gives it compiled kernels and the launches that a
recorder has seen. Graph, events and memory are this code's own; of a program there is only what runs on the device, and of what that keeps there nothing outlives a call."""

from collections.abc import Callable, Sequence
from typing import Any

from evolve_kernel.gpu_driver import Driver, Graphs, Launch, Memory

_LEAST_FLUSHED = 128 << 20
_CACHES = 2
"""What is written between calls is so many times as large as the device's L2 cache, and not less than the above."""
_COPIED = 256 << 20
_TRIES = 5


class Runner:
    """State of one process: the kernels that are loaded, and the graph of the present call."""

    def begin(self, kernels: Sequence[Any], size: int, driver: Driver | None = None) -> dict[str, int]:
        """Loads kernels (each a name and its binary as an array of bytes) and makes room for so many bytes of arguments; gives what the driver tells of the device."""
        self._driver = Driver() if driver is None else driver
        self._memory = Memory(self._driver)
        self._graphs = Graphs(self._driver)
        self._kernels = [(name, bytes(binary)) for name, binary in kernels]
        self._modules: list[int] = []
        self._functions: list[int] = []
        self._size = max(1, size)
        self._room = self._memory.allocate(self._size)
        facts = self._driver.facts()
        self._flushed = max(_LEAST_FLUSHED, _CACHES * facts["l2"])
        self._flush = self._memory.allocate(self._flushed)
        self._events = (self._graphs.event(), self._graphs.event())
        self._empty = self._ready(lambda stream: None)
        self._graph = 0
        self._calls = 0
        return facts

    def refill(self, image: Any, start: int, launches: Sequence[Any]) -> None:
        """Loads the kernels anew, copies an image of the arguments to the device, from the byte `start` of its room on, captures the launches, and throws everything out of the caches."""
        self._calls += 1
        self._load()
        made = [self._decode_launch(launch) for launch in launches]
        self._graph = self._ready(lambda stream: self._launch_all(made))
        # Each call has its own byte, so that nothing of the room is left from the one before.
        self._memory.fill(self._room, self._calls % 256, self._size)
        self._driver.wait()
        self._memory.put(self._room + start, image.ctypes.data, image.nbytes)
        self._memory.fill(self._flush, self._calls % 256, self._flushed)
        self._driver.wait()

    def replay(self) -> float:
        """Runs the launches once; returns the seconds between the events around them."""
        return self._time(self._graph)

    def nothing(self) -> float:
        """Runs a graph that does nothing; returns seconds as `replay`."""
        return self._time(self._empty)

    def give(self, image: Any, start: int) -> None:
        """Copies all of the arguments back."""
        self._memory.get(image.ctypes.data, self._room + start, image.nbytes)

    def bandwidth(self) -> float:
        """Returns the most bytes that the device has read and written in a second, while it copied."""
        one, other = self._memory.allocate(_COPIED), self._memory.allocate(_COPIED)
        copy = self._ready(lambda stream: self._memory.copy(other, one, _COPIED))
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

    def _ready(self, work: Callable[[int], None]) -> int:
        return self._graphs.ready(self._graphs.capture_timed(work, self._events))

    def _time(self, graph: int) -> float:
        self._graphs.replay(graph)
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


# A session calls functions of a module by their names.
_runner = Runner()
begin, refill, replay, nothing = _runner.begin, _runner.refill, _runner.replay, _runner.nothing
give, bandwidth = _runner.give, _runner.bandwidth
