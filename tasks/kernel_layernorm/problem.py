"""The problem as the evaluator `kernel` asks for it: shapes, inputs, the right answers, and how far an answer may be from them.

Invariant: what a row may be off is what the mean and the variance cost in float32 when deviations are taken from the mean first; it grows with the row's own condition, and with nothing else."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve.types import Parameters, TaskError

Shape = Mapping[str, int]
Arrays = dict[str, NDArray[Any]]
EPSILON = float(np.float32(1e-5))
"""Added to the variance, as the header has it."""
UNIT = 2.0**-24
"""Half the distance of 1 to the next float32."""
REGIMES = ("ordinary", "offset", "tiny", "constant rows", "spike", "scales")
SHAPES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "search": ((1280, 1536), (7680, 256), (320, 6144)),
    "prime": ((1277, 1531), (7681, 257), (317, 6143)),
    "one row": ((1, 524288),),
    "narrow": ((131072, 16), (262144, 3)),
    "gpu": ((8192, 1024), (32768, 256), (1024, 8192)),
    "gpu prime": ((8191, 1021), (1021, 8191)),
    "gpu one row": ((1, 2097152),),
    "gpu narrow": ((262144, 16), (524288, 3)),
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
        ("in", "weight", (columns,), "float32"),
        ("in", "bias", (columns,), "float32"),
        ("number", "rows", rows),
        ("number", "columns", columns),
    ]


def make_inputs(rng: Generator, shape: Shape, regime: str) -> Arrays:
    """Rows of one kind; weights between 0.5 and 1.5, biases between -1 and 1."""
    rows, columns = shape["rows"], shape["columns"]
    return {
        "in": _rows(rng, rows, columns, regime),
        "weight": rng.random(columns, "float32") + np.float32(0.5),
        "bias": 2 * rng.random(columns, "float32") - np.float32(1),
    }


def _rows(rng: Generator, rows: int, columns: int, regime: str) -> NDArray[np.float32]:
    """`ordinary`: even, mean 0, variance 1; the others begin so. `offset`: mean 1024. `tiny`: mean 1, a variance of a tenth of the epsilon. (Those means are multiples of what sums of long rows
    are rounded to; with others all roundings would have one direction, and add up faster than `bounds` allow.) `constant rows`: a fifth of the rows, at random places, holds one whole number each, whose sums are exact, but half of those rows one that is larger by 1; were it all, to look for them would be worth more than to be fast. `spike`: one number of each row is 100. `scales`: rows of magnitudes from 1e-4 to 1e4."""
    values = (rng.random((rows, columns), "float32") - np.float32(0.5)) * np.float32(np.sqrt(12))
    match regime:
        case "offset":
            values += np.float32(1024)
        case "constant rows":
            chosen = rng.permutation(rows)[: rows // 5]
            values[chosen] = rng.integers(-16, 17, (len(chosen), 1))
            values[chosen[::2], rng.integers(0, columns, len(chosen[::2]))] += 1
        case "tiny":
            values *= np.float32(1e-3)
            values += np.float32(1)
        case "spike":
            values[np.arange(rows), rng.integers(0, columns, rows)] = 100
        case "scales":
            values *= (10 ** rng.uniform(-4, 4, (rows, 1))).astype("float32")
    return values


def oracle(inputs: Arrays, shape: Shape) -> Arrays:
    """In float64: deviations from the mean, then their mean square."""
    values = inputs["in"].astype("float64")
    values -= values.mean(axis=1, keepdims=True)
    values /= np.sqrt(_mean_square(values) + EPSILON)[:, None]
    values *= inputs["weight"]
    values += inputs["bias"]
    return {"out": values}


def check(outputs: Arrays, expected: Arrays, inputs: Arrays, shape: Shape) -> str:
    """Each row: the distance of all its numbers from the right ones, in the L2 norm, is at most `bounds`."""
    off = outputs["out"] - expected["out"]
    distances = np.sqrt(np.einsum("rc,rc->r", off, off))
    allowed = bounds(inputs)
    wrong = np.flatnonzero(~(distances <= allowed))
    if not len(wrong):
        return ""
    row = int(wrong[0])
    column = int(np.argmax(np.where(np.isfinite(off[row]), np.abs(off[row]), np.inf)))
    return (
        f"{len(wrong)} of {len(off)} rows are wrong. Row {row} is {distances[row]:.3g} off in the L2 norm, at most {allowed[row]:.3g} is allowed; "
        f"worst in column {column}: {outputs['out'][row, column]:.9g} instead of {expected['out'][row, column]:.9g}"
    )


def bounds(inputs: Arrays) -> NDArray[np.float64]:
    """Of each row. A mean of n numbers is off by about sqrt(n) roundings of their size, which weighs as much as that size is larger than their deviation: 2**-24 * (8 + sqrt(n)) * (1 + size / deviation),
    times the norms of weight and bias. Rounding the outputs alone to float16 is 25 times as far off in rows of 1,500 ordinary numbers."""
    values = inputs["in"]
    columns = values.shape[1]
    mean = values.mean(axis=1, dtype="float64")
    square = np.einsum("rc,rc->r", values, values, dtype="float64") / columns
    deviation = np.sqrt(np.maximum(square - mean * mean, 0.0) + EPSILON)
    scale = np.linalg.norm(inputs["weight"].astype("float64")) + np.linalg.norm(inputs["bias"].astype("float64"))
    allowed: NDArray[np.float64] = UNIT * (8 + np.sqrt(columns)) * (1 + np.sqrt(square) / deviation) * scale
    return allowed


def _mean_square(values: NDArray[np.float64]) -> NDArray[np.float64]:
    squares: NDArray[np.float64] = np.einsum("rc,rc->r", values, values) / values.shape[1]
    return squares


def work(shape: Shape) -> tuple[int, int]:
    """Each number is read and written once; it is added, squared and added, and scaled and shifted: four operations where multiplying and adding is one."""
    numbers = shape["rows"] * shape["columns"]
    return 8 * numbers + 8 * shape["columns"], 4 * numbers
