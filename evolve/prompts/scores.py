"""Scores as a model reads them: with the digits that tell them apart, and changes with their sign.

Of the values that a prompt shows, two that differ within the task's digits have different texts."""

from collections.abc import Iterable
from dataclasses import dataclass

from evolve.types import Fitness

USEFUL = 4
"""Significant digits that are always shown, where the task has so many."""
SURE = 2.0
"""A change of fewer standard errors is within the noise."""


def count_digits(values: Iterable[float], most: int, least: int = USEFUL) -> int:
    """Returns the fewest significant digits, from `least` to `most`, with which the values that differ with `most` digits do differ."""
    most, found = max(1, most), list(values)
    least, different = min(max(1, least), most), set(found)
    if len({format_number(value, least) for value in different}) == len(different):
        return least
    distinct = {format_number(value, most): value for value in found}
    for digits in range(least, most):
        if len({format_number(value, digits) for value in distinct.values()}) == len(distinct):
            return digits
    return most


def format_number(value: float, digits: int) -> str:
    """Returns a number with so many significant digits; there is no minus zero."""
    return f"{value + 0.0:.{digits}g}"


@dataclass(frozen=True, slots=True)
class Scores:
    """Format of the scores of one prompt. Values are the engine's, of which a larger one is better."""

    fitness: Fitness
    digits: int

    @classmethod
    def of(cls, fitness: Fitness, values: Iterable[float]) -> "Scores":
        """Returns a format with the digits that these values need."""
        return cls(fitness, count_digits((fitness.shown(value) for value in values), fitness.digits))

    def format(self, value: float, error: float | None = None) -> str:
        """Formats a score as the user writes it, with its standard error where that is known."""
        text = format_number(self.fitness.shown(value), self.digits)
        return f"{text} ± {error:.2g}" if error else text

    def format_change(self, new: float, old: float, error: float = 0.0) -> str:
        """Returns the difference in the user's direction with its sign, and whether that is better, as far as its standard `error` lets one say so;
        what is beyond the task's digits is none."""
        most = max(1, self.fitness.digits)
        if format_number(new, most) == format_number(old, most):
            return "no change"
        difference = f"{self.fitness.shown(new) - self.fitness.shown(old):+.3g}"
        if abs(new - old) < SURE * error:
            return f"{difference}, within the noise"
        return f"{difference}, {'better' if new > old else 'worse'}"
