"""The problem as the evaluator `kernel` asks for it: shapes, inputs, the right answers, and how far an answer may be from them.

Invariant: what a sum may be off is what adding up neighbours in float32 costs, in whatever groups; it is measured by the sums so far, and never by those to come."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve.types import Parameters, TaskError

Shape = Mapping[str, int]
Arrays = dict[str, NDArray[Any]]
UNIT = 2.0**-24
"""Half the distance of 1 to the next float32."""
REGIMES = ("positive", "walk", "alternating", "whole", "growing", "rare")
SHAPES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "search": ((1, 3145728), (1536, 2048), (96, 32768)),
    "prime": ((1, 3145739), (1531, 2053), (97, 32771)),
    "short rows": ((196613, 16), (524288, 3), (31250, 100)),
    "three rows": ((3, 1048573),),
    "gpu": ((1, 4194304), (4096, 2048), (128, 65536)),
    "gpu prime": ((1, 4194301), (4093, 2053)),
    "gpu short rows": ((524287, 16), (80000, 100)),
    "gpu three rows": ((3, 1048573),),
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
        ("number", "rows", rows),
        ("number", "columns", columns),
    ]


def make_inputs(rng: Generator, shape: Shape, regime: str) -> Arrays:
    """Rows of one kind. `positive`: between 0 and 1. `walk`: between -1 and 1. `alternating`: a million, minus a million, with what is `positive` on top. `whole`: from -8 to 8, so that all sums are exact in float32.
    `growing`: magnitudes from 1e-6 to 1e6 along the row. `rare`: one of 500 numbers is `positive`, the others are 0."""
    size = (shape["rows"], shape["columns"])
    if regime == "whole":
        return {"in": rng.integers(-8, 9, size, "int8").astype("float32")}
    values = rng.random(size, "float32")
    match regime:
        case "walk":
            values *= np.float32(2)
            values -= np.float32(1)
        case "alternating":
            values[:, ::2] += np.float32(1e6)
            values[:, 1::2] -= np.float32(1e6)
        case "growing":
            values *= np.logspace(-6, 6, shape["columns"], dtype="float32")
        case "rare":
            values *= rng.integers(0, 500, size, "uint16") == 0
    return {"in": values}


def oracle(inputs: Arrays, shape: Shape) -> Arrays:
    """In float64, whose error is 2**-29 of what a sum may be off."""
    return {"out": np.cumsum(inputs["in"], axis=1, dtype="float64")}


def check(outputs: Arrays, expected: Arrays, inputs: Arrays, shape: Shape) -> str:
    """Each sum is at most `bounds` off."""
    off = outputs["out"] - expected["out"]
    np.abs(off, out=off)
    allowed = bounds(expected["out"])
    wrong = ~(off <= allowed)
    count = np.count_nonzero(wrong)
    if not count:
        return ""
    row, column = map(int, np.unravel_index(np.argmax(wrong), wrong.shape))
    return (
        f"{count} of {wrong.size} sums are wrong, the first in row {row}, column {column}: {outputs['out'][row, column]:.9g} instead of "
        f"{expected['out'][row, column]:.9g}, at most {allowed[row, column]:.3g} off is allowed"
    )


def bounds(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the right sums: 2**-24 * (4 + 2 sqrt(i)) * the largest of the first i, by magnitude. Roundings in a row add up like a random walk's steps (Higham and Mary 2019,
    https://epubs.siam.org/doi/10.1137/18M1226312, with lambda 2). Sums of neighbours in other groups are at most twice as large, and rounded less often."""
    allowed = np.abs(sums)
    np.maximum.accumulate(allowed, axis=1, out=allowed)
    allowed *= _growth(sums.shape[1])
    return allowed


@functools.lru_cache(maxsize=4)
def _growth(columns: int) -> NDArray[np.float64]:
    roundings: NDArray[np.float64] = UNIT * (4 + 2 * np.sqrt(np.arange(1, columns + 1)))
    return roundings


def work(shape: Shape) -> tuple[int, int]:
    """Each number is read, added, and its sum written."""
    numbers = shape["rows"] * shape["columns"]
    return 8 * numbers, numbers
