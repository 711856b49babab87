"""Check of a kernel's outputs: right or not, and how far off.

An output is right where its distance from the answer is *not above* the tolerance, so that NaN is never right; what is said of a wrong one shows no input, and no answer but one."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evolve_kernel.layout import POISONS
from evolve_kernel.problem import Arrays, KernelProblem, Shape

_FAR = 3.0
"""An element is counted as wrong where it is off by more than so many times what each may be off on average."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`fault` says what is wrong with a call's outputs, empty where nothing is. `distance` is how far from the answers they are at most: in the L2 norm, relative to the answer where that is not
    all zeros, of the outputs that have a tolerance above 0; None where there are none."""

    fault: str
    distance: float | None = None


def check_answers(problem: KernelProblem, outputs: Arrays, expected: Arrays, inputs: Arrays, shape: Shape) -> Verdict:
    """Returns what is to be said of outputs; the module's own check comes last."""
    distances = []
    for name, answer in expected.items():
        if name not in problem.tolerance:
            continue
        found = _compare(name, outputs[name], answer, problem.tolerance[name])
        if found.fault:
            return found
        distances += [] if found.distance is None else [found.distance]
    return Verdict(problem.fault(outputs, expected, inputs, shape), max(distances, default=None))


def _compare(name: str, output: NDArray[Any], answer: NDArray[Any], tolerance: float) -> Verdict:
    if tolerance == 0:
        wrong = output != answer
        return Verdict(f"{name} must be exact: {_pattern(output, answer, wrong)}" if wrong.any() else "")
    with np.errstate(all="ignore"):
        off = np.subtract(output, answer, dtype=np.float64).reshape(-1)
        norm = _length(answer.reshape(-1)) or 1.0
        distance = _length(off) / norm
        if distance <= tolerance:
            return Verdict("", distance)
        wrong = ~(np.abs(off) <= _FAR * tolerance * norm / np.sqrt(off.size)).reshape(answer.shape)
    finite = math.isfinite(distance)
    told = f"{name} is off by {distance:.3g} (relative, in the L2 norm)" if finite else f"{name} is not finite"
    told = f"{told}, and {tolerance:g} is allowed"
    return Verdict(f"{told}: {_pattern(output, answer, wrong)}" if wrong.any() else told, distance)


def _length(values: NDArray[Any]) -> float:
    """Returns the L2 norm of a flat array, by one thread: a library that starts several takes longer, and the time of others."""
    return math.sqrt(float(np.einsum("i,i", values, values, dtype=np.float64)))


def _pattern(output: NDArray[Any], answer: NDArray[Any], wrong: NDArray[np.bool_]) -> str:
    """Returns which elements are wrong, in words, and the worst of them."""
    with np.errstate(all="ignore"):
        off = np.where(wrong, np.abs(output.astype(np.float64) - answer), -1.0)
    worst = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
    many = int(wrong.sum())
    parts = [f"{many} of {wrong.size} elements are wrong"]
    if unwritten := int(_unwritten(output).sum()):
        parts.append(f"{unwritten} were not written")
    index = ", ".join(str(int(place)) for place in worst)
    return f"{'; '.join(parts)}. The worst is [{index}]: {output[worst]!s}, wanted {answer[worst]:.9g}"


def _unwritten(output: NDArray[Any]) -> NDArray[np.bool_]:
    """Elements that hold poison still."""
    raw = np.ascontiguousarray(output).reshape(-1, 1).view("uint8")
    found: NDArray[np.bool_] = np.any([(raw == poison).all(axis=1) for poison in POISONS], axis=0)
    return found
