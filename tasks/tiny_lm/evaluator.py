"""Judges a model of Python's source by the code that it decodes again: one process fits, one encodes, and one that never saw the text decodes.

Nothing is believed of a probability: one that is negative, does not add up or is too good to be true makes a code that decodes to another text. Invariant: the
score is the length of a code from which a process without the text has given every byte of it back."""

import lzma
import math
from typing import Any

import corpus
import numpy as np
from corpus import Bytes

from evolve import Candidate, Evaluation, Trial, evaluator

FIT_SECONDS, CODE_SECONDS = 20.0, 30.0
"""Wall time of `fit`, and of `encode` and of `decode`."""
MODEL_BYTES, PROGRAM_BYTES = 64 << 10, 4 << 10
"""The largest model and the longest program, both as lzma makes them."""
PLAIN_BYTES = 1 << 20
"""Neither may have more as it is: what is larger is not compressed to find out."""
_LEAST = 1


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """Bits of code per byte of text."""
    text = corpus.compressed(trial.parameters.text, _start(trial), trial.parameters.count)
    program = _size("".join(candidate.program.files[name] for name in sorted(candidate.program.files)).encode())
    if program > PROGRAM_BYTES:
        return Evaluation.invalid(
            f"the program is {program:,} bytes when it is compressed; {PROGRAM_BYTES:,} are allowed, since text that stands in it is no prediction"
        )
    training = corpus.training(trial.parameters.train_bytes)
    model = candidate.call("fit", training, FIT_SECONDS, seconds=FIT_SECONDS)
    size = _size(b"".join(_parts(model)))
    if size > MODEL_BYTES:
        return Evaluation.invalid(
            f"fit() left a model of {size:,} bytes when it is compressed; {MODEL_BYTES:,} are allowed"
        )
    code = candidate.call("encode", model, text, seconds=CODE_SECONDS)
    if not _is_code(code):
        return Evaluation.invalid("encode() must return a flat array of bytes, numpy's uint8")
    again = candidate.call("decode", model, code, len(text), seconds=CODE_SECONDS)
    if (said := _difference(again, text)) is not None:
        return said
    return _evaluated(len(code), len(text), size, program)


def _start(trial: Trial) -> int:
    """Where the text begins: a drawn place, `within` so many bytes of `start`, since a program may hold what it knows that it will be asked."""
    rng = np.random.default_rng(trial.entropy())
    return int(trial.parameters.start + rng.integers(max(1, trial.parameters.within)))


def _evaluated(code: int, text: int, model: int, program: int) -> Evaluation:
    return Evaluation.ok(
        8.0 * code / text,
        descriptors={"log2_model_bytes": math.log2(model), "log2_program_bytes": math.log2(program)},
        metrics={"code_bytes": code, "model_bytes": model, "program_bytes": program},
        feedback=f"{text:,} bytes of text became {code:,} bytes of code. Compressed, the model has {model:,} of {MODEL_BYTES:,} bytes and the program {program:,} of {PROGRAM_BYTES:,}.",
    )


def _size(data: bytes) -> int:
    """How many bytes lzma makes of it; its header, which is always the same, left out. All of them, where they are too many."""
    if len(data) > PLAIN_BYTES:
        return len(data)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    return max(_LEAST, len(lzma.compress(data, format=lzma.FORMAT_RAW, filters=filters)))


def _parts(model: Any) -> list[bytes]:
    """Everything that a model holds, as bytes, in the order in which it stands there."""
    parts, left = [], [model]
    while left:
        item = left.pop()
        if isinstance(item, np.ndarray):
            parts.append(item.tobytes())
        elif isinstance(item, list):
            left.extend(reversed(item))
        elif isinstance(item, dict):
            left.extend(reversed([part for pair in item.items() for part in pair]))
        else:
            parts.append(repr(item).encode("utf-8", "replace"))
    return parts


def _is_code(code: object) -> bool:
    return isinstance(code, np.ndarray) and code.dtype == np.uint8 and code.ndim == 1


def _difference(answer: object, text: Bytes) -> Evaluation | None:
    """What is wrong with what was decoded; None where it is the text."""
    wanted = f"decode() must return the text: {len(text):,} bytes, as numpy's uint8 or whole numbers from 0 to 255"
    if isinstance(answer, list):
        if not all(type(byte) is int and 0 <= byte <= 255 for byte in answer):
            return Evaluation.invalid(f"{wanted}, got a list of something else")
        answer = np.array(answer, dtype=np.uint8)
    if not isinstance(answer, np.ndarray) or answer.dtype != np.uint8 or answer.shape != text.shape:
        shown = f"{answer.dtype.name} {answer.shape}" if isinstance(answer, np.ndarray) else type(answer).__name__
        return Evaluation.invalid(f"{wanted}, got {shown}")
    wrong = np.flatnonzero(answer != text)
    if len(wrong):
        return Evaluation.wrong(
            f"{len(wrong):,} of {len(text):,} decoded bytes are not those of the text, from byte {int(wrong[0]):,} on: the decoder must predict what the encoder did"
        )
    return None
