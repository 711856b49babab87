"""Figures of a recipe from its answers, alone and beside the baseline. Every figure is computed from the evaluator's own labels."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolve.statistics import clopper_pearson, mcnemar
from evolve_recipe.data import Integers
from evolve_recipe.training import Model

_PAIRS_SHOWN = 5
_SPREADS = 2.0
_LUCK = 1e-3


@dataclass(frozen=True, slots=True)
class Run:
    """One training on one fold: the labels that it was asked for, what it answered, row by row, and figures of the model, of which nothing else is kept."""

    fold: int
    repeat: int
    targets: Integers
    answers: Integers
    model: Model

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return float((self.answers == self.targets).mean())


@dataclass(frozen=True, slots=True)
class Pairs:
    """A recipe and the baseline on the same folds with the same seeds. `gain` is the mean difference of accuracy and `error` its standard error over
    the `count` pairs; `better` and `worse` count rows of the first repeat on which one alone is right, and `p` is McNemar's."""

    gain: float
    error: float
    count: int
    better: int
    worse: int
    p: float

    @property
    def is_tie(self) -> bool:
        """A difference below two standard errors is none, and a single one has no standard error."""
        return self.count < 2 or not abs(self.gain) > _SPREADS * self.error


def accuracy(runs: Sequence[Run]) -> float:
    """Returns the mean over all trainings."""
    return math.fsum(run.accuracy for run in runs) / len(runs)


def standard_error(runs: Sequence[Run]) -> float | None:
    """Returns the standard error of the mean accuracy if the same folds were trained on again with other seeds; None for one training per fold."""
    by_fold: dict[int, list[float]] = {}
    for run in runs:
        by_fold.setdefault(run.fold, []).append(run.accuracy)
    if min(map(len, by_fold.values())) < 2:
        return None
    variance = math.fsum(map(statistics.variance, by_fold.values())) / len(by_fold)
    return math.sqrt(variance / len(runs))


def interval(runs: Sequence[Run]) -> tuple[float, float]:
    """Returns the 95 % interval of the accuracy on rows of this kind, from the first training on each fold: exact where no row is asked about twice."""
    # Later trainings are asked about the same rows, and would count each as several independent ones.
    hits, count = _first(runs)
    interval = clopper_pearson(hits, count)
    return interval.low, interval.high


def is_above_chance(runs: Sequence[Run]) -> bool:
    """Returns whether trainings are right more often than the commonest label is there, beyond what luck explains once in a thousand times.

    Rows are not counted one by one: a recipe that takes whole groups of rows for another class is lucky with all of them at once. But trainings on labels that
    were dealt out anew are independent, and their accuracies lie between 0 and 1: Hoeffding's first bound (1963, https://doi.org/10.1080/01621459.1963.10500830)
    holds whatever the recipe is. Fewer than some ten trainings can hardly show anything by it."""
    labels = np.concatenate([run.targets for run in runs])
    chance, found = float(np.bincount(labels).max()) / len(labels), accuracy(runs)
    return found > chance and len(runs) * _divergence(found, chance) > -math.log(_LUCK)


def _divergence(found: float, chance: float) -> float:
    """Returns the divergence of Kullback and Leibler of two coins."""
    if chance >= 1.0:
        return 0.0
    rest = (1.0 - found) * math.log((1.0 - found) / (1.0 - chance)) if found < 1.0 else 0.0
    return found * math.log(found / chance) + rest


def _first(runs: Sequence[Run]) -> tuple[int, int]:
    first = [run for run in runs if run.repeat == 0]
    return sum(int((run.answers == run.targets).sum()) for run in first), sum(len(run.targets) for run in first)


def compare(runs: Sequence[Run], baseline: Sequence[Run]) -> Pairs:
    """Compares the runs of both recipes, which are in one order."""
    differences = [one.accuracy - other.accuracy for one, other in zip(runs, baseline, strict=True)]
    spread = float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0
    better = worse = 0
    for one, other in zip(runs, baseline, strict=True):
        if one.repeat == 0:
            right, theirs = one.answers == one.targets, other.answers == other.targets
            better += int((right & ~theirs).sum())
            worse += int((theirs & ~right).sum())
    count = len(differences)
    error = spread / math.sqrt(count)
    return Pairs(math.fsum(differences) / count, error, count, better, worse, mcnemar(better, worse))


def format_feedback(runs: Sequence[Run], pairs: Pairs | None) -> str:
    """Returns the result in words, for whoever improves the recipe."""
    low, high = interval(runs)
    seconds = sum(run.model.cpu_seconds for run in runs) / len(runs)
    size = max(run.model.size for run in runs)
    lines = [
        f"Accuracy {accuracy(runs):.4f} over {len(runs)} trainings (on rows of this kind between {low:.4f} and {high:.4f}); "
        f"a training took {seconds:.2f} s of processor time and left a model of {size:,} bytes."
    ]
    if pairs is not None:
        verdict = "a tie" if pairs.is_tie else "better" if pairs.gain > 0 else "worse"
        lines.append(
            f"Beside the seed's recipe, on the same rows: {pairs.gain:+.4f} ({verdict}); it alone is right on {pairs.better} rows, "
            f"the seed's alone on {pairs.worse}, p = {pairs.p:.2g}."
        )
    folds = sorted({run.fold for run in runs})
    per_fold = ", ".join(f"{accuracy([run for run in runs if run.fold == fold]):.4f}" for fold in folds)
    return "\n".join([*lines, f"By fold: {per_fold}.", _format_confusions(runs)])


def _format_confusions(runs: Sequence[Run]) -> str:
    pairs = Counter(
        (right, answer)
        for run in runs
        for right, answer in zip(run.targets.tolist(), run.answers.tolist(), strict=True)
        if right != answer
    )
    if not pairs:
        return "No answer was wrong."
    shown = ", ".join(
        f"{right} taken for {answer} ({count})" for (right, answer), count in pairs.most_common(_PAIRS_SHOWN)
    )
    return f"Of {sum(pairs.values())} wrong answers the commonest: {shown}."
