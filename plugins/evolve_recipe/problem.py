"""The data of a task: a Python file of its folder with a function `data`, and perhaps one that disturbs what is asked about.

Invariant: what a problem gives is checked once, before any program sees it; programs never see the file."""

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.random import Generator

from evolve import EvolveError
from evolve_recipe.loader import Inputs, Integers


@dataclass(frozen=True, slots=True)
class Data:
    """`inputs` has a row per sample, `targets` its label: whole numbers from 0 to `classes` - 1."""

    inputs: Inputs
    targets: Integers
    classes: int


@dataclass(frozen=True, slots=True)
class Problem:
    """`data(parameters)` gives inputs and labels as arrays; `disturbed(inputs, rng, parameters)` what a program is asked about instead."""

    data: Callable[[Mapping[str, Any]], tuple[Any, Any]]
    disturbed: Callable[[Inputs, Generator, Mapping[str, Any]], Inputs]

    def read(self, parameters: Mapping[str, Any]) -> Data:
        """The data for these parameters; raises `EvolveError` where they are none to train on."""
        inputs, targets = self.data(parameters)
        inputs, targets = np.asarray(inputs, dtype=np.float32), np.asarray(targets)
        classes = int(targets.max()) + 1 if targets.size and targets.dtype.kind in "iu" else 0
        if targets.shape != (len(inputs),) or classes < 2 or targets.min() < 0 or not np.isfinite(inputs).all():
            raise EvolveError(
                f"data() gave inputs of shape {inputs.shape} and targets of shape {targets.shape}, {targets.dtype.name}. "
                "Do: return finite inputs, and a whole number from 0 on for each as its label"
            )
        return Data(inputs, targets.astype(np.int64), classes)


def load(path: Path) -> Problem:
    """The problem in a file; raises `EvolveError` where there is none, and what the file raises."""
    if not path.is_file():
        raise EvolveError(
            f"there is no file {path.name!r} in the task's folder. Do: write it, or name another one as the evaluator's `problem`"
        )
    module = _executed(path)
    data = getattr(module, "data", None)
    if not callable(data):
        raise EvolveError(f"{path.name} has no function `data`. Do: write data(parameters) -> inputs, targets")
    return Problem(data, getattr(module, "disturbed", _as_they_are))


def _as_they_are(inputs: Inputs, rng: Generator, parameters: Mapping[str, Any]) -> Inputs:
    return inputs


def _executed(path: Path) -> ModuleType:
    """The file as a module, that may import its neighbours."""
    spec = importlib.util.spec_from_file_location("evolve_recipe_problem", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module
