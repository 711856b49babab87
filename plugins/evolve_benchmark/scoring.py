"""Scores of answers against their instances' references, their mean with its standard error, and the table of the worst.

A score is above 0 and larger is better, whichever values are; where values and references are fractions, so are scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from evolve_benchmark.problem import Number

Mean = Literal["arithmetic", "geometric", "harmonic"]


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """Answer to one instance with its value and score. `given` is the module's instance; `late`: the answer is the trivial one, since none came in time."""

    kind: str
    label: str
    given: Any
    answer: Any
    value: Number
    reference: Number
    score: Number
    late: bool = False


def score(value: Number, reference: Number, better: Literal["larger", "smaller"]) -> Number:
    """Returns how many times as good as the reference a value is: 1 for an equal one."""
    above, below = (value, reference) if better == "larger" else (reference, value)
    if isinstance(above, Fraction) and isinstance(below, Fraction):
        return above / below
    return float(above) / float(below)


def mean(how: Mean, scores: Sequence[Number]) -> Number:
    """Returns the mean of at least one score; the arithmetic and the harmonic mean of fractions are exact."""
    if how == "geometric":
        return math.exp(math.fsum(math.log(one) for one in scores) / len(scores))
    if how == "harmonic":
        return 1 / mean("arithmetic", [1 / one for one in scores])
    if all(isinstance(one, Fraction) for one in scores):
        return Fraction(sum(scores)) / len(scores)
    return math.fsum(scores) / len(scores)


def suite_mean(how: Mean, kinds: Sequence[Sequence[Number]]) -> Number:
    """Returns the mean over kinds of the mean within each: every kind weighs the same, however many instances it has."""
    return mean(how, [mean(how, scores) for scores in kinds])


def standard_error(how: Mean, kinds: Sequence[Sequence[float]]) -> float | None:
    """Returns the standard error of `suite_mean` over instances that were drawn at random, by leaving out one after the other; None where a kind has one alone.

    Kinds are fixed, and so each is a stratum. Source: Efron and Stein, The jackknife estimate of variance (1981), https://doi.org/10.1214/aos/1176345462."""
    if any(len(scores) < 2 for scores in kinds):
        return None
    variance = 0.0
    for number, scores in enumerate(kinds):
        without = [
            float(suite_mean(how, [*kinds[:number], [*scores[:left], *scores[left + 1 :]], *kinds[number + 1 :]]))
            for left in range(len(scores))
        ]
        centre = math.fsum(without) / len(without)
        variance += (len(without) - 1) / len(without) * math.fsum((one - centre) ** 2 for one in without)
    return math.sqrt(variance)


ROWS = 10
"""Rows of a table in the feedback."""
_LATE = "late: counts as the trivial answer"


def list_rows(answers: Sequence[ScoredAnswer]) -> list[dict[str, str | float | bool]]:
    """Returns a row for every instance in the module's order, as an artifact."""
    return [
        {
            "kind": one.kind,
            "label": one.label,
            "value": float(one.value),
            "reference": float(one.reference),
            "score": float(one.score),
            "late": one.late,
        }
        for one in answers
    ]


def format_worst(answers: Sequence[ScoredAnswer]) -> str:
    """Returns the worst instances as Markdown, the worst first; of equal ones in the module's order."""
    order = sorted(range(len(answers)), key=lambda index: float(answers[index].score))
    lines = ["| instance | score | value | reference | |", "|---|---|---|---|---|"]
    for index in order[:ROWS]:
        one = answers[index]
        name = " ".join(part for part in (f"{index + 1}", one.kind, one.label) if part)
        numbers = " | ".join(f"{float(number):.6g}" for number in (one.score, one.value, one.reference))
        lines.append(f"| {name} | {numbers} | {_LATE if one.late else ''} |")
    if (left := len(answers) - ROWS) > 0:
        best = float(answers[order[ROWS]].score)
        lines.append(f"\nAnd {left} more, each with a score of {best:.6g} or better.")
    return "\n".join(lines)
