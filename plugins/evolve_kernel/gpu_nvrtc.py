"""Compiles a kernel in CUDA and asks it how it wants to be launched: in a process in which no host code of the program runs, for it has none.

NVIDIA's compiler as a library (https://docs.nvidia.com/cuda/nvrtc/) by `ctypes`: no `nvcc`, no headers, no C++ compiler of the host, and a text becomes a binary within a second. The text defines `extern "C" __global__ void NAME(arguments...)`
and a second kernel `NAME_plan(int *plan, numbers...)`, which one thread runs: it writes the grid (3), the block (3) and the bytes of dynamic shared memory. As in `gpu_recorder`."""

import ctypes
import ctypes.util
import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evolve_kernel.gpu_driver import Driver, Graphs, Launch, Memory

_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
_PACKAGES = ("nvidia.cuda_nvrtc", "nvidia.cu13")
_PLAN = 7
_LARGEST_LOG = 8000


class CompileError(Exception):
    """Text that does not compile, with the compiler's words."""


def record(
    text: str, function: str, calls: Sequence[Any], driver: Driver | None = None, library: Any = None
) -> dict[str, Any]:
    """As `gpu_recorder.record`, of one kernel that is launched once in each call."""
    opened = Driver() if driver is None else driver
    try:
        binary = compile_text(text, opened.facts()["arch"], compiler() if library is None else library)
    except CompileError as error:
        return {"refused": f"the program does not compile:\n{error}"}
    module = opened.module(binary)
    kernel, plan = opened.function(module, function), opened.function(module, f"{function}_plan")
    numpy = importlib.import_module("numpy")
    kernels = [[function, numpy.frombuffer(binary, "uint8"), opened.resources(kernel)]]
    return {"kernels": kernels, "calls": [[_launch(opened, plan, call)] for call in calls]}


def compiler() -> Any:
    """Returns NVIDIA's compiler: of a package that comes with torch, else of the system. Raises `OSError` where there is none."""
    for place in (*_list_libraries(), *_NAMES, ctypes.util.find_library("nvrtc")):
        try:
            return ctypes.CDLL(place)
        except (OSError, TypeError):
            continue
    raise OSError("there is no library nvrtc. Try: install torch, or the package nvidia-cuda-nvrtc")


def compile_text(text: str, arch: int, library: Any) -> bytes:
    """Returns the binary of a text for devices like `arch`, such as 90; raises `CompileError` with what the compiler says."""
    program = ctypes.c_void_p()
    source, options = ctypes.c_char_p(text.encode()), [f"--gpu-architecture=sm_{arch}".encode(), b"--std=c++17"]
    _succeeds(library.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None), "create")
    given = (ctypes.c_char_p * len(options))(*options)
    code = library.nvrtcCompileProgram(program, len(options), given)
    if code:
        log = _read(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program)
        raise CompileError(log.rstrip(b"\0").decode("utf-8", "replace")[:_LARGEST_LOG])
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


def _list_libraries() -> Iterator[str]:
    for package in _PACKAGES:
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in (found and found.submodule_search_locations) or ():
            yield from (str(path) for path in sorted(Path(folder).glob("lib/libnvrtc.so*")))


def _launch(driver: Driver, plan: int, call: Sequence[Any]) -> list[Any]:
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
