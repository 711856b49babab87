"""The problem as the evaluator `kernel` asks for it: shapes, inputs, the right answers, and the check of an answer.

Invariant: there is exactly one right answer, and nothing else passes. No input is NaN, infinite or a negative zero."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve.types import Parameters, TaskError

Shape = Mapping[str, int]
Arrays = dict[str, NDArray[Any]]
LOWEST = np.finfo("float32").min
"""What hides a number: the smallest finite one."""
REGIMES = ("ordinary", "ties", "constant rows", "sorted", "masked", "late")
SHAPES: Mapping[str, tuple[tuple[int, int, int], ...]] = {
    "search": ((1024, 2048, 8), (96, 24576, 16), (3, 786432, 32)),
    "prime": ((1021, 2053, 7), (97, 24571, 13), (3, 786431, 31)),
    "the largest": ((1024, 2048, 1), (1, 2097152, 1)),
    "all": ((8192, 32, 32), (1021, 127, 100)),
    "gpu": ((4096, 2048, 8), (512, 16384, 16), (65536, 128, 4)),
    "gpu prime": ((4093, 2053, 7), (509, 16381, 13)),
    "gpu the largest": ((4096, 2048, 1), (1, 4194304, 1)),
    "gpu all": ((32768, 32, 32),),
}
"""Rows, columns and k, by the name of their set."""


def shapes(parameters: Parameters) -> list[dict[str, int]]:
    """Those of the set that the parameter `shapes` names; raises `TaskError` where there is none of that name."""
    if parameters.shapes not in SHAPES:
        raise TaskError(f"there are no shapes {parameters.shapes!r}. Do: choose one of {', '.join(SHAPES)}")
    return [{"rows": rows, "columns": columns, "k": k} for rows, columns, k in SHAPES[parameters.shapes]]


def arguments(shape: Shape) -> list[tuple[Any, ...]]:
    """As the header has them."""
    rows, columns, k = shape["rows"], shape["columns"], shape["k"]
    return [
        ("out", "values", (rows, k), "float32"),
        ("out", "indices", (rows, k), "int32"),
        ("in", "in", (rows, columns), "float32"),
        ("number", "rows", rows),
        ("number", "columns", columns),
        ("number", "k", k),
    ]


def make_inputs(rng: Generator, shape: Shape, regime: str) -> Arrays:
    """Rows of one kind. `ordinary`: even, from -0.5 to 0.5; all begin so. `ties`: about 40 different numbers. `constant rows`: a fifth of the rows, at random places, holds one number each. Half of those have one larger number somewhere. `sorted`: one row of eight ascends, the others descend, and one of five has one larger number somewhere. `masked`: all but about k numbers of a row are the lowest.
    `late`: the largest stand in the last 2 k places."""
    rows, columns, k = shape["rows"], shape["columns"], shape["k"]
    values = rng.random((rows, columns), "float32") - np.float32(0.5)
    match regime:
        case "ties":
            np.round(values * np.float32(40), out=values)
        case "constant rows":
            chosen = rng.permutation(rows)[: rows // 5]
            values[chosen] = values[chosen, :1]
            _spoil(rng, values, chosen[::2])
        case "sorted":
            values.sort(axis=1)
            descends = rng.integers(0, 8, rows) > 0
            values[descends] = values[descends, ::-1]
            _spoil(rng, values, np.flatnonzero(rng.integers(0, 5, rows) == 0))
        case "masked":
            values[rng.random((rows, columns), "float32") * columns > k] = LOWEST
        case "late":
            values[:, -2 * k :] += np.float32(10)
    values += np.float32(0)  # A negative zero becomes a positive one.
    return {"in": values}


def _spoil(rng: Generator, values: NDArray[np.float32], rows: NDArray[np.int64]) -> None:
    """One number of each of the rows, at a random place, becomes the largest: a few samples of a row tell nothing of it."""
    values[rows, rng.integers(0, values.shape[1], len(rows))] = 1


def oracle(inputs: Arrays, shape: Shape) -> Arrays:
    """What is larger than the k-th largest number of a row, and as many equal to it as are missing, from the left; sorted."""
    values, k = inputs["in"], shape["k"]
    rows, columns = values.shape
    least = np.partition(values, columns - k, axis=1)[:, columns - k, None]
    larger, equal = np.nonzero(values > least), np.nonzero(values == least)
    missing = k - np.bincount(larger[0], minlength=rows)
    starts = np.searchsorted(equal[0], np.arange(rows))
    kept = np.arange(len(equal[0])) - starts[equal[0]] < missing[equal[0]]
    row = np.concatenate([larger[0], equal[0][kept]])
    index = np.concatenate([larger[1], equal[1][kept]])
    order = np.lexsort((index, -values[row, index], row))
    indices = index[order].reshape(rows, k)
    return {"values": np.take_along_axis(values, indices, axis=1).astype("float64"), "indices": indices}


def check(outputs: Arrays, expected: Arrays, inputs: Arrays, shape: Shape) -> str:
    """All numbers and all indices are equal to the right ones."""
    wrong = (outputs["indices"] != expected["indices"]) | (outputs["values"] != expected["values"])
    count = np.count_nonzero(wrong)
    if not count:
        return ""
    row, place = map(int, np.unravel_index(np.argmax(wrong), wrong.shape))
    got, wanted = (
        f"{found['values'][row, place]:.9g} with the index {found['indices'][row, place]}"
        for found in (outputs, expected)
    )
    return f"{count} of {wrong.size} places are wrong, the first in row {row}, place {place}: {got}, instead of {wanted}{_tie(outputs, expected, row, place)}"


def _tie(outputs: Arrays, expected: Arrays, row: int, place: int) -> str:
    equal = outputs["values"][row, place] == expected["values"][row, place]
    return " (of equal numbers the lower index comes first)" if equal else ""


def work(shape: Shape) -> tuple[int, int]:
    """Each number is read and compared once, and the k largest are written with their indices."""
    numbers = shape["rows"] * shape["columns"]
    return 4 * numbers + 8 * shape["rows"] * shape["k"], numbers
