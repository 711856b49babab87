"""The evaluator: trains a program on every fold of the plan and compares it with the baseline on the same rows with the same seeds.

Invariant: what decides the score is the judge's count of right answers; the baseline changes no score, and its failure is never the program's."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evolve import Candidate, Evaluation, Outcome, SessionFailed, Trial, evaluator
from evolve.types import SandboxError, Stage, Task
from evolve_recipe import problem, results, rows
from evolve_recipe.loader import Loader
from evolve_recipe.results import Run
from evolve_recipe.settings import RecipeSettings
from evolve_recipe.training import OverBudget, Trained, Unsteady, Unusable, predicted, trained

_LEAST_SECONDS = 1e-3
_Judge = Callable[[Candidate, Trial], Evaluation]


class Recipe:
    """Judges `train(inputs, targets, told)` and `predict(model, inputs)`; the fitness is the accuracy. See `docs/evaluators.md`."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = RecipeSettings(**settings)

    def stages(self, task: Task) -> Sequence[tuple[Stage, _Judge]]:
        """One stage, or a cheap one of `screen_folds` folds before it."""
        bench = _Bench(task, self._settings)
        if not self._settings.screen_folds:
            return evaluator(bench.full).stages(task)
        coded = evaluator(bench.screened)
        coded.stage("full")(bench.full)
        return coded.stages(task)

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """Neither certificates nor pictures."""
        return {}


class _Bench:
    """What one judge process knows of a task: its data by the parameters, and what the baseline did, for each plan and set of seeds."""

    def __init__(self, task: Task, settings: RecipeSettings) -> None:
        self._task = task
        self._settings = settings
        self._problem: problem.Problem | None = None
        self._data: dict[tuple[tuple[str, Any], ...], problem.Data] = {}
        self._baseline: dict[tuple[Any, ...], tuple[Run, ...]] = {}

    def screened(self, candidate: Candidate, trial: Trial) -> Evaluation:
        """A few folds, one training each."""
        return self._judged(candidate, trial, self._settings.screen_folds, 1)

    def full(self, candidate: Candidate, trial: Trial) -> Evaluation:
        """All folds and repeats."""
        return self._judged(candidate, trial, None, self._settings.repeats)

    def _judged(self, candidate: Candidate, trial: Trial, folds: int | None, repeats: int) -> Evaluation:
        plan = rows.plan_from(trial.parameters)
        work = _Work(self, trial, plan, folds, repeats, self._settings)
        try:
            runs = work.runs(candidate)
        except Unusable as error:
            return Evaluation.invalid(str(error))
        except Unsteady as error:
            return Evaluation.wrong(str(error))
        except OverBudget as error:
            return Evaluation.failed(Outcome.TIMED_OUT, str(error))
        if plan.control:
            return _controlled(runs, work.data.classes)
        pairs = self._pairs(candidate, work, runs)
        return _evaluated(runs, pairs)

    def data(self, parameters: Mapping[str, Any]) -> problem.Data:
        """The data for these parameters, read once."""
        key = tuple(sorted(parameters.items()))
        if key not in self._data:
            self._data[key] = self.problem.read(parameters)
        return self._data[key]

    @property
    def problem(self) -> problem.Problem:
        """The task's own code."""
        if self._problem is None:
            self._problem = problem.load(self._task.folder, self._settings.problem)
        return self._problem

    def _pairs(self, candidate: Candidate, work: "_Work", runs: Sequence[Run]) -> results.Pairs | None:
        """The comparison with the seed's recipe; None where that failed."""
        if work.key not in self._baseline:
            found = self._trained_baseline(candidate, work, runs)
            if found is None:
                return None
            self._baseline[work.key] = tuple(found)
        return results.compared(runs, self._baseline[work.key])

    def _trained_baseline(self, candidate: Candidate, work: "_Work", runs: Sequence[Run]) -> Sequence[Run] | None:
        if candidate.program.id == self._task.seed.id:
            return runs
        try:
            return work.runs(candidate.beside(self._task.seed))
        except (Unusable, Unsteady, OverBudget, SessionFailed):
            return None
        except SandboxError as error:
            if isinstance(error.__cause__, SessionFailed):
                return None
            raise


class _Work:
    """The trainings of one judging, the same for every program that is judged on it; `key` names them."""

    def __init__(
        self, bench: _Bench, trial: Trial, plan: rows.Plan, folds: int | None, repeats: int, settings: RecipeSettings
    ) -> None:
        self._seeds = trial.seed % settings.seeds
        self._cut = replace(trial, seed=rows.CUT)
        self._plan = plan
        self._parameters = trial.parameters
        self._repeats = repeats
        self._settings = settings
        self._disturbed = bench.problem.disturbed
        self.data = bench.data(trial.parameters)
        self._folds = rows.folds(plan, self.data.targets)[:folds]
        self.key = (tuple(sorted(trial.parameters.items())), trial.secret, self._seeds, len(self._folds), repeats)

    def runs(self, program: Trained) -> tuple[Run, ...]:
        """Every fold, as often as it is repeated; raises what a training may raise."""
        return tuple(
            self._run(program, fold, repeat) for fold in range(len(self._folds)) for repeat in range(self._repeats)
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
        model = trained(program, loader, told, self._settings)
        asked = self._disturbed(data.inputs[fold.asked], rng, self._parameters)
        answers = predicted(program, model, asked, data.classes, rng, self._settings)
        return Run(number, repeat, data.targets[fold.asked], answers, replace(model, content=None))


def _evaluated(runs: Sequence[Run], pairs: results.Pairs | None) -> Evaluation:
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
        feedback=results.told(runs, pairs),
    )


def _controlled(runs: Sequence[Run], classes: int) -> Evaluation:
    """Where labels mean nothing, who is right more often than chance has them from elsewhere. All others are equal here: the fitness is chance's."""
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
