"""Kernels are compiled ahead of time for an H100 or H200 (sm_90): the seeds in Triton, and CUDA by NVIDIA's compiler as a library. Neither needs a GPU."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evolve.task import list_bundled, load
from evolve.types import Parameters, Task
from evolve_kernel import gpu_recorder, problem

pytestmark = pytest.mark.slow
ARCH, WARP = 90, 32
POINTERS = {"float32": "*fp32", "int32": "*i32"}
NUMBERS = {int: "i32", float: "fp32"}
HALVES = """
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void halves(__half *out, const __nv_bfloat16 *in, std::int64_t count)
{
    const std::int64_t place = blockIdx.x * (std::int64_t)blockDim.x + threadIdx.x;
    if (place < count)
        out[place] = __float2half(__bfloat162float(in[place]));
}
"""
OWN_INSTRUCTION = """
extern "C" __global__ void fence() { asm volatile("wgmma.fence.sync.aligned;"); }
"""


class Launched:
    """Stands in for a kernel in Triton: keeps what it is launched with."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __getitem__(self, grid: object) -> Any:
        return lambda *arguments, **named: self.calls.append((arguments, named))


def import_program(text: str, place: Path) -> ModuleType:
    """The program as a module with a file, which Triton reads."""
    path = place / "seed_in_triton.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def binaries(task: Task, place: Path) -> Iterator[Any]:
    """What each launch of the task's seed becomes, for each of the task's shapes."""
    triton = pytest.importorskip("triton", reason="needs triton: make test-slow")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    (text,) = task.seed.files.values()
    program, found = import_program(text, place), problem.load(Path(task.folder), "problem.py")
    kernels = [name for name, each in vars(program).items() if isinstance(each, triton.runtime.jit.JITFunction)]
    for name in kernels:
        setattr(program, name, Launched(getattr(program, name)))
    for shape in found.shapes(Parameters(task.parameters)):
        program.launch(*(one.value if one.kind == "number" else one for one in found.arguments(shape)))
    for launched in (getattr(program, name) for name in kernels):
        for arguments, named in launched.calls:
            options = {"num_warps": named.pop("num_warps", 4)}
            given = dict(zip(launched.kernel.arg_names, arguments, strict=False)) | named
            types = {key: "constexpr" if key in named else type_of(value) for key, value in given.items()}
            constants = {key: value for key, value in given.items() if key in named}
            source = ASTSource(launched.kernel, types, constants)
            yield triton.compile(source, target=GPUTarget("cuda", ARCH, WARP), options=options)


def type_of(value: Any) -> str:
    return NUMBERS[type(value)] if type(value) in NUMBERS else POINTERS[value.dtype]


@pytest.mark.parametrize("name", [name for name in list_bundled() if name.endswith("/triton")])
def test_a_seed_in_triton_becomes_code_for_the_device(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    made = list(binaries(load(name), tmp_path))
    assert made
    for one in made:
        assert one.asm["cubin"].startswith(b"\x7fELF")
        assert f".target sm_{ARCH}a" in one.asm["ptx"]
        # A block may have no more of it.
        assert one.metadata.shared <= 227 << 10


def compile_cuda(text: str, arch: int) -> bytes:
    try:
        return gpu_recorder.compile_text(text, arch, gpu_recorder.nvrtc())
    except OSError as error:
        pytest.skip(f"needs NVIDIA's compiler: make test-slow ({error})")


def test_a_text_in_cuda_may_use_half_precision_and_integers_with_a_width() -> None:
    assert compile_cuda(HALVES, ARCH).startswith(b"\x7fELF")


def test_a_text_in_cuda_may_use_the_instructions_of_its_device() -> None:
    assert compile_cuda(OWN_INSTRUCTION, ARCH).startswith(b"\x7fELF")
    with pytest.raises(gpu_recorder.CompileError, match="wgmma"):
        compile_cuda(OWN_INSTRUCTION, 80)
