"""`perturb_literals`: Gaussian steps of fixed size on a few of a program's numbers, for the baselines.

History-free. A child follows from the parent's text and the step's random numbers alone."""

import math
from collections.abc import Sequence
from typing import Any

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve.operators.literals import LiteralTemplate, require_template
from evolve.operators.parents import parent_program
from evolve.protocols import Context
from evolve.types import Child, EditError, Program, Selection

_TRIES = 16


class PerturbSettings(BaseModel):
    """Settings of `perturb_literals`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sigma: float = Field(default=1.0, gt=0.0, le=100.0)
    """The standard deviation of a step, in the literal's scale."""


class PerturbLiterals:
    """Changes k = floor((n + 1) ** u) of a program's n tunable literals, u uniform in [0, 1): often few, sometimes all."""

    def __init__(self, settings: PerturbSettings) -> None:
        self._sigma = settings.sigma

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns `selection.samples` children of the first parent; raises `EditError` where there is nothing to tune."""
        form = require_template(parent_program(selection, context.history))
        return [Child(self._child(form, context.rng)) for _ in range(selection.samples)]

    def _child(self, form: LiteralTemplate, rng: Generator) -> Program:
        # Steps can vanish: an integer stays at least 2, and a float below the sentinels.
        for _ in range(_TRIES):
            values = form.nearest(self._perturb(form, rng))
            if values != form.values:
                return form.fill(values)
        raise EditError(
            f"no step of {_TRIES} changed a literal: all are at the end of their range. Try: use another operator"
        )

    def _perturb(self, form: LiteralTemplate, rng: Generator) -> list[float]:
        count = len(form.values)
        chosen = rng.choice(count, int((count + 1) ** rng.random()), replace=False)
        values: list[Any] = list(form.values)
        for index, step in zip(chosen, self._sigma * rng.standard_normal(len(chosen)), strict=True):
            step = float(step * form.scales[index])
            if isinstance(values[index], int):
                # A step below one half would be rounded away.
                step = math.copysign(max(1.0, abs(step)), step)
            values[index] += step
        return values
