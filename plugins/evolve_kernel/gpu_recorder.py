"""Records what the launches of a program in Triton are: in a process of its own, in which the program's Python runs, and nothing is timed.

The evaluator places this file and its neighbours in a candidate's box, as the module whose functions are called. It calls `launch` of the program once on buffers of zeros, which compiles, and
once more while a stream is captured, and reads the captured graph. Nothing that it gives is trusted: it is what the program claims to be, and what is timed is that and nothing else.
No input that counts is ever in this process."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evolve_kernel.gpu_driver import Driver, Graphs, Launch, launches

_PROGRAM = "evolve_program"
_ADDRESS = 8
_LARGEST = 8
"""Bytes of a parameter that is a number."""


class Unrecordable(Exception):
    """A program that cannot be recorded; the text says why."""


def record(text: str, calls: Sequence[Any], driver: Driver | None = None) -> dict[str, Any]:
    """`kernels`: a name, a binary and what the driver tells of its resources, of each that the calls launch; `calls`: the launches of each. Each of the given calls is a list of arguments as
    `[kind, name, dims, dtype, value]`. What cannot be recorded gives `refused`, a text; what the program raises is raised."""
    _at_home()
    torch = importlib.import_module("torch")
    binaries: dict[int, tuple[str, bytes]] = {}
    _watch(importlib.import_module("triton.runtime").driver.active.utils, binaries)
    found = _import_program(text)
    launch = getattr(found, "launch", None)
    if not callable(launch):
        return {"refused": "the program defines no function launch(...), which is called with all arguments"}
    recorder = _Recorder(torch, Driver() if driver is None else driver, binaries)
    try:
        recorded = [recorder.record_call(launch, call) for call in calls]
    except Unrecordable as refused:
        return {"refused": str(refused)}
    return {"kernels": recorder.kernels(), "calls": recorded}


class _Recorder:
    """The kernels that were launched so far, in the order in which they were first seen."""

    def __init__(self, torch: Any, driver: Driver, binaries: dict[int, tuple[str, bytes]]) -> None:
        self._torch = torch
        self._driver = driver
        self._graphs = Graphs(driver)
        self._binaries = binaries
        self._seen: list[int] = []

    def record_call(self, launch: Callable[..., Any], call: Sequence[Any]) -> list[Any]:
        """Returns the launches of one call."""
        made = [self._make_argument(*argument) for argument in call]
        tensors = [one for one in made if not isinstance(one, int)]
        launch(*made)
        self._torch.cuda.synchronize()
        stream = self._torch.cuda.Stream()
        with self._torch.cuda.stream(stream):
            graph = self._graphs.capture(lambda _: launch(*made), stream.cuda_stream)
        try:
            found = launches(self._driver, graph)
        except ValueError as error:
            raise Unrecordable(f"launch(...) cannot be captured as launches of kernels: {error}") from None
        return [self._encode_launch(one, tensors) for one in found]

    def kernels(self) -> list[Any]:
        """Returns each that was launched, with its binary as an array of bytes."""
        numpy = importlib.import_module("numpy")
        told = []
        for function in self._seen:
            name, binary = self._binaries[function]
            told.append([name, numpy.frombuffer(binary, "uint8"), self._driver.resources(function)])
        return told

    def _make_argument(self, kind: str, name: str, dims: Sequence[int], dtype: str, value: int) -> Any:
        if kind == "number":
            return value
        return self._torch.zeros(tuple(dims), dtype=getattr(self._torch, dtype), device="cuda")

    def _encode_launch(self, launch: Launch, tensors: Sequence[Any]) -> list[Any]:
        if launch.function not in self._binaries:
            raise Unrecordable("launch(...) launches a kernel that is not the program's own, such as a library's")
        if launch.function not in self._seen:
            self._seen.append(launch.function)
        parameters = [self._parameter(one, tensors) for one in launch.parameters]
        return [self._seen.index(launch.function), [*launch.grid], [*launch.block], launch.shared, parameters]

    def _parameter(self, raw: bytes, tensors: Sequence[Any]) -> list[Any] | str:
        """Returns a place in one of the arrays, or a number as hexadecimal digits."""
        if len(raw) > _LARGEST:
            raise Unrecordable("a kernel gets a descriptor; only arrays and numbers can be given to one")
        if len(raw) == _ADDRESS:
            value = int.from_bytes(raw, "little")
            for index, tensor in enumerate(tensors):
                if 0 <= value - tensor.data_ptr() < tensor.nbytes:
                    return [index, value - tensor.data_ptr()]
            for block in self._torch.cuda.memory_snapshot():
                if 0 <= value - block["address"] < block["total_size"]:
                    raise Unrecordable("a kernel gets memory that the program has allocated; all memory is an argument")
        return raw.hex()


def _at_home() -> None:
    """Compilers keep what they make where this process may write."""
    here = str(Path.cwd())
    os.environ.update(HOME=here, TRITON_HOME=here, TRITON_CACHE_DIR=str(Path(here, ".triton")))


def _watch(utils: Any, binaries: dict[int, tuple[str, bytes]]) -> None:
    """Notes each binary that Triton loads, by the handle of its function."""
    load = utils.load_binary

    def note_binary(name: str, binary: bytes, *rest: Any) -> Any:
        found = load(name, binary, *rest)
        binaries[int(found[1])] = (name, bytes(binary))
        return found

    utils.load_binary = note_binary


def _import_program(text: str) -> Any:
    """Returns the program as a module with a file of its own, which Triton reads again."""
    place = Path(f"{_PROGRAM}.py").absolute()
    place.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(_PROGRAM, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_PROGRAM] = module
    spec.loader.exec_module(module)
    return module
