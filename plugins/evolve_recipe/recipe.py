"""The evaluator: trains a program on every fold of the plan and compares it with the baseline on the same rows with the same seeds.

The evaluator's count of right answers decides the score; the baseline changes no score, and its failure is never the program's."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evolve import Candidate, Evaluation, SessionFailed, TaskModule, Trial, evaluator
from evolve.types import SandboxError, Stage, Task
from evolve_recipe import results
from evolve_recipe.data import CUT, Data, Fold, Plan, cut_folds, load_module, read_data, read_plan
from evolve_recipe.results import Run
from evolve_recipe.settings import RecipeSettings
from evolve_recipe.training import Loader, Trained, Unsteady, Unusable, predict_labels, train

_LEAST_SECONDS = 1e-3
_Judge = Callable[[Candidate, Trial], Evaluation]


class Recipe:
    """Judges `train(inputs, targets, told)` and `predict(model, inputs)`; the fitness is the accuracy. See `docs/evaluators.md`."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = RecipeSettings(**settings)

    def stages(self, task: Task) -> Sequence[tuple[Stage, _Judge]]:
        """Returns one stage."""
        return evaluator(_RecipeRun(task, self._settings).evaluate).stages(task)

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """Neither certificates nor pictures."""
        return {}


class _RecipeRun:
    """Task as one evaluation worker knows it: its data by the parameters, and the baseline's trainings, for each plan and set of seeds."""

    def __init__(self, task: Task, settings: RecipeSettings) -> None:
        self._task = task
        self._settings = settings
        self._data: dict[tuple[tuple[str, Any], ...], Data] = {}
        self._baseline: dict[tuple[Any, ...], tuple[Run, ...]] = {}

    @cached_property
    def _module(self) -> TaskModule:
        # Loaded by the first evaluation: a task that is only described reads no data.
        return load_module(self._task.folder, self._settings.problem)

    def evaluate(self, candidate: Candidate, trial: Trial) -> Evaluation:
        """Trains on all folds as often as the settings say."""
        plan, parameters = read_plan(trial.parameters), tuple(sorted(trial.parameters.items()))
        if parameters not in self._data:
            self._data[parameters] = read_data(self._module, trial.parameters)
        work = _TrainingPlan(trial, plan, self._data[parameters], self._module, self._settings)
        try:
            runs = work.train_all(candidate)
        except Unusable as error:
            return Evaluation.invalid(str(error))
        except Unsteady as error:
            return Evaluation.wrong(str(error))
        if plan.control:
            return _summarise_control(runs, work.data.classes)
        key = (parameters, trial.secret, work.seeds)
        if key not in self._baseline and (baseline := self._train_baseline(candidate, work, runs)):
            self._baseline[key] = baseline
        return _summarise(runs, results.compare(runs, self._baseline[key]) if key in self._baseline else None)

    def _train_baseline(
        self, candidate: Candidate, work: "_TrainingPlan", runs: tuple[Run, ...]
    ) -> tuple[Run, ...] | None:
        """Returns the trainings of the seed's recipe; None where one failed, which is never the program's fault."""
        if candidate.program.id == self._task.seed.id:
            return runs
        try:
            return work.train_all(candidate.beside(self._task.seed))
        except (Unusable, Unsteady, SessionFailed):
            return None
        except SandboxError as error:
            if isinstance(error.__cause__, SessionFailed):
                return None
            raise


@dataclass(frozen=True, slots=True)
class _TrainingPlan:
    """Trainings of one evaluation, the same for every program that is evaluated by it."""

    trial: Trial
    plan: Plan
    data: Data
    module: TaskModule
    settings: RecipeSettings

    @property
    def seeds(self) -> int:
        """Number of the set of seeds."""
        return self.trial.seed % self.settings.seeds

    def train_all(self, program: Trained) -> tuple[Run, ...]:
        """Trains on every fold, as often as it is repeated; raises what a training may raise."""
        folds = cut_folds(self.plan, self.data.targets)
        return tuple(
            self._train(program, fold, number, repeat)
            for number, fold in enumerate(folds)
            for repeat in range(self.settings.repeats)
        )

    def _train(self, program: Trained, fold: Fold, number: int, repeat: int) -> Run:
        data, settings = self.data, self.settings
        rng = np.random.default_rng(replace(self.trial, seed=CUT).entropy(self.seeds, number, repeat))
        targets = data.targets[fold.served]
        if self.plan.control == "shuffled":
            targets = rng.permutation(targets)
        loader = Loader(data.inputs[fold.served], targets, rng, settings.samples)
        told = {"seed": int(rng.integers(1 << 31)), "classes": data.classes, "seconds": settings.seconds}
        model = train(program, loader, told, settings)
        asked = data.inputs[fold.asked]
        if self.module.has("disturbed"):
            asked = self.module.call("disturbed", asked, rng, self.trial.parameters)
        answers = predict_labels(program, model, asked, data.classes, rng, settings)
        return Run(number, repeat, data.targets[fold.asked], answers, replace(model, content=None))


def _summarise(runs: Sequence[Run], pairs: results.Pairs | None) -> Evaluation:
    low, high = results.interval(runs)
    seconds = sum(run.model.cpu_seconds for run in runs) / len(runs)
    size = max(run.model.size for run in runs)
    metrics = {"accuracy_low": low, "accuracy_high": high, "samples_served": max(run.model.served for run in runs)}
    if pairs is not None:
        metrics |= {"gain": pairs.gain, "gain_error": pairs.error, "gain_p": pairs.p}
    return Evaluation.ok(
        results.accuracy(runs),
        standard_error=results.standard_error(runs),
        descriptors={
            "log2_model_bytes": math.log2(size),
            "log10_train_seconds": math.log10(max(seconds, _LEAST_SECONDS)),
        },
        metrics=metrics,
        feedback=results.format_feedback(runs, pairs),
    )


def _summarise_control(runs: Sequence[Run], classes: int) -> Evaluation:
    """Returns the evaluation where labels mean nothing: who is right more often than chance has them from elsewhere. All others are equal here: the fitness is chance's."""
    if results.is_above_chance(runs):
        return Evaluation.wrong(
            f"trained on labels that were dealt out at random, the model is still right on {results.accuracy(runs):.1%} of the rows: "
            "it does not have its answers from the training"
        )
    size = max(run.model.size for run in runs)
    return Evaluation.ok(
        1.0 / classes,
        descriptors={"log2_model_bytes": math.log2(size), "log10_train_seconds": math.log10(_LEAST_SECONDS)},
        metrics={"accuracy_on_shuffled": results.accuracy(runs)},
        feedback="trained on labels that were dealt out at random, the model is right as often as chance",
    )
