"""The data of a task: a Python file of its folder with a function `data`, and perhaps one that disturbs what is asked about.

What a problem gives is checked once, before any program sees it; programs never see the file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from evolve import EvolveError, TaskModule, task_module
from evolve_recipe.training import Inputs, Integers

DATA = {"data": "(parameters)"}
DISTURBED = {"disturbed": "(inputs, rng, parameters)"}
"""The functions of a problem, with their arguments."""


@dataclass(frozen=True, slots=True)
class Data:
    """`inputs` has a row per sample, `targets` its label: whole numbers from 0 to `classes` - 1."""

    inputs: Inputs
    targets: Integers
    classes: int


class RecipeProblem:
    """`data(parameters)` gives inputs and labels as arrays; `disturbed(inputs, rng, parameters)` what a program is asked about instead."""

    def __init__(self, module: TaskModule) -> None:
        self._module = module

    def read(self, parameters: Mapping[str, Any]) -> Data:
        """Returns the data for these parameters; raises `EvolveError` where they are none to train on."""
        inputs, targets = self._module.call("data", parameters)
        inputs, targets = np.asarray(inputs, dtype=np.float32), np.asarray(targets)
        classes = int(targets.max()) + 1 if targets.size and targets.dtype.kind in "iu" else 0
        if targets.shape != (len(inputs),) or classes < 2 or targets.min() < 0 or not np.isfinite(inputs).all():
            raise EvolveError(
                f"data() gave inputs of shape {inputs.shape} and targets of shape {targets.shape}, {targets.dtype.name}. "
                "Try: return finite inputs, and a whole number from 0 on for each as its label"
            )
        return Data(inputs, targets.astype(np.int64), classes)

    def disturb(self, inputs: Inputs, rng: Generator, parameters: Mapping[str, Any]) -> Inputs:
        """Returns the inputs that a program is asked about: as they are, where the module says nothing else."""
        if not self._module.has("disturbed"):
            return inputs
        disturbed: Inputs = self._module.call("disturbed", inputs, rng, parameters)
        return disturbed


def load(folder: str | Path, file: str) -> RecipeProblem:
    """Returns the problem in a file of a task's folder; raises `TaskError` where there is none, or where the file raises."""
    return RecipeProblem(task_module(folder, file, DATA, DISTURBED, setting="evaluator.problem"))
