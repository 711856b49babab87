"""Inputs and right answers of a reference in KernelBench's convention, as a task's problem module tells them to the evaluator `benchmark`.

Runs in the worker, where the reference is trusted code of the task; answers are computed once for each instance, when the programs have answered."""

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

SEED = 20_250_214
"""What weights are drawn by, in the reference and in programs."""
Array = NDArray[Any]
PRECISIONS: Mapping[str, str] = {"float32": "bfloat16", "bfloat16": "float8_e4m3fn", "float16": "float8_e4m3fn"}
"""Precisions of a task, each with the next lower one, in which an answer must not pass."""


@dataclass(eq=False, slots=True)
class Drawn:
    """One call's inputs. `expected` is the answer in double precision, once it was asked for."""

    inputs: tuple[Array, ...]
    expected: Array | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Distance:
    """How far an answer is from the right one: relative, in the L2 norm over all numbers; and of the worst number, relative to its size and the root mean square of all together."""

    norm: float
    each: float


class ModuleReference:
    """Functions of a problem module, of a `reference` in the convention. `norm` and `each` are how far an answer may be off."""

    def __init__(self, reference: ModuleType, precision: str, norm: float, each: float) -> None:
        self._reference = reference
        self._precision = precision
        self._allowed = Distance(norm, each)
        self._room: tuple[int, ...] = ()

    def instances(self, rng: Generator, parameters: object) -> Sequence[Drawn]:
        """Returns one call's inputs, drawn by the reference."""
        return [self.draw(int(rng.integers(1 << 62)))]

    def arguments(self, instance: Drawn) -> tuple[Array, ...]:
        """Returns what `run` is called with, beside the room for its answer."""
        return instance.inputs

    def room(self, instance: Drawn) -> tuple[tuple[int, ...], str]:
        """Returns shape and type of an answer."""
        if not self._room:
            self._room = self.expect(instance).shape
        return self._room, "float32"

    def check(self, instance: Drawn, answer: object) -> str:
        """Returns what is wrong with an answer; empty where nothing is."""
        expected = self.expect(instance)
        if not isinstance(answer, np.ndarray) or answer.dtype != np.float32 or answer.shape != expected.shape:
            got = f"an array of {answer.dtype}, {answer.shape}" if isinstance(answer, np.ndarray) else type(answer)
            return f"the answer is {got}, wanted an array of float32, {expected.shape}"
        if not np.isfinite(answer).all():
            return f"{np.count_nonzero(~np.isfinite(answer))} of {answer.size} numbers are not finite"
        found, allowed = measure_distance(answer, expected), self._allowed
        if found.norm > allowed.norm:
            return (
                f"the answer is off by {found.norm:.3g} (relative, in the L2 norm), and {allowed.norm:.3g} is allowed"
            )
        if found.each > allowed.each:
            return f"a number is off by {found.each:.3g} of its size and the root mean square of all, and {allowed.each:.3g} is allowed"
        return ""

    def draw(self, seed: int) -> Drawn:
        """Returns the inputs that the reference draws by a seed."""
        torch = _import_torch()
        torch.manual_seed(seed)
        given = self._reference.get_inputs()
        if not given or not all(isinstance(one, torch.Tensor) for one in given):
            raise TypeError("get_inputs() gives something else than tensors")
        return Drawn(tuple(one.numpy() for one in given))

    def expect(self, instance: Drawn) -> Array:
        """Returns the right answer, in double precision."""
        if instance.expected is None:
            instance.expected = self.compute(instance.inputs, "float64")
        return instance.expected

    def compute(self, inputs: Sequence[Array], precision: str, rounded: str = "") -> Array:
        """Returns the reference's answer in a precision; with weights, inputs and answer `rounded` to another one before, where that is given."""
        torch = _import_torch()
        kind, lower = getattr(torch, precision), getattr(torch, rounded, None)

        def convert(tensor: Any) -> Any:
            if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
                return tensor
            return (tensor if lower is None else tensor.to(lower)).to(kind)

        model = _make_model(self._reference)
        # What is drawn in a call is another thing each time, as it would be in a program.
        torch.seed()
        with torch.inference_mode():
            for tensor in (*model.parameters(), *model.buffers()):
                tensor.data = convert(tensor.data)
            answer = model(*(convert(torch.from_numpy(one)) for one in inputs))
            if not isinstance(answer, torch.Tensor):
                raise TypeError(f"the reference answers with a {type(answer).__name__}, and one tensor is wanted")
            found: Array = convert(answer).to(torch.float64).numpy()
        return found


def _make_model(reference: ModuleType) -> Any:
    """Returns the model of a reference, with the weights that all models of a task have."""
    torch = _import_torch()
    torch.manual_seed(SEED)
    given = reference.get_init_inputs()
    torch.manual_seed(SEED)
    return reference.Model(*given)


def measure_distance(answer: Array, expected: Array) -> Distance:
    """Returns how far an answer is off."""
    off, size = np.abs(answer - expected), np.abs(expected)
    square = float(np.mean(np.square(size)))
    if not square:
        return Distance(*[math.inf if off.any() else 0.0] * 2)
    norm = math.sqrt(float(np.mean(np.square(off))) / square)
    return Distance(norm, float(np.max(off / (size + math.sqrt(square)))))


def _import_torch() -> Any:
    # Nothing else of evolve needs it, and an engine does not import it.
    return importlib.import_module("torch")
