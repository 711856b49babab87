"""Facts about the instances of `online_bin_packing` and about what no packing can beat."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_files import judging_files

from evolve.task import load
from evolve.types import EvolveError, Parameters, Trial

instances = judging_files("online_bin_packing").instances
TASK = load("online_bin_packing")
LAW = instances.law_from(TASK.parameters)


def fewest(items: list[int], capacity: int) -> int:
    """The number of bins of a best packing, by trying all."""
    best = len(items)
    for places in product(range(len(items)), repeat=len(items) - 1):
        loads = [0] * len(items)
        for item, place in zip(items, (0, *places), strict=True):
            loads[place] += item
        if max(loads) <= capacity:
            best = min(best, sum(load > 0 for load in loads))
    return best


def test_items_are_those_of_the_law() -> None:
    """Numbers drawn from numpy's generator, scaled, rounded, clipped: by hand for the first instance."""
    drawn = instances.drawn(LAW, (0,))
    raw = np.random.default_rng(0).weibull(3.0, 10_000) * 45.0
    assert (len(drawn), {len(one.items) for one in drawn}) == (5, {2000})
    assert drawn[0].items == tuple(min(max(round(value), 1), 100) for value in raw[:2000].tolist())
    assert all(type(item) is int for one in drawn for item in one.items)


def test_a_seed_gives_the_same_instances_and_another_gives_others() -> None:
    """Fresh ones are a matter of the trial's entropy alone."""
    assert instances.drawn(replace(LAW), (3,)) == instances.drawn(LAW, (3,))
    assert instances.drawn(LAW, (3,)) != instances.drawn(LAW, (4,))


def test_another_sample_has_other_items_whatever_seed_and_secret() -> None:
    """So that a held-out case never is what the search sees."""
    trials = [Trial(seed, secret=secret) for secret in ("", "one", "two") for seed in (0, 1)]
    drawn = [instances.drawn(LAW, trial.entropy(sample))[0].items for trial in trials for sample in (0, 1)]
    assert len(set(drawn)) == 12


def test_both_ends_of_the_uniform_law_occur() -> None:
    """They belong to it."""
    law = replace(LAW, law="uniform", low=2, high=5, capacity=9, items=200, instances=1)
    assert set(instances.drawn(law, (0,))[0].items) == {2, 3, 4, 5}


@pytest.mark.parametrize("case", TASK.held_out, ids=lambda case: case.name)
def test_every_held_out_case_has_instances_of_its_own(case: Any) -> None:
    """Its parameters describe a law, whose bounds are in order."""
    law = instances.law_from(Parameters(case.parameters))
    drawn = instances.drawn(law, (1,))
    assert (len(drawn), len(drawn[0].items)) == (law.instances, law.items)
    assert all(law.low <= min(one.items) and max(one.items) <= law.high for one in drawn)
    assert all(one.volume <= one.lower for one in drawn)


def test_no_held_out_case_has_items_of_another_or_of_the_search() -> None:
    """One stream of items would be the same for all sizes: who knew one case would know the others."""
    samples = [TASK.parameters["sample"], *(case.parameters["sample"] for case in TASK.held_out)]
    assert len(set(samples)) == len(samples)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 10), min_size=1, max_size=6), st.integers(10, 14))
def test_bounds_are_below_the_best_packing(items: list[int], capacity: int) -> None:
    """And L2 is at least L1."""
    array = np.array(items)
    volume, lower = instances.volume_bound(array, capacity), instances.martello_toth_bound(array, capacity)
    assert volume <= lower <= fewest(items, capacity)


@pytest.mark.parametrize(
    ("items", "capacity", "volume", "lower"),
    [
        ([6, 6, 6], 10, 2, 3),
        ([5, 5, 5], 10, 2, 2),
        ([7, 7, 4, 4], 10, 3, 3),
        ([9, 9, 2, 2, 2], 10, 3, 3),
        ([8, 8, 8, 3, 3, 3], 10, 4, 4),
        ([10], 10, 1, 1),
    ],
)
def test_bounds_of_small_instances(items: list[int], capacity: int, volume: int, lower: int) -> None:
    """Three items above half a bin need three bins, whatever their volume."""
    array = np.array(items)
    assert (instances.volume_bound(array, capacity), instances.martello_toth_bound(array, capacity)) == (volume, lower)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"law": "normal"}, "the law 'normal'.*Do: set law to one of weibull, uniform"),
        ({"capacity": 99}, "items of 1 to 100 do not fit bins of 99"),
        ({"low": 0}, "items of 0 to 100"),
        ({"items": 0}, "are positive"),
        ({"scale": -1.0}, "are positive"),
        ({"sample": -1}, "sample is not negative"),
    ],
)
def test_a_law_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    """With what to set instead."""
    with pytest.raises(EvolveError, match=message):
        replace(LAW, **change)
