"""Records the launches of a program in Triton or CUDA, in a process of its own, in which nothing is timed.

The evaluator places this file and its neighbours in a candidate's box, as the module whose functions are called. Nothing that it gives is trusted: it is what the program claims to be, and what is timed is
that and nothing else. No input that counts is ever in this process.

The Python of a program in Triton runs here: `launch` is called once on buffers of zeros, which compiles, and once more while a stream is captured, and the captured graph is read. A program in CUDA has no
code of the host. NVIDIA's compiler is used as a library (https://docs.nvidia.com/cuda/nvrtc/) by `ctypes`: no `nvcc`, and a text becomes a binary within a second. It may include NVIDIA's headers where these are installed, and `<cstdint>` anywhere."""

import ctypes
import ctypes.util
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evolve_kernel.gpu_driver import Driver, Graphs, Launch, Memory, launches

_PROGRAM = "evolve_program"
_ADDRESS = 8
_LARGEST = 8
"""Bytes of a parameter that is a number."""


class Unrecordable(Exception):
    """A program that cannot be recorded; the text says why."""


def record_triton(text: str, calls: Sequence[Any], driver: Driver | None = None) -> dict[str, Any]:
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
        # Zeros and no inputs: this process must know nothing that is asked later.
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


# --- CUDA

_NVRTC_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
_NVRTC_PACKAGES = ("nvidia.cuda_nvrtc", "nvidia.cu13")
_HEADER_PACKAGES = ("nvidia.cuda_runtime", "nvidia.cu13")
_SYSTEM_HEADERS = "/usr/local/cuda/include"
_WITH_OWN_INSTRUCTIONS = 90
"""From here on, devices have instructions that only code for just them may use (wgmma, TMA): `sm_90a`."""
_WIDTHS = (("char", 8), ("short", 16), ("int", 32), ("long", 64))
_INTEGERS = "\n".join(
    ["#pragma once"]
    + [f"typedef signed {kind} int{bits}_t; typedef unsigned {kind} uint{bits}_t;" for kind, bits in _WIDTHS]
    + ["typedef long intptr_t; typedef unsigned long uintptr_t;", "namespace std {"]
    + [f"using ::int{size}_t; using ::uint{size}_t;" for size in (*(str(bits) for _, bits in _WIDTHS), "ptr")]
    + ["}", ""]
)
"""Header of integers with a width, which the compiler does not bring."""
_OWN_HEADERS = ("cstdint", "stdint.h")
_PLAN = 7
_LONGEST_LOG = 8000


class CompileError(Exception):
    """Text that does not compile, with the compiler's words."""


def record_cuda(
    text: str, function: str, calls: Sequence[Any], driver: Driver | None = None, library: Any = None
) -> dict[str, Any]:
    """Compiles a kernel in CUDA and asks it how it wants to be launched, once in each call; returns what `record_triton` does. The text defines `extern "C" __global__ void NAME(arguments...)` and a second
    kernel `NAME_plan(int *plan, numbers...)`, which one thread runs: it writes the grid (3), the block (3) and the bytes of dynamic shared memory."""
    opened = Driver() if driver is None else driver
    try:
        binary = compile_text(text, opened.facts()["arch"], nvrtc() if library is None else library)
    except CompileError as error:
        return {"refused": f"the program does not compile:\n{error}"}
    module = opened.module(binary)
    kernel, plan = opened.function(module, function), opened.function(module, f"{function}_plan")
    numpy = importlib.import_module("numpy")
    kernels = [[function, numpy.frombuffer(binary, "uint8"), opened.resources(kernel)]]
    return {"kernels": kernels, "calls": [[_plan_launch(opened, plan, call)] for call in calls]}


def nvrtc() -> Any:
    """Returns NVIDIA's compiler: of a package that comes with torch, else of the system. Raises `OSError` where there is none."""
    # Without a place, `CDLL` opens the program itself.
    for place in filter(None, (*_list_libraries(), *_NVRTC_NAMES, ctypes.util.find_library("nvrtc"))):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise OSError("there is no library nvrtc. Try: install torch, or the package nvidia-cuda-nvrtc")


def compile_text(text: str, arch: int, library: Any) -> bytes:
    """Returns the binary of a text for devices like `arch`, such as 90; raises `CompileError` with what the compiler says."""
    program, source = ctypes.c_void_p(), ctypes.c_char_p(text.encode())
    count = len(_OWN_HEADERS)
    contents = (ctypes.c_char_p * count)(*[_INTEGERS.encode()] * count)
    names = (ctypes.c_char_p * count)(*(name.encode() for name in _OWN_HEADERS))
    made = library.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", count, contents, names)
    _succeeds(made, "create")
    options = [option.encode() for option in _list_options(arch)]
    given = (ctypes.c_char_p * len(options))(*options)
    code = library.nvrtcCompileProgram(program, len(options), given)
    if code:
        log = _read(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program)
        raise CompileError(log.rstrip(b"\0").decode("utf-8", "replace")[:_LONGEST_LOG])
    return _read(library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN, program)


def _read(size: Any, content: Any, program: ctypes.c_void_p) -> bytes:
    count = ctypes.c_size_t()
    _succeeds(size(program, ctypes.byref(count)), "size")
    room = ctypes.create_string_buffer(max(1, count.value))
    _succeeds(content(program, room), "read")
    return room.raw[: count.value]


def _succeeds(code: int, what: str) -> None:
    if code:
        raise CompileError(f"the compiler cannot {what} (error {code})")


def _list_options(arch: int) -> Iterator[str]:
    yield f"--gpu-architecture=sm_{arch}{'a' if arch >= _WITH_OWN_INSTRUCTIONS else ''}"
    yield "--std=c++17"
    folders = [*(str(folder / "include") for folder in _list_folders(_HEADER_PACKAGES)), _SYSTEM_HEADERS]
    yield from (f"--include-path={folder}" for folder in folders if Path(folder, "cuda_fp16.h").is_file())


def _list_libraries() -> Iterator[str]:
    for folder in _list_folders(_NVRTC_PACKAGES):
        yield from (str(path) for path in sorted(folder.glob("lib/libnvrtc.so*")))


def _list_folders(packages: Sequence[str]) -> Iterator[Path]:
    for package in packages:
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        yield from map(Path, (found and found.submodule_search_locations) or ())


def _plan_launch(driver: Driver, plan: int, call: Sequence[Any]) -> list[Any]:
    """Returns the one launch of a call: all arguments in their order, in the sizes that the plan has written."""
    numbers = [value.to_bytes(8, "little", signed=True) for kind, _, _, _, value in call if kind == "number"]
    graphs, memory, told = Graphs(driver), Memory(driver), (ctypes.c_int * _PLAN)()
    room = memory.allocate(4 * _PLAN)
    memory.put(room, ctypes.addressof(told), 4 * _PLAN)
    one = (1, 1, 1)
    graphs.launch(Launch(plan, one, one, 0, (room.to_bytes(8, "little"), *numbers)))
    driver.wait()
    memory.get(ctypes.addressof(told), room, 4 * _PLAN)
    sizes, arrays, parameters = list(told), 0, list[Any]()
    for kind, _, _, _, value in call:
        if kind == "number":
            parameters.append(value.to_bytes(8, "little", signed=True).hex())
        else:
            parameters.append([arrays, 0])
            arrays += 1
    return [0, sizes[:3], sizes[3:6], sizes[6], parameters]
