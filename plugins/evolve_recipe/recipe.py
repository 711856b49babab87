"""The evaluator: trains a program on every fold of the plan and compares it with the baseline on the same rows with the same seeds.

The evaluator's count of right answers decides the score; the baseline changes no score, and its failure is never the program's."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evolve import Candidate, Evaluation, SessionFailed, Trial, evaluator
from evolve.types import SandboxError, Stage, Task
from evolve_recipe import problem, results, rows
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
    """Task as one evaluation worker knows it: its data by the parameters, and what the baseline did, for each plan and set of seeds."""

    def __init__(self, task: Task, settings: RecipeSettings) -> None:
        self._task = task
        self._settings = settings
        self._problem: problem.RecipeProblem | None = None
        self._data: dict[tuple[tuple[str, Any], ...], problem.Data] = {}
        self._baseline: dict[tuple[Any, ...], tuple[Run, ...]] = {}

    def evaluate(self, candidate: Candidate, trial: Trial) -> Evaluation:
        """Trains on all folds as often as the settings say."""
        plan = rows.read_plan(trial.parameters)
        work = _TrainingPlan(self, trial, plan, self._settings)
        try:
            runs = work.runs(candidate)
        except Unusable as error:
            return Evaluation.invalid(str(error))
        except Unsteady as error:
            return Evaluation.wrong(str(error))
        if plan.control:
            return _summarise_control(runs, work.data.classes)
        pairs = self._pairs(candidate, work, runs)
        return _summarise(runs, pairs)

    def data(self, parameters: Mapping[str, Any]) -> problem.Data:
        """Returns the data for these parameters, read once."""
        key = tuple(sorted(parameters.items()))
        if key not in self._data:
            self._data[key] = self.problem.read(parameters)
        return self._data[key]

    @property
    def problem(self) -> problem.RecipeProblem:
        """The task's own code."""
        if self._problem is None:
            self._problem = problem.load(self._task.folder, self._settings.problem)
        return self._problem

    def _pairs(self, candidate: Candidate, work: "_TrainingPlan", runs: Sequence[Run]) -> results.Pairs | None:
        """Returns the comparison with the seed's recipe; None where that failed."""
        if work.key not in self._baseline:
            found = self._train_baseline(candidate, work, runs)
            if found is None:
                return None
            self._baseline[work.key] = tuple(found)
        return results.compare(runs, self._baseline[work.key])

    def _train_baseline(self, candidate: Candidate, work: "_TrainingPlan", runs: Sequence[Run]) -> Sequence[Run] | None:
        if candidate.program.id == self._task.seed.id:
            return runs
        try:
            return work.runs(candidate.beside(self._task.seed))
        except (Unusable, Unsteady, SessionFailed):
            return None
        except SandboxError as error:
            if isinstance(error.__cause__, SessionFailed):
                return None
            raise


class _TrainingPlan:
    """Trainings of one evaluation, the same for every program that is evaluated by it; `key` names them."""

    def __init__(self, run: _RecipeRun, trial: Trial, plan: rows.Plan, settings: RecipeSettings) -> None:
        self._seeds = trial.seed % settings.seeds
        self._cut = replace(trial, seed=rows.CUT)
        self._plan = plan
        self._parameters = trial.parameters
        self._settings = settings
        self._disturb = run.problem.disturb
        self.data = run.data(trial.parameters)
        self._folds = rows.folds(plan, self.data.targets)
        self.key = (tuple(sorted(trial.parameters.items())), trial.secret, self._seeds)

    def runs(self, program: Trained) -> tuple[Run, ...]:
        """Trains on every fold, as often as it is repeated; raises what a training may raise."""
        return tuple(
            self._run(program, fold, repeat)
            for fold in range(len(self._folds))
            for repeat in range(self._settings.repeats)
        )

    def _run(self, program: Trained, number: int, repeat: int) -> Run:
        fold, data = self._folds[number], self.data
        rng = np.random.default_rng(self._cut.entropy(self._seeds, number, repeat))
        targets = data.targets[fold.served]
        if self._plan.control == "shuffled":
            targets = rng.permutation(targets)
        loader = Loader(data.inputs[fold.served], targets, rng, self._settings.samples)
        told = {
            "seed": int(rng.integers(1 << 31)),
            "classes": data.classes,
            "seconds": self._settings.seconds,
        }
        model = train(program, loader, told, self._settings)
        asked = self._disturb(data.inputs[fold.asked], rng, self._parameters)
        answers = predict_labels(program, model, asked, data.classes, rng, self._settings)
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
