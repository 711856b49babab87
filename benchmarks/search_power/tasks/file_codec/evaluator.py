"""Judges a compressor: draws files, has each compressed in one process and restored in another, compares, and counts bytes.

Invariant: a score is that of sizes from which the program alone, in a process that never saw the file, has restored every byte."""

import lzma
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from files import LAWS, file

from evolve import Candidate, Evaluation, EvolveError, Trial, evaluator

TEXTS = frozenset({"log", "csv", "source", "json", "settings", "table"})
FILTER = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}
EXAMPLE = 1_000_000
"""What is added to the number of a sample for the file whose beginning is shown: it is another one than the program is judged by."""
SHOWN = 240
"""Bytes of it that are shown."""


class Refused(Exception):
    """What the program did with a file, as an evaluation."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(evaluation.feedback)
        self.evaluation = evaluation


@dataclass(frozen=True, slots=True)
class Result:
    """Sizes of one file: by the program, and by LZMA without a container's head."""

    packed: int
    lzma: int

    @property
    def ratio(self) -> float:
        """The program's size relative to that of LZMA."""
        return self.packed / self.lzma


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """Returns the mean over all files of the size relative to that of LZMA."""
    kinds = trial.parameters.kinds.split()
    if not kinds or trial.parameters.size < 1:
        raise EvolveError(
            f"there is nothing to compress. Try: --set task.kinds='{' '.join(LAWS)}' --set task.size=6000"
        )
    try:
        results = {kind: _packed(candidate, kind, drawn(trial, kind, trial.parameters.sample)) for kind in kinds}
    except Refused as refused:
        return refused.evaluation
    ratios = {kind: result.ratio for kind, result in results.items()}
    return Evaluation.ok(
        fitness=_mean(list(ratios.values())),
        cases=ratios,
        descriptors={
            "texts": _mean([ratio for kind, ratio in ratios.items() if kind in TEXTS]),
            "binaries": _mean([ratio for kind, ratio in ratios.items() if kind not in TEXTS]),
        },
        feedback=_table(results, trial),
    )


def drawn(trial: Trial, kind: str, sample: int) -> bytes:
    """Returns the file of a kind."""
    number = list(LAWS).index(kind) if kind in LAWS else 0
    return file(kind, trial.parameters.size, Random(str(trial.entropy(number, sample))))


def _packed(candidate: Candidate, kind: str, content: bytes) -> Result:
    """Has a file compressed and restored; raises `Refused`."""
    packed = candidate.call("compress", content)
    if type(packed) is not bytes:
        raise Refused(Evaluation.invalid(f"compress() must return bytes, got a {type(packed).__name__} for {kind}"))
    restored = candidate.call("decompress", packed)
    if type(restored) is not bytes:
        raise Refused(Evaluation.invalid(f"decompress() must return bytes, got a {type(restored).__name__} for {kind}"))
    if restored != content:
        raise Refused(Evaluation.wrong(_difference(kind, content, restored)))
    return Result(len(packed), len(lzma.compress(content, lzma.FORMAT_RAW, filters=[FILTER])))


def _difference(kind: str, content: bytes, restored: bytes) -> str:
    """Returns where a restored file begins to differ."""
    pairs = zip(content, restored, strict=False)
    first = next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(content), len(restored)))
    return (
        f"decompress(compress(data)) is not data for {kind}: the first difference is at byte {first}, "
        f"and {len(restored)} bytes were restored of {len(content)}"
    )


def _mean(values: Sequence[float]) -> float:
    """Returns the mean, and 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def _table(results: Mapping[str, Result], trial: Trial) -> str:
    """Returns a line for each file, the worst first, and how another file of its kind begins."""
    lines = [f"Files of {trial.parameters.size} bytes, and how other files of their kinds begin:"]
    for kind, result in sorted(results.items(), key=lambda pair: -pair[1].ratio):
        lines.append(f"{kind}: {result.packed} bytes, LZMA {result.lzma}, ratio {result.ratio:.3f}")
        start = drawn(trial, kind, trial.parameters.sample + EXAMPLE)[:SHOWN]
        lines.append(start.decode() if kind in TEXTS else start[: SHOWN // 2].hex(" ", 4))
    return "\n".join(lines)
