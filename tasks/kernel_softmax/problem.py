"""Row softmax for the evaluator `kernel`: shapes, inputs, and the answers in double precision.

Invariant: inputs are drawn from the generator that is given; all of them are finite."""

import numpy as np

from evolve.types import TaskError

SHAPES = {
    "search": ((700, 1000), (7000, 100), (15_000, 20), (22, 32_768)),
    "prime": ((1009, 1021), (7919, 127), (31, 32_749)),
    "one row": ((1, 300_000),),
    "narrow": ((60_000, 13), (150_000, 5)),
    "wide": ((5, 200_000), (300, 3000)),
    "gpu": ((8192, 1024), (2048, 4096), (65_536, 128), (128, 65_536)),
    "gpu prime": ((8191, 1021), (61, 131_071)),
    "gpu one row": ((1, 4_194_304),),
    "gpu narrow": ((600_000, 13), (1_000_000, 5)),
}
REGIMES = ("normal", "offset", "spread", "equal rows", "one large", "masked", "far below")
TOLERANCE = {"out": 4e-5}
"""Sums in single precision, one after the other, are off by 1.5e-5 in the longest row; answers that are rounded to half precision by 1.6e-4 and more."""
EACH, LEAST = 1e-3, 1e-37
"""How far each number may be off: a share of it, and about the least number of single precision that is no fraction of that. Small numbers do not count in a norm, and could be left out."""


def shapes(parameters):
    if parameters.shapes not in SHAPES:
        raise TaskError(
            f"parameters.shapes: there are no shapes {parameters.shapes!r}. Do: name one of {', '.join(SHAPES)}"
        )
    return [{"rows": rows, "columns": columns} for rows, columns in SHAPES[parameters.shapes]]


def arguments(shape):
    dims = (shape["rows"], shape["columns"])
    return [
        ("out", "out", dims, "float32"),
        ("in", "in", dims, "float32"),
        ("number", "rows", shape["rows"]),
        ("number", "columns", shape["columns"]),
    ]


def make_inputs(rng, shape, regime):
    values = rng.standard_normal((shape["rows"], shape["columns"]), dtype=np.float32)
    if regime == "offset":
        values += np.float32(80)
    elif regime == "spread":
        values *= np.float32(10)
    elif regime == "equal rows":
        # A fifth of them: were it all, to look for them would be worth more than to be fast. Half of those hold one other number, so that a few samples tell nothing.
        chosen = rng.permutation(shape["rows"])[: shape["rows"] // 5]
        values[chosen] = values[chosen, :1]
        _spoil(rng, values, chosen[::2])
    elif regime == "one large":
        values[np.arange(len(values)), rng.integers(0, shape["columns"], len(values))] += np.float32(10)
    elif regime == "masked":
        masked = rng.random(values.shape, dtype=np.float32) < 0.5
        masked[:, 0] = False
        values[masked] = -1e30
    elif regime == "far below":
        values *= np.float32(0.01)
        values[:, 1::2] -= np.float32(95)
        _spoil(rng, values, rng.permutation(shape["rows"])[: max(1, shape["rows"] // 5)])
    return {"in": values}


def _spoil(rng, values, rows):
    """One number of each of the rows, at a random odd place, becomes 3 less than the first: the largest stays what it is, so that equal terms still add up exactly."""
    if values.shape[1] > 1:
        values[rows, 1 + 2 * rng.integers(0, values.shape[1] // 2, len(rows))] = values[rows, 0] - 3


def oracle(inputs, shape):
    values = inputs["in"].astype(np.float64)
    values -= values.max(axis=1, keepdims=True)
    np.exp(values, out=values)
    values /= values.sum(axis=1, keepdims=True)
    return {"out": values}


def check(outputs, expected, inputs, shape):
    off = np.abs(outputs["out"] - expected["out"])
    wrong = ~(off <= EACH * expected["out"] + LEAST)
    count = np.count_nonzero(wrong)
    if not count:
        return ""
    row, column = map(int, np.unravel_index(np.argmax(wrong), wrong.shape))
    found, right = outputs["out"][row, column], expected["out"][row, column]
    return f"{count} of {wrong.size} numbers are off by more than {EACH:g} of themselves, the first in row {row}, column {column}: {found:.6g}, wanted {right:.6g}"


def work(shape):
    count = shape["rows"] * shape["columns"]
    return 8 * count, 12 * count
