"""Checks of a reference before a task is made of it: that a search for a faster program would be one for a faster answer to the same question."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from evolve.types import ConfigError
from evolve_kernelbench.answers import PRECISIONS, Array, Distance, Drawn, ModuleReference, measure_distance

_DRAWS = 3
_SHORTEST, _LONGEST = 5e-4, 30.0
"""Seconds of a call of the reference: below, the call itself takes a share of the time; beyond, an evaluation takes hours."""
_LOOSE = 0.01
"""How far off an answer may be that ignores something, at most: no tolerance is as loose."""
_LEAST = 2.0**-24
"""An error that is none: half a unit in the last place of single precision."""
_APART = 4.0
"""How many times as large as the honest error that of the next lower precision has to be, so that there is room for a tolerance between them."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far an answer may be off, between the honest error and that of the next lower precision; `seconds` of one call of the reference."""

    norm: float
    each: float
    seconds: float


def lint(reference: ModuleType, seed: str, precision: str) -> Tolerance:
    """Returns the tolerance of a task. Raises `ConfigError` with the reason why a reference is no task: its inputs are always the same, its answer is drawn, or does not depend on an input,
    a constant passes, or the next lower precision does."""
    made = ModuleReference(reference, precision, 0.0, 0.0)
    try:
        drawn = [made.draw(number) for number in range(_DRAWS)]
    except Exception as error:
        raise ConfigError(
            f"get_inputs() fails: {type(error).__name__}: {error}. Try: return a list of tensors"
        ) from error
    if any(_are_equal(drawn[0].inputs, other.inputs) for other in drawn[1:]):
        raise ConfigError(
            "its inputs are the same each time, so that an answer can be kept. Try: draw them in get_inputs()"
        )
    _check_answers(made, drawn)
    _check_dependence(ModuleReference(reference, precision, _LOOSE, _LOOSE), drawn)
    seconds = _time_program(made, seed, drawn)
    honest = _largest([measure_distance(made.compute(one.inputs, precision), made.expect(one)) for one in drawn])
    coarse = PRECISIONS[precision]
    lower = _largest([measure_distance(made.compute(one.inputs, "float32", coarse), made.expect(one)) for one in drawn])
    for name in ("norm", "each"):
        if getattr(lower, name) < _APART * getattr(honest, name):
            raise ConfigError(
                f"an answer in {coarse} would be off by {getattr(lower, name):.2g} ({name}), hardly more than the reference's own {getattr(honest, name):.2g}: "
                "speed could be bought with precision. Try: smaller sums, or another --precision"
            )
    return Tolerance(math.sqrt(honest.norm * lower.norm), math.sqrt(honest.each * lower.each), seconds)


def _check_answers(made: ModuleReference, drawn: Sequence[Drawn]) -> None:
    """Raises `ConfigError` where the reference is no function of its inputs, or its answer is no array of finite numbers."""
    try:
        answers = [made.expect(one) for one in drawn]
        again = made.compute(drawn[0].inputs, "float64")
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigError(f"the reference fails in double precision: {what}. Try: mend it, or leave it out") from error
    if not all(answer.size and np.isfinite(answer).all() for answer in answers):
        raise ConfigError("its answer is empty, or has numbers that are not finite. Try: other inputs")
    if not np.allclose(answers[0], again, rtol=1e-9, atol=0.0):
        raise ConfigError(
            "it answers one question in two ways, as with dropout. Try: call eval(), or take the chance out"
        )


def _time_program(made: ModuleReference, seed: str, drawn: Sequence[Drawn]) -> float:
    """Returns the seconds of a call of the seed, the least of some; raises `ConfigError` where it fails, or cannot be timed."""
    names: dict[str, Any] = {"__name__": "seed"}
    try:
        exec(compile(seed, "seed.py", "exec"), names)
        found = math.inf
        for one in drawn:
            answer = np.empty(made.expect(one).shape, np.float32)
            began = time.perf_counter()
            names["run"](answer, *one.inputs)
            found = min(found, time.perf_counter() - began)
    except Exception as error:
        raise ConfigError(
            f"the program that is made of it fails: {type(error).__name__}: {error}. Try: keep constants and helpers at its top level"
        ) from error
    if not _SHORTEST <= found <= _LONGEST:
        remedy = "larger sizes" if found < _SHORTEST else "smaller sizes"
        raise ConfigError(
            f"a call takes {found:.2g} s here, and {_SHORTEST:g} to {_LONGEST:g} can be timed well. Try: {remedy}, with --set NAME=VALUE for the file's constants"
        )
    return found


def _largest(found: Sequence[Distance]) -> Distance:
    return Distance(max(_LEAST, *(one.norm for one in found)), max(_LEAST, *(one.each for one in found)))


def _check_dependence(made: ModuleReference, drawn: Sequence[Drawn]) -> None:
    """Raises `ConfigError` where an answer that ignores an input passes, or one that ignores all of them."""
    for answer in _list_constants(made.expect(drawn[0])):
        if not made.check(drawn[0], answer.astype(np.float32)):
            raise ConfigError("a constant passes for its answer. Try: other inputs")
    for place, other in enumerate(drawn[1].inputs):
        mixed = (*drawn[0].inputs[:place], other, *drawn[0].inputs[place + 1 :])
        if not made.check(drawn[0], made.compute(mixed, "float64").astype(np.float32)):
            raise ConfigError(f"its answer does not depend on input {place}. Try: leave the input out")


def _list_constants(expected: Array) -> Iterator[Array]:
    yield np.zeros_like(expected)
    yield np.full_like(expected, np.mean(expected))
    yield np.full_like(expected, np.median(expected))


def _are_equal(ones: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(ones, others, strict=True))


def execute_reference(text: str, name: str) -> ModuleType:
    """Returns a reference as a module; raises `ConfigError` where it fails."""
    made = ModuleType(f"reference_{name}")
    # Dataclasses and such look their module up.
    sys.modules[made.__name__] = made
    try:
        exec(compile(text, f"{name}.py", "exec"), vars(made))
    except Exception as error:
        raise ConfigError(f"it cannot be imported: {type(error).__name__}: {error}. Try: mend it") from error
    return made
