"""Symmetric matrices, and whether an answer is the nearest positive semidefinite one.

That answer is unique (Higham 1988, https://doi.org/10.1016/0024-3795(88)90223-6), and known by four conditions (Karush, Kuhn and Tucker): X is symmetric, X has no negative eigenvalue, Y = X - A has none, and X and Y are
orthogonal. The judge looks at them in double precision, with eigenvalues that it computes itself when both programs have answered, so that a program may use any method. Invariant: every instance
is drawn anew, and turned by a random rotation."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Matrix = NDArray[Any]
TOLERANCE = {"float64": 1e-10, "float32": 4e-6}
"""How far each condition may be missed, as a share of the norm of the matrix, or of its square: many times as far as an honest program misses it, and far less than the next lower precision does."""


def _rotation(rng: Generator, size: int) -> Matrix:
    """Drawn as any other (Stewart 1980, https://doi.org/10.1137/0717034)."""
    found, triangle = np.linalg.qr(rng.standard_normal((size, size)))
    return found * np.sign(np.diag(triangle))


def _with(rng: Generator, eigenvalues: Matrix) -> Matrix:
    turned = _rotation(rng, len(eigenvalues))
    made = (turned * eigenvalues) @ turned.T
    return (made + made.T) / 2


def _random(rng: Generator, size: int) -> Matrix:
    made = rng.standard_normal((size, size))
    return (made + made.T) / 2


def _low_rank(rng: Generator, size: int) -> Matrix:
    eigenvalues = np.zeros(size)
    rank = int(rng.integers(3, size // 4))
    eigenvalues[:rank] = rng.standard_normal(rank) * 10
    return _with(rng, eigenvalues)


def _nearly(rng: Generator, eigenvalues: Matrix) -> Matrix:
    """One in 25 has the other sign, so that neither the matrix nor 0 is the answer."""
    count = max(1, len(eigenvalues) // 25)
    signs = np.sign(eigenvalues[:count])
    return _with(rng, np.concatenate([-signs * (0.01 + rng.exponential(1.0, count)), eigenvalues[count:]]))


def _nearly_semidefinite(rng: Generator, size: int) -> Matrix:
    return _nearly(rng, rng.exponential(1.0, size))


def _nearly_negative(rng: Generator, size: int) -> Matrix:
    return _nearly(rng, -0.01 - rng.exponential(1.0, size))


def _clustered(rng: Generator, size: int) -> Matrix:
    """Around two numbers, one above 0 and one below, and a few near 0."""
    centres = np.array([rng.uniform(0.5, 2.0), -rng.uniform(0.5, 2.0), 0.0])
    chosen = centres[rng.choice(3, size, p=[0.45, 0.45, 0.1])]
    return _with(rng, chosen + 1e-6 * rng.standard_normal(size))


KINDS: Mapping[str, Callable[[Generator, int], Matrix]] = {
    "random": _random,
    "low rank": _low_rank,
    "nearly semidefinite": _nearly_semidefinite,
    "nearly negative definite": _nearly_negative,
    "clustered": _clustered,
}


def instances(rng: Generator, parameters: Any) -> dict[str, list[Matrix]]:
    """One of each kind, with about 90 rows times `scale`, give or take the share `vary`."""

    def size() -> int:
        return max(16, round(90 * parameters.scale * (1.0 + parameters.vary * rng.uniform(-1.0, 1.0))))

    return {kind: [make(rng, size()).astype(parameters.precision)] for kind, make in KINDS.items()}


def grown(rng: Generator, parameters: Any, times: int) -> Matrix:
    """A random one with so many times as many rows."""
    made = rng.standard_normal((round(50 * parameters.scale) * times,) * 2)
    return ((made + made.T) / 2).astype(parameters.precision)


def check(instance: Matrix, answer: Any) -> str:
    """Why an answer is not the nearest one; empty where it is."""
    precision = instance.dtype.name
    if not isinstance(answer, np.ndarray) or answer.shape != instance.shape or answer.dtype.name != precision:
        return f"wanted an array of {len(instance)} by {len(instance)} numbers, {precision} as the matrix"
    if not np.isfinite(answer).all() or np.abs(answer).max() > 1e9:
        return "wanted finite numbers, none above 1e9"
    if not np.array_equal(answer, answer.T):
        return "the answer is not symmetric, to the last digit"
    return _missed(instance.astype(np.float64), answer.astype(np.float64), TOLERANCE[precision])


def _missed(given: Matrix, answer: Matrix, tolerance: float) -> str:
    """The first condition that an answer misses."""
    size = float(np.linalg.norm(given))
    added = answer - given
    conditions = {
        "the answer has a negative eigenvalue": -float(np.linalg.eigvalsh(answer)[0]) / size,
        "what was added has a negative eigenvalue, so that a nearer matrix would do": -float(
            np.linalg.eigvalsh(added)[0]
        )
        / size,
        "what was added is not orthogonal to the answer, so that there is a nearer one": abs(
            float(np.sum(answer * added))
        )
        / size**2,
    }
    missed = ((said, by) for said, by in conditions.items() if not by <= tolerance)
    return next((f"{said}: {by:.2g} of the norm, at most {tolerance:.2g}" for said, by in missed), "")
