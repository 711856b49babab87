"""As much of Triton's language as the seeds use, by numpy on the processor: one program after the other, and no place outside of an array is ever read or written."""

import itertools
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class Tensor(np.ndarray):
    """Numbers with a type that can be changed."""

    def to(self, dtype: Any) -> "Tensor":
        """The same numbers in another type."""
        return self.astype(dtype)


def tensor(value: Any, dtype: Any = None) -> Tensor:
    """Numbers as a tensor."""
    return np.asarray(value, dtype).view(Tensor)


class Pointer:
    """Places in a flat array."""

    def __init__(self, flat: "np.ndarray[Any, Any]", offset: Any = 0) -> None:
        self.flat = flat
        self.offset = offset

    def __add__(self, places: Any) -> "Pointer":
        return Pointer(self.flat, self.offset + places)

    def checked(self, mask: Any) -> tuple[Any, Any]:
        """Places and mask in one shape; every place that is not masked lies in the array."""
        places, inside = np.broadcast_arrays(self.offset, True if mask is None else mask)
        assert ((places >= 0) & (places < self.flat.size))[inside].all(), "outside of the array"
        return np.where(inside, places, 0), inside


class Jitted:
    """A kernel."""

    def __init__(self, body: Any, ids: dict[int, int]) -> None:
        self.body = body
        self.ids = ids

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        def launched(*arguments: Any, num_warps: int, **constants: int) -> None:
            assert num_warps & (num_warps - 1) == 0
            for place in itertools.product(*map(range, grid)):
                self.ids.update(enumerate(place))
                self.body(*arguments, **constants)

        return launched


def load(pointer: Pointer, mask: Any = None, other: Any = 0) -> Tensor:
    places, inside = pointer.checked(mask)
    return tensor(np.where(inside, pointer.flat[places], pointer.flat.dtype.type(other)))


def store(pointer: Pointer, value: Any, mask: Any = None) -> None:
    places, inside = pointer.checked(mask)
    pointer.flat[places[inside]] = np.broadcast_to(value, places.shape)[inside]


def modules() -> dict[str, ModuleType]:
    """`triton` and `triton.language`, for `sys.modules`."""
    ids: dict[int, int] = {}
    triton, language = ModuleType("triton"), ModuleType("triton.language")
    given = {
        "program_id": lambda axis: tensor(ids[axis], "int32"),
        "arange": lambda first, end: tensor(range(first, end), "int32"),
        "full": lambda shape, value, dtype: tensor(np.full(shape, value, dtype)),
        "zeros": lambda shape, dtype: tensor(np.zeros(shape, dtype)),
        "load": load,
        "store": store,
        "max": lambda value, axis: value.max(axis=axis),
        "min": lambda value, axis: value.min(axis=axis),
        "sum": lambda value, axis: value.sum(axis=axis, dtype=value.dtype),
        "cumsum": lambda value, axis: np.cumsum(value, axis=axis, dtype=value.dtype),
        "where": lambda mask, one, other: tensor(np.where(mask, one, other)),
        "maximum": np.maximum,
        "minimum": np.minimum,
        "exp": np.exp,
        "sqrt": np.sqrt,
        "static_range": range,
        "constexpr": int,
        "float32": np.float32,
        "int32": np.int32,
        "int64": np.int64,
    }
    vars(language).update(given)
    vars(triton).update(
        language=language, jit=lambda body: Jitted(body, ids), cdiv=lambda count, size: -(-count // size)
    )
    return {"triton": triton, "triton.language": language}


def launched(text: str, monkeypatch: Any, values: list[Any]) -> Any:
    """Calls `launch` of a program with arrays and numbers; gives its names."""
    for name, module in modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    names: dict[str, Any] = {}
    exec(compile(text, "seed", "exec"), names)
    flat = [Pointer(value.reshape(-1)) if isinstance(value, np.ndarray) else value for value in values]
    names["launch"](*flat)
    return SimpleNamespace(**names)
