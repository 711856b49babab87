"""Judges an algorithm: it places circles for several seeds, and the judge finds the best radii and proves the sums.

The mean over several seeds counts, because one lucky seed says little about an algorithm; the seeds come from the trial's, so that each
measurement has others and no program can be written for them.

Invariant: nothing that a candidate says is believed but the centres, and every sum is that of circles that provably do not overlap."""

import math
import statistics
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import picture
from packing import SCALE, Packing, centres_from, packed

from evolve import Candidate, Evaluation, Trial, evaluator

SLOWER = 2.0
"""A call may take this many times its limit, because other programs may use the machine."""


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The mean sum of radii over the seeds."""
    n, limit, seeds = trial.parameters.n, trial.parameters.limit, trial.parameters.seeds
    packings: list[Packing] = []
    for seed in np.random.default_rng(trial.entropy()).integers(1 << 31, size=seeds).tolist():
        answer = candidate.call("pack", n, limit, seed, seconds=SLOWER * limit)
        try:
            packings.append(packed(centres_from(answer, n)))
        except ValueError as error:
            return Evaluation.invalid(str(error))
    values = [rounded_down(packing.total) for packing in packings]
    best = max(packings, key=lambda packing: packing.total)
    milliseconds = 1000 * candidate.cpu_seconds / seeds
    return Evaluation.ok(
        fitness=math.fsum(values) / seeds,
        standard_error=statistics.stdev(values) / math.sqrt(seeds) if seeds > 1 else None,
        descriptors={
            "walls": statistics.fmean(packing.at_walls for packing in packings),
            "effort": math.log2(max(milliseconds, 1.0)),
        },
        metrics={"best": max(values), "worst": min(values), "milliseconds": milliseconds},
        artifacts={
            "centres": [[x / SCALE, y / SCALE] for x, y in best.centres],
            "radii": [radius / SCALE for radius in best.radii],
        },
        feedback=f"Sums of radii for {seeds} seeds: {', '.join(f'{value:.6f}' for value in values)}.",
    )


def rounded_down(value: Fraction) -> float:
    """The largest float that is not above `value`."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


@evaluate.draw
def draw(artifacts: Mapping[str, Any], trial: Trial) -> str:
    """The best of the packings as a picture."""
    return picture.svg(artifacts["centres"], artifacts["radii"])
