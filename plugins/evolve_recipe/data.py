"""The data of a task, the rows of it that a training is served, and the rows that it is then asked about.

A Python file of the task's folder has a function `data(parameters)`, which gives inputs and labels as arrays, and perhaps `disturbed(inputs, rng, parameters)`, which gives what a program is asked about
instead. Programs never see the file; what it gives is checked here once.

All rows are cut once, the same for every program: three fifths to search with (training and validation), a fifth that decides about promotion, and a fifth that decides nothing. No fold asks about a row that
it serves; rows of promotion and test are served by none."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evolve import EvolveError, TaskModule, task_module

Inputs = NDArray[np.float32]
Integers = NDArray[np.int64]
DATA = {"data": "(parameters)"}
DISTURBED = {"disturbed": "(inputs, rng, parameters)"}
"""The functions of a problem, with their arguments."""
PARTS = ("search", "promotion", "test", "all")
CONTROLS = ("", "shuffled")
CUT = 20_260_101
"""The seed by which rows are cut into parts: another one would be another task."""
_SEARCHED, _PROMOTED = 0.6, 0.8


@dataclass(frozen=True, slots=True)
class Data:
    """`inputs` has a row per sample, `targets` its label: whole numbers from 0 to `classes` - 1."""

    inputs: Inputs
    targets: Integers
    classes: int


def load_module(folder: str | Path, file: str) -> TaskModule:
    """Returns the module of a task's folder that has the data; raises `TaskError` where there is none, or where it raises."""
    return task_module(folder, file, DATA, DISTURBED, setting="evaluator.problem")


def read_data(module: TaskModule, parameters: Mapping[str, Any]) -> Data:
    """Returns the data for these parameters; raises `EvolveError` where they are none to train on."""
    inputs, targets = module.call("data", parameters)
    inputs, targets = np.asarray(inputs, dtype=np.float32), np.asarray(targets)
    classes = int(targets.max()) + 1 if targets.size and targets.dtype.kind in "iu" else 0
    if targets.shape != (len(inputs),) or classes < 2 or targets.min() < 0 or not np.isfinite(inputs).all():
        raise EvolveError(
            f"data() gave inputs of shape {inputs.shape} and targets of shape {targets.shape}, {targets.dtype.name}. "
            "Try: return finite inputs, and a whole number from 0 on for each as its label"
        )
    return Data(inputs, targets.astype(np.int64), classes)


@dataclass(frozen=True, slots=True)
class Plan:
    """A trial's parameters. `part`: which rows are asked about; "all" is cross-validation over every row, as published figures are. `folds`: into how
    many the rows are cut, or how many draws there are of `labels_per_class` labelled rows (0: all are labelled). Each `sample` cuts or draws otherwise.
    `control` "shuffled": the served labels are dealt out at random."""

    part: str
    folds: int
    sample: int
    labels_per_class: int
    control: str

    def __post_init__(self) -> None:
        if self.part not in PARTS or self.control not in CONTROLS:
            raise EvolveError(
                f"there is no part {self.part!r} with the control {self.control!r}. "
                f"Try: set part to one of {', '.join(PARTS)}, and control to '' or 'shuffled'"
            )
        least = 2 if self.part in ("search", "all") and not self.labels_per_class else 1
        if self.folds < least or min(self.sample, self.labels_per_class) < 0:
            raise EvolveError(
                f"{self.folds} folds, sample {self.sample} and {self.labels_per_class} labels per class make no plan. "
                f"Try: set folds to {least} or more, and the others to 0 or more"
            )


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows that are served, and rows that are asked about, by their numbers."""

    served: Integers
    asked: Integers


def read_plan(parameters: Mapping[str, object]) -> Plan:
    """Returns the plan that a trial's parameters describe; raises `EvolveError` where one is missing."""
    missing = [field.name for field in fields(Plan) if field.name not in parameters]
    if missing:
        raise EvolveError(f"the task has no parameter {missing[0]!r}. Try: write it under [parameters] in task.toml")
    return Plan(**{field.name: parameters[field.name] for field in fields(Plan)})  # type: ignore[arg-type]


def cut_folds(plan: Plan, targets: Integers) -> tuple[Fold, ...]:
    """Returns the folds of a plan, for rows with these labels."""
    rng = np.random.default_rng([CUT, plan.sample, 1])
    searched, kept = _parts(plan.part, len(targets))
    if plan.labels_per_class:
        return tuple(_draw(plan, targets, searched, kept, rng) for _ in range(plan.folds))
    if len(kept):
        return (Fold(searched, kept),)
    cut = np.array_split(rng.permutation(searched), plan.folds)
    return tuple(Fold(np.concatenate([*cut[:number], *cut[number + 1 :]]), cut[number]) for number in range(plan.folds))


def _parts(part: str, count: int) -> tuple[Integers, Integers]:
    """Returns the rows that may be served, and those that are kept from every training and asked about; none where folds are made of the first."""
    order = np.random.default_rng(CUT).permutation(count)
    first, second = int(_SEARCHED * count), int(_PROMOTED * count)
    nothing = order[:0]
    return {
        "search": (order[:first], nothing),
        "promotion": (order[:first], order[first:second]),
        "test": (order[:first], order[second:]),
        "all": (order, nothing),
    }[part]


def _draw(plan: Plan, targets: Integers, searched: Integers, kept: Integers, rng: Generator) -> Fold:
    """Returns a fold with so many labelled rows of each class; the others, or those that are kept, are asked about."""
    shuffled = rng.permutation(searched)
    served = np.concatenate(
        [shuffled[targets[shuffled] == label][: plan.labels_per_class] for label in np.unique(targets)]
    )
    return Fold(rng.permutation(served), kept if len(kept) else np.setdiff1d(shuffled, served))
