"""Judges a function in C: compiles it with the judge's own flags, calls it through the binding, and measures the error itself.

Invariant: nothing but the program's sources decides what is in the library; nothing that the program says is believed but its sines."""

import math
import re

from evolve import Candidate, Evaluation, Trial, evaluator

C = ["cc", "-std=c11", "-O2", "-ffp-contract=off"]
EXPANDED = [*C, "-E", "-P", "-o", "expanded.c", "sine.c"]
LIBRARY = [*C, "-shared", "-fPIC", "-nostdlib", "-Wl,-z,defs", "-o", "sine.so", "sine.c"]
ASSEMBLER = re.compile(rb"\b(?:__)?asm(?:__)?\b")


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The largest error over the trial's grid of angles."""
    angles = grid(trial.parameters.low, trial.parameters.high, trial.parameters.points)
    expanded = candidate.build(EXPANDED, keep=["expanded.c"])
    if ASSEMBLER.search(expanded["expanded.c"]):
        return Evaluation.invalid("the program uses assembler, and only arithmetic is allowed")
    built = candidate.build(LIBRARY, keep=["sine.so"])
    with candidate.session(files=built) as session:
        answer = session.call("sines", angles)
    if not is_numbers(answer, len(angles)):
        return Evaluation.invalid("sine() must return a finite number for every angle")
    errors = [abs(value - math.sin(angle)) for value, angle in zip(answer, angles, strict=True)]
    largest = max(errors)
    worst = angles[errors.index(largest)]
    return Evaluation.ok(
        largest,
        descriptors={"worst_angle": abs(worst)},
        metrics={"mean_error": math.fsum(errors) / len(errors)},
        feedback=f"The largest error is {largest:.3g}, at the angle {worst:.4f}.",
    )


def grid(low: float, high: float, points: int) -> list[float]:
    """Angles at equal distances, both ends among them."""
    return [low + (high - low) * index / (points - 1) for index in range(points)]


def is_numbers(answer: object, count: int) -> bool:
    """Whether an answer is a list of so many finite floats."""
    if type(answer) is not list or len(answer) != count:
        return False
    return all(type(value) is float and math.isfinite(value) for value in answer)
