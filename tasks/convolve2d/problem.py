"""Images and kernels, and what their full convolution is.

The judge convolves row by row in double precision, by its definition too, when both programs have answered. Invariant: an expected answer is computed once for each instance, from the judge's own
copy; every instance is drawn anew."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Matrix = NDArray[Any]
TOLERANCE = {"float64": 1e-11, "float32": 4e-6}
"""The largest relative error in the Euclidean norm: some hundred times that of an honest program, by definition or by Fourier transforms, and far below that of the next lower precision."""


@dataclass(frozen=True)
class Image:
    """An image with its kernel."""

    image: Matrix
    kernel: Matrix

    @cached_property
    def expected(self) -> Matrix:
        """The convolution in double precision. Each product of an entry of the one and an entry of the other counts once."""
        large, small = sorted((self.image, self.kernel), key=np.size, reverse=True)
        large, small = large.astype(np.float64), small.astype(np.float64)
        rows, columns = (one + other - 1 for one, other in zip(large.shape, small.shape, strict=True))
        answer = np.zeros((rows, columns))
        # Each row of the large one, with zeros after it, becomes a part of one long row: so one call convolves all of them with a row of the small one.
        padded = np.zeros((len(large), columns))
        padded[:, : large.shape[1]] = large
        for number, row in enumerate(small):
            long = np.convolve(padded.ravel(), row)[: padded.size]
            answer[number : number + len(large)] += long.reshape(padded.shape)
        return answer


@dataclass(frozen=True)
class _Draw:
    """Where sizes come from: `scale` times the usual ones, give or take the share `vary`."""

    rng: Generator
    scale: float
    vary: float

    def side(self, usual: int) -> int:
        """Rows or columns of an image."""
        return max(1, round(usual * self.scale * (1.0 + self.vary * self.rng.uniform(-1.0, 1.0))))

    def prime(self, usual: int) -> int:
        """The first prime number from there on."""
        number = max(2, self.side(usual))
        while not all(number % part for part in range(2, number)):
            number += 1
        return number

    def normal(self, rows: int, columns: int) -> Matrix:
        """Numbers around 0."""
        return self.rng.standard_normal((rows, columns))


def _small_kernel(draw: _Draw) -> tuple[Matrix, Matrix]:
    return draw.normal(draw.side(160), draw.side(150)), draw.normal(6, 7)


def _equal_sizes(draw: _Draw) -> tuple[Matrix, Matrix]:
    rows, columns = draw.side(26), draw.side(28)
    return draw.normal(rows, columns), draw.normal(rows, columns)


def _prime_sizes(draw: _Draw) -> tuple[Matrix, Matrix]:
    return draw.normal(draw.prime(97), draw.prime(83)), draw.normal(11, 13)


def _nearly(draw: _Draw, size: float, rows: int, columns: int) -> Matrix:
    """A number with 1 % of noise everywhere, and one entry that is another number."""
    level = draw.rng.uniform(0.1, 1.0) * size * draw.rng.choice([-1.0, 1.0])
    made = level * (1.0 + 0.01 * draw.normal(rows, columns))
    made[draw.rng.integers(rows), draw.rng.integers(columns)] = draw.rng.uniform(-size, size)
    return made


def _nearly_constant(draw: _Draw) -> tuple[Matrix, Matrix]:
    """Not constant, and no product of a column and a row: sums of what were would cost next to nothing."""
    return _nearly(draw, 100.0, draw.side(100), draw.side(90)), _nearly(draw, 1.0, 9, 8)


def _tiny(draw: _Draw) -> tuple[Matrix, Matrix]:
    """Numbers around the smallest that there are in full precision, so that some products have less of it."""
    image = draw.normal(draw.side(90), draw.side(90))
    return image * 1e-306, draw.normal(8, 8) * 10.0 ** draw.rng.uniform(-3.0, 0.0)


KINDS: Mapping[str, Callable[[_Draw], tuple[Matrix, Matrix]]] = {
    "small kernel": _small_kernel,
    "equal sizes": _equal_sizes,
    "prime sizes": _prime_sizes,
    "nearly constant": _nearly_constant,
    "tiny numbers": _tiny,
}


def instances(rng: Generator, parameters: Any) -> dict[str, list[Image]]:
    """One of each kind. In single precision there are no tiny numbers, which it does not have."""
    kinds = [kind for kind in KINDS if parameters.precision == "float64" or kind != "tiny numbers"]
    draw = _Draw(rng, parameters.scale, parameters.vary)
    made = {kind: KINDS[kind](draw) for kind in kinds}
    return {kind: [_image(*each, parameters.precision)] for kind, each in made.items()}


def _image(image: Matrix, kernel: Matrix, precision: str) -> Image:
    return Image(image.astype(precision), kernel.astype(precision))


def grown(rng: Generator, parameters: Any, times: int) -> Image:
    """An image with so many times as many rows."""
    side = round(60 * parameters.scale)
    return _image(rng.standard_normal((side * times, side)), rng.standard_normal((7, 7)), parameters.precision)


def arguments(instance: Image) -> tuple[Matrix, Matrix]:
    """Of the program's function."""
    return instance.image, instance.kernel


def check(instance: Image, answer: Any) -> str:
    """Why an answer is not the convolution; empty where it is."""
    shape = tuple(one + other - 1 for one, other in zip(instance.image.shape, instance.kernel.shape, strict=True))
    precision = instance.image.dtype.name
    if not isinstance(answer, np.ndarray) or answer.shape != shape or answer.dtype.name != precision:
        return f"wanted an array of {shape[0]} by {shape[1]} numbers, {precision} as the image"
    expected = instance.expected
    largest = np.abs(expected).max()
    if not largest or not np.isfinite(answer).all():
        return "" if np.array_equal(answer, expected) else "wanted finite numbers, all 0 where all sums are"
    # Divided first: the squares of the smallest numbers would be 0.
    error = np.linalg.norm((answer - expected) / largest) / np.linalg.norm(expected / largest)
    return (
        ""
        if error <= TOLERANCE[precision]
        else f"the relative error is {error:.2g}, wanted at most {TOLERANCE[precision]:.2g}"
    )
