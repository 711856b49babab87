"""Facts about what is served and what is asked about."""

import numpy as np
import pytest

from evolve.types import EvolveError, Parameters
from evolve_recipe.data import Plan, cut_folds, read_plan
from evolve_recipe.training import Loader

TARGETS = np.arange(1000) % 10
PLAN = Plan("search", 5, 0, 0, "")
PARTS = ("search", "promotion", "test")


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        Plan("all", 3, 1, 0, ""),
        Plan("promotion", 1, 0, 0, ""),
        Plan("test", 4, 2, 10, ""),
        Plan("search", 4, 0, 7, ""),
    ],
)
def test_no_row_is_both_served_and_asked_about(plan: Plan) -> None:
    """In no fold of no plan."""
    for fold in cut_folds(plan, TARGETS):
        assert not set(fold.served.tolist()) & set(fold.asked.tolist())
        assert len(fold.served)
        assert len(fold.asked)


def test_the_folds_of_a_search_ask_about_each_of_its_rows_once() -> None:
    """Six hundred of a thousand; all folds together."""
    asked = np.concatenate([fold.asked for fold in cut_folds(PLAN, TARGETS)])
    assert len(asked) == len(set(asked.tolist())) == 600
    everything = np.concatenate([fold.asked for fold in cut_folds(Plan("all", 5, 0, 0, ""), TARGETS)])
    assert sorted(everything.tolist()) == list(range(1000))


def test_rows_of_promotion_and_test_are_in_no_search() -> None:
    """Whatever the sample: the cut is one and the same."""
    seen = {
        row
        for sample in range(5)
        for fold in cut_folds(Plan("search", 5, sample, 0, ""), TARGETS)
        for row in (*fold.served.tolist(), *fold.asked.tolist())
    }
    kept = [set(cut_folds(Plan(part, 1, 0, 0, ""), TARGETS)[0].asked.tolist()) for part in ("promotion", "test")]
    assert [len(seen), *map(len, kept)] == [600, 200, 200]
    assert not seen & (kept[0] | kept[1])
    assert not kept[0] & kept[1]


def test_another_sample_cuts_otherwise_and_the_same_cuts_alike() -> None:
    """The plan decides, and nothing else."""
    first, again, other = (cut_folds(Plan("search", 5, sample, 0, ""), TARGETS)[0] for sample in (0, 0, 1))
    assert first.asked.tolist() == again.asked.tolist()
    assert set(first.asked.tolist()) != set(other.asked.tolist())


@pytest.mark.parametrize("part", ["search", "promotion"])
def test_few_labels_are_as_many_of_each_class(part: str) -> None:
    """Each draw is another one."""
    drawn = cut_folds(Plan(part, 6, 0, 3, ""), TARGETS)
    assert all(np.bincount(TARGETS[fold.served]).tolist() == [3] * 10 for fold in drawn)
    assert len({tuple(sorted(fold.served.tolist())) for fold in drawn}) == 6


@pytest.mark.parametrize(
    ("plan", "word"),
    [
        (("validation", 5, 0, 0, ""), "no part 'validation'"),
        (("search", 5, 0, 0, "swapped"), "control 'swapped'"),
        (("search", 1, 0, 0, ""), "1 folds"),
        (("promotion", 0, 0, 0, ""), "0 folds"),
        (("search", 5, -1, 0, ""), "sample -1"),
    ],
)
def test_a_plan_that_cannot_be_is_one_error(plan: tuple[str, int, int, int, str], word: str) -> None:
    """Which says what to set."""
    with pytest.raises(EvolveError, match=word) as error:
        Plan(*plan)
    assert "Try: set" in str(error.value)


def test_a_missing_parameter_is_named() -> None:
    """With the place where it belongs."""
    with pytest.raises(EvolveError, match="no parameter 'folds'"):
        read_plan(Parameters({"part": "search"}))


def loader(rows: int, samples: int) -> Loader:
    inputs = np.arange(rows, dtype=np.float32).reshape(-1, 1)
    return Loader(inputs, np.arange(rows), np.random.default_rng(0), samples)


def test_a_loader_serves_no_more_than_its_budget() -> None:
    """However much is asked for."""
    some = loader(10, 25)
    sizes = [len(some.serve(count)[1]) for count in (4, 100, 1)]
    assert (sizes, some.served, some.left) == ([4, 21, 0], 25, 0)


def test_a_loader_serves_every_row_before_any_comes_again() -> None:
    """In an order that differs each time round, and with its own label."""
    some = loader(10, 30)
    inputs, targets = some.serve(13)
    more = np.concatenate([targets, some.serve(17)[1]])
    rounds = [more[start : start + 10].tolist() for start in (0, 10, 20)]
    assert all(sorted(one) == list(range(10)) for one in rounds)
    assert len({tuple(one) for one in rounds}) == 3
    assert inputs[:, 0].tolist() == targets.tolist()


def test_without_a_budget_every_row_is_served_once() -> None:
    """That is the budget."""
    some = loader(10, 0)
    assert (some.left, sorted(some.serve(1000)[1].tolist()), some.left) == (10, list(range(10)), 0)
