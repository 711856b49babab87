"""Facts about what answers say."""

import numpy as np
import pytest

from evolve_recipe import results
from evolve_recipe.results import Run
from evolve_recipe.training import Model

MODEL = Model(None, 100, 10, 0.5)


def run(right: int, count: int = 100, fold: int = 0, repeat: int = 0, classes: int = 10) -> Run:
    """One with so many right answers, the first."""
    targets = np.arange(count) % classes
    answers = np.where(np.arange(count) < right, targets, (targets + 1) % classes)
    return Run(fold, repeat, targets, answers, MODEL)


def test_the_standard_error_is_of_repeats_within_folds() -> None:
    """Folds that differ add nothing to it; one training per fold says nothing."""
    runs = [run(80, fold=0), run(90, fold=0, repeat=1), run(20, fold=1), run(30, fold=1, repeat=1)]
    assert results.accuracy(runs) == pytest.approx(0.55)
    assert results.standard_error(runs) == pytest.approx((0.005 / 4) ** 0.5)
    assert results.standard_error([run(80), run(20, fold=1)]) is None


def test_recipes_are_compared_row_by_row() -> None:
    """The gain over all trainings, the rows on which one alone is right of the first on each fold."""
    pairs = results.compare([run(90), run(92, repeat=1)], [run(80), run(80, repeat=1)])
    assert (pairs.gain, pairs.better, pairs.worse) == (pytest.approx(0.11), 10, 0)
    assert pairs.error == pytest.approx(0.01)
    assert pairs.p == pytest.approx(2 / 1024)
    assert not pairs.is_tie


def test_a_difference_below_two_standard_errors_is_a_tie() -> None:
    """So is a single one, and none at all."""
    uneven = results.compare([run(90), run(80, fold=1)], [run(80), run(82, fold=1)])
    assert uneven.is_tie
    assert results.compare([run(90)], [run(80)]).is_tie
    assert results.compare([run(90), run(90, repeat=1)], [run(90), run(90, repeat=1)]).is_tie


def test_luck_with_whole_groups_is_no_knowledge() -> None:
    """Two classes are taken for each other or not, by a coin, and a few trainings may all be lucky; ten that are right on nearly everything are not."""
    swapped = [run(right, classes=2, fold=fold) for fold, right in enumerate((97, 3, 97, 97, 3, 97))]
    assert not results.is_above_chance(swapped)
    assert not results.is_above_chance([run(97, classes=2, fold=fold) for fold in range(6)])
    assert results.is_above_chance([run(97, fold=fold) for fold in range(5)])
    assert not results.is_above_chance([run(14, fold=fold) for fold in range(10)])
    assert not results.is_above_chance([run(5, fold=fold) for fold in range(10)])
    assert results.is_above_chance([run(100, classes=2, fold=fold) for fold in range(10)])


def test_the_words_name_what_is_confused() -> None:
    """The commonest first."""
    words = results.format_feedback([run(95)], None)
    assert "Accuracy 0.9500 over 1 trainings" in words
    assert "Of 5 wrong answers the commonest: " in words
    assert "5 taken for 6 (1)" in words
    assert results.format_feedback([run(100)], None).endswith("No answer was wrong.")
