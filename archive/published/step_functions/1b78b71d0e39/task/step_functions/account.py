"""What a person or a model is told about a construction, beside its number.

Invariant: computed from the judge's own copy of the steps alone."""

import numpy as np
from exact import MAXIMISED
from steps import Array, Steps, active, knots, ratio, zeros


def account(kind: str, steps: Steps, start: Steps | None) -> str:
    """A few lines: the ratio, where the maximum is, what limits it, and what was made of a carried construction."""
    found = knots(kind, steps)
    largest = int(np.abs(found).argmax())
    lines = [
        f"{kind} with {len(steps)} steps: {ratio(kind, steps):.12g}, {'more' if kind == MAXIMISED else 'less'} is better.",
        f"{_curve(kind)} is largest at {_place(kind, largest, len(steps))} and within 0.1 % of that at {active(found)} of {len(found)} knots.",
        _limits(kind, found),
        f"{zeros(steps):.0%} of the steps are 0.",
    ]
    if start is not None:
        lines.append(f"It was given a construction with {ratio(kind, start):.12g} to begin with.")
    return "\n".join(lines)


def _curve(kind: str) -> str:
    return "The overlap" if kind == "erdos" else "The autoconvolution"


def _place(kind: str, knot: int, count: int) -> str:
    """The shift in steps for `erdos`, else the sum of the two indices that meet at a knot."""
    return f"shift {count - 1 - knot}" if kind == "erdos" else f"knot {knot} (steps i and j with i + j = {knot})"


def _limits(kind: str, found: Array) -> str:
    """What theory says about this kind, with this function's numbers."""
    sizes = np.abs(found)
    mean = float(sizes.mean() / sizes.max())
    if kind == MAXIMISED:
        low, high = (float(sizes[sizes < share * sizes.max()].sum() / sizes.sum()) for share in (0.5, 0.9))
        return (
            "The ratio would be 1 if the autoconvolution had one height wherever it is not 0. What it lacks: "
            f"{low:.1%} of the integral is where the height is below half the maximum, {high - low:.1%} where it is from there to 90 %."
        )
    if kind == "erdos":
        return f"The largest overlap counts alone; the mean over all shifts is {mean:.3f} of it. Level the shifts where it is large."
    return (
        f"The largest knot counts alone, against the square of the sum of the steps; the mean knot is {mean:.3f} of it. "
        "Lower the knots near the maximum, and raise steps that meet at low ones."
    )
