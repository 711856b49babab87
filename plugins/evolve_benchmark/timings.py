"""What a judging by speed leaves beside its score: a row for every kind of instances to keep, and the same in words.

Invariant: plain data and plain text, of a size that the number of kinds and labels bounds; nothing of an instance itself."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evolve.statistics import median_interval
from evolve_benchmark.pairs import Clock, Double, Pair

Row: TypeAlias = dict[str, str | float | bool]
_CLOCKS = {"cpu": "processor time", "wall": "wall time"}
_VERDICTS = {
    "better": "It is faster than the seed.",
    "worse": "It is slower than the seed.",
    "equal": "It is as fast as the seed: what difference there may be does not matter.",
    "open": "Whether it is faster than the seed was not decided by so many pairs.",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A speed-up and how it was found: `fitness`, a logarithm, give or take `half` (95 %)."""

    fitness: float
    half: float
    rounds: int
    processes: int
    kinds: int
    clock: Clock
    verdict: str

    def metrics(self, pairs: Sequence[Pair]) -> dict[str, float]:
        """Numbers to show. `moved` is the share of all of the program's time that it spent outside of its calls, and was charged."""
        seconds = math.fsum(pair.seconds for pair in pairs)
        return {
            "speed_up": math.exp(self.fitness),
            "speed_up_low": math.exp(self.fitness - self.half),
            "speed_up_high": math.exp(self.fitness + self.half),
            "pairs": len(pairs),
            "processes": self.processes,
            "seconds": seconds / len(pairs),
            "seed_seconds": math.fsum(pair.anchor for pair in pairs) / len(pairs),
            "moved": math.fsum(pair.moved for pair in pairs) / seconds,
        }


def told(how: Told) -> str:
    """The speed-up, its interval, and what is noise."""
    low, high = (math.exp(how.fitness + side * how.half) for side in (-1, 1))
    return (
        f"The program is {math.exp(how.fitness):.4g} times as fast as the seed (95 %: {low:.4g} to {high:.4g}), by {_CLOCKS[how.clock]}: the geometric mean over {how.kinds} kinds of instances of the median"
        f" of their pairs, each with one in the other order, in {how.rounds} rounds and {how.processes} processes. {_VERDICTS[how.verdict]} A change of less than {100 * math.expm1(how.half):.2g} % would be noise here. The slowest kinds are:"
    )


def rows(doubles: Sequence[Double]) -> list[Row]:
    """Every kind and label (of the first of two), as an artifact: `score` is how many times as fast as the seed, `moved` the charged part of the seconds."""
    groups: dict[tuple[str, str], list[Double]] = {}
    for double in doubles:
        groups.setdefault((double.kind, double.pairs[0].label), []).append(double)
    return [_row(kind, label, found) for (kind, label), found in sorted(groups.items())]


def _row(kind: str, label: str, doubles: Sequence[Double]) -> Row:
    ratios, pairs = [one.log_ratio for one in doubles], [pair for one in doubles for pair in one.pairs]
    middle = statistics.median(ratios)
    low, high = (middle, middle) if len(ratios) < 2 else _limits(ratios)
    return {
        "kind": kind,
        "label": label,
        "score": math.exp(middle),
        "low": math.exp(low),
        "high": math.exp(high),
        "seconds": statistics.median(pair.seconds for pair in pairs),
        "seed_seconds": statistics.median(pair.anchor for pair in pairs),
        "moved": statistics.median(pair.moved / pair.seconds for pair in pairs),
        "pairs": len(pairs),
        "late": False,
    }


def _limits(ratios: Sequence[float]) -> tuple[float, float]:
    found = median_interval(ratios)
    return found.low, found.high


def table(found: Sequence[Row], most: int) -> str:
    """The `most` rows in which the program gains least, as Markdown."""
    ordered = sorted(found, key=lambda row: float(row["score"]))
    lines = [
        "| instances | times as fast | 95 % | seconds | the seed's | of it outside of the call | pairs |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in ordered[:most]:
        name = " ".join(str(part) for part in (row["kind"], row["label"]) if part) or "all"
        interval = f"{row['low']:.3g} to {row['high']:.3g}" if float(row["pairs"]) > 2 else "two pairs"
        lines.append(
            f"| {name} | {row['score']:.4g} | {interval} | {row['seconds']:.3g} | {row['seed_seconds']:.3g} | {100 * float(row['moved']):.2g} % | {row['pairs']} |"
        )
    left = len(ordered) - most
    return "\n".join([*lines, *([f"\nAnd {left} more, in each of which it gains more."] if left > 0 else [])])
