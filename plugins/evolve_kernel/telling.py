"""What a judging says to whoever writes the next program: a table of shapes, how sure it is, what the compiler made of the loops.

Invariant: plain text of bounded size; no inputs, no seed, nothing of what is held out."""

import math
from collections.abc import Sequence
from statistics import median

from evolve.statistics import Interval, median_interval
from evolve_kernel.problem import shape_name
from evolve_kernel.rounds import Measured, Timings


def speedup(interval: Interval) -> str:
    """A log ratio with its interval as a factor: `1.42 (1.39 to 1.45)`."""
    return f"{math.exp(interval.estimate):.3g} ({math.exp(interval.low):.3g} to {math.exp(interval.high):.3g})"


def told(measured: Measured, remarks: Sequence[str]) -> str:
    """All of it."""
    interval = measured.interval
    noise = max(interval.high - interval.estimate, interval.estimate - interval.low)
    many = len(measured.processes)
    lines = [
        f"Speed-up against the seed: {speedup(interval)}, the mean over all shapes of ln(seed's time / yours), as a factor, with its 95 % interval.",
        f"From {interval.count} rounds in {many} process{'es' if many > 1 else ''} of each program; a difference below {100 * math.expm1(noise):.1f} % is within the noise.",
        "",
        "| shape | speed-up | 95 % interval | your ms | seed's ms | least possible ms |",
        "|---|---|---|---|---|---|",
        *map(_row, measured.timings),
    ]
    if remarks:
        lines += ["", "The compiler about loops:", *(f"- {remark}" for remark in remarks)]
    return "\n".join(lines)


def _row(timing: Timings) -> str:
    found = median_interval(timing.ratios)
    factor, low, high = (math.exp(one) for one in (found.estimate, found.low, found.high))
    mine, theirs = 1e3 * median(timing.mine), 1e3 * median(timing.theirs)
    return f"| {shape_name(timing.shape)} | {factor:.3g} | {low:.3g} to {high:.3g} | {mine:.3g} | {theirs:.3g} | {1e3 * timing.least:.3g} |"
