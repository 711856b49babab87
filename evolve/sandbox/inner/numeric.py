"""Number of threads that numerical libraries start in a candidate's process.

Standard library only, for it lives in the template, which has one thread: what it has loaded believes that there is one processor. After the fork a
candidate may be told of more. Nothing is looked for in files once the process is a candidate's."""

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_SETTERS = {
    "openblas": (
        "scipy_openblas_set_num_threads64_",
        "scipy_openblas_set_num_threads",
        "openblas_set_num_threads64_",
        "openblas_set_num_threads",
    ),
    "mkl_rt": ("MKL_Set_Num_Threads",),
    "gomp": ("omp_set_num_threads",),
    "iomp5": ("omp_set_num_threads",),
    "libomp": ("omp_set_num_threads",),
}
"""By a part of the library's name, what its function may be called."""

Pool = Callable[[int], object]
"""Sets the number of threads of a library that is loaded."""


def pools(maps: Path = Path("/proc/self/maps")) -> list[Pool]:
    """Returns the pools of the libraries that this process has loaded; none where the system does not tell."""
    try:
        lines = maps.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    paths = dict.fromkeys(line.split(None, 5)[5] for line in lines if ".so" in line)
    return [pool for path in paths if Path(path).exists() for pool in _of(path)]


def _of(path: str) -> Iterable[Pool]:
    name = Path(path).name
    for part, functions in _SETTERS.items():
        if part in name:
            library = ctypes.CDLL(path)
            found = [function for function in functions if hasattr(library, function)]
            yield from (_pool(library, function) for function in found[:1])


def _pool(library: ctypes.CDLL, function: str) -> Pool:
    call = library[function]
    call.argtypes, call.restype = (ctypes.c_int,), None
    return call


def use(threads: int, found: Sequence[Pool]) -> None:
    """Sets the number of threads: of what is loaded, `found` and torch, and of what this process, or a program that it starts, will load."""
    os.environ.update(dict.fromkeys(VARIABLES, str(threads)))
    for pool in found:
        pool(threads)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)
