"""Judges a function in C: compiles it with the judge's own flags, calls it through the binding, and measures the error itself.

Invariant: what is linked was looked through, and so was the text that it was compiled from; nothing that the program says is believed but its sines."""

import math

from arithmetic import refused_instruction, refused_text

from evolve import Candidate, Evaluation, Trial, evaluator

C = ["cc", "-std=c11", "-O2", "-ffp-contract=off", "-fPIC", "-fno-builtin", "-fno-jump-tables", "-nostdinc"]
COMPILED = [*C, "-S", "-save-temps=obj", "-o", "sine.s", "sine.c"]
LIBRARY = [*C, "-shared", "-nostdlib", "-Wl,-z,defs", "-o", "sine.so", "-x", "assembler", "-"]
LARGEST = 1e9
"""No sine is larger; so much larger ones could not be added up."""


class Refused(Exception):
    """A program that is more than arithmetic."""


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The largest error over the trial's grid of angles."""
    angles = grid(trial.parameters.low, trial.parameters.high, trial.parameters.points)
    try:
        library = built(candidate)
    except Refused as refused:
        return Evaluation.invalid(f"the program uses {refused}, and only arithmetic is allowed")
    with candidate.session(files={"sine.so": library}) as session:
        answer = session.call("sines", angles)
    if not is_numbers(answer, len(angles)):
        return Evaluation.invalid(f"sine() must return a finite number below {LARGEST:g} for every angle")
    errors = [abs(value - math.sin(angle)) for value, angle in zip(answer, angles, strict=True)]
    largest = max(errors)
    worst = angles[errors.index(largest)]
    return Evaluation.ok(
        largest,
        descriptors={"worst_angle": abs(worst)},
        metrics={"mean_error": math.fsum(errors) / len(errors)},
        feedback=f"The largest error is {largest:.3g}, at the angle {worst:.4f}.",
    )


def built(candidate: Candidate) -> bytes:
    """The program as a library: preprocessed, that text compiled, and that assembler linked, where neither is refused. Raises `Refused`."""
    texts = candidate.build(COMPILED, keep=["sine.i", "sine.s"])
    found = refused_text(texts["sine.i"])
    if found:
        raise Refused(f"{found!r}")
    found = refused_instruction(texts["sine.s"])
    if found:
        raise Refused(found)
    return candidate.build(LIBRARY, keep=["sine.so"], input=texts["sine.s"].decode(errors="replace"))["sine.so"]


def grid(low: float, high: float, points: int) -> list[float]:
    """Angles at equal distances, both ends among them."""
    return [low + (high - low) * index / (points - 1) for index in range(points)]


def is_numbers(answer: object, count: int) -> bool:
    """Whether an answer is a list of so many floats of a size that can be."""
    if type(answer) is not list or len(answer) != count:
        return False
    return all(type(value) is float and abs(value) < LARGEST for value in answer)
