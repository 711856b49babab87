"""The problem as the evaluator `kernel` asks for it: shapes, inputs, the right answers, and how far an answer may be from them.

Invariant: what a cell may be off is measured by the nine products that it is the sum of, so that neither cancellation nor a large cell elsewhere hides an error."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve.types import Parameters, TaskError

Shape = Mapping[str, int]
Arrays = dict[str, NDArray[Any]]
Grid = NDArray[np.float32]
TOLERANCE_OF_PRODUCTS = 2.0**-20
"""Of the sum of the nine products' magnitudes. Nine products and eight additions in float32, in any order, are at most 0.63 of 2**-20 off; inputs that are rounded to float16 are up to 660 of it off."""
REGIMES = ("ordinary", "offset", "frame", "spikes", "scales", "nearly constant")
SHAPES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "search": ((768, 1536), (383, 3071), (4608, 256)),
    "odd": ((1023, 1025), (257, 4095), (4111, 255)),
    "thin": ((1, 1048573), (131071, 2), (3, 349529)),
    "one column": ((524287, 1),),
    "gpu": ((2048, 4096), (511, 16383), (32768, 256)),
    "gpu odd": ((2851, 2939), (257, 32749)),
    "gpu thin": ((1, 4194301), (3, 1398101)),
}
"""Rows and columns, by the name of their set."""


def shapes(parameters: Parameters) -> list[dict[str, int]]:
    """Those of the set that the parameter `shapes` names; raises `TaskError` where there is none of that name."""
    if parameters.shapes not in SHAPES:
        raise TaskError(f"there are no shapes {parameters.shapes!r}. Do: choose one of {', '.join(SHAPES)}")
    return [{"rows": rows, "columns": columns} for rows, columns in SHAPES[parameters.shapes]]


def arguments(shape: Shape) -> list[tuple[Any, ...]]:
    """As the header has them."""
    rows, columns = shape["rows"], shape["columns"]
    return [
        ("out", "out", (rows, columns), "float32"),
        ("in", "in", (rows, columns), "float32"),
        ("in", "weights", (3, 3), "float32"),
        ("number", "rows", rows),
        ("number", "columns", columns),
    ]


def make_inputs(rng: Generator, shape: Shape, regime: str) -> Arrays:
    """A grid of one kind, and nine normal weights, whose sum is 0 where the grid has an offset."""
    weights = rng.standard_normal((3, 3), "float32")
    if regime == "offset":
        weights -= weights.mean()
    return {"in": _grid(rng, (shape["rows"], shape["columns"]), regime), "weights": weights}


def _grid(rng: Generator, size: tuple[int, int], regime: str) -> Grid:
    """`ordinary`: even, mean 0, variance 1; all begin so. `offset`: mean 1000. `frame`: the cells at the edges are a million times as large. `spikes`: one cell of ten is not 0. `scales`: magnitudes from 1e-6 to 1e6, side by side.
    `nearly constant`: all cells are equal but one of eight, at random places, so that there are no large parts of which one sum would tell all."""
    values = (rng.random(size, "float32") - np.float32(0.5)) * np.float32(np.sqrt(12))
    match regime:
        case "offset":
            values += np.float32(1000)
        case "frame":
            for edge in (values[0], values[-1], values[1:-1, 0], values[1:-1, -1]):
                edge *= np.float32(1e6)
        case "spikes":
            values *= rng.integers(0, 10, size, "uint8") == 0
        case "scales":
            values *= _MAGNITUDES[rng.integers(0, len(_MAGNITUDES), size, "uint8")]
        case "nearly constant":
            values[rng.integers(0, 8, size, "uint8") > 0] = rng.standard_normal()
    return values


_MAGNITUDES = np.logspace(-6, 6, 25, dtype="float32")


def oracle(inputs: Arrays, shape: Shape) -> Arrays:
    """In float64."""
    return {"out": _sums(inputs, "float64", np.asarray)}


def check(outputs: Arrays, expected: Arrays, inputs: Arrays, shape: Shape) -> str:
    """Each cell is at most `bounds` off."""
    off = np.abs(outputs["out"] - expected["out"])
    allowed = bounds(inputs)
    wrong = ~(off <= allowed)
    count = np.count_nonzero(wrong)
    if not count:
        return ""
    edge = count - np.count_nonzero(wrong[1:-1, 1:-1])
    row, column = map(int, np.unravel_index(np.argmax(wrong), wrong.shape))
    return (
        f"{count} of {wrong.size} cells are wrong, {edge} of them at an edge. The first is in row {row}, column {column}: {outputs['out'][row, column]:.9g} instead of "
        f"{expected['out'][row, column]:.9g}, at most {allowed[row, column]:.3g} off is allowed"
    )


def bounds(inputs: Arrays) -> Grid:
    """Of each cell, by the magnitudes of its products."""
    return _sums(inputs, "float32", np.abs) * np.float32(TOLERANCE_OF_PRODUCTS)


def _sums(inputs: Arrays, dtype: str, of: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """The weighted sums of neighbours in some precision, of what `of` makes of cells and weights."""
    rows, columns = inputs["in"].shape
    wide = np.pad(of(inputs["in"]).astype(dtype), 1, mode="edge")
    sums, product = np.zeros((rows, columns), dtype), np.empty((rows, columns), dtype)
    for (down, right), weight in np.ndenumerate(of(inputs["weights"]).astype(dtype)):
        np.multiply(wide[down : down + rows, right : right + columns], weight, out=product)
        sums += product
    return sums


def work(shape: Shape) -> tuple[int, int]:
    """Each cell is read once and written once, and nine products are added, which are nine operations where multiplying and adding is one."""
    cells = shape["rows"] * shape["columns"]
    return 8 * cells, 9 * cells
