"""Facts about the proof of optima: against all placements of small instances, and against the published numbers."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_files import judging_files

FILES = judging_files("model_placement")
Instance, Model = FILES.placement.Instance, FILES.placement.Model

models = st.builds(Model, size=st.integers(10, 45), rate=st.integers(1, 9), slo=st.integers(5, 9))
small = st.builds(Instance, gpus=st.integers(1, 3), models=st.lists(models, min_size=1, max_size=6).map(tuple))


def all_placements(instance):
    """Those that leave memory on each GPU."""
    for indices in itertools.product(range(instance.gpus), repeat=len(instance.models)):
        if max(FILES.placement.loads(instance, indices)) < FILES.placement.MEMORY:
            yield indices


@settings(max_examples=60, deadline=None)
@given(small)
def test_the_optimum_is_the_smallest_of_all_placements(instance):
    """Where the greedy placement exists, else it is a bound."""
    pressures = [FILES.placement.pressure(instance, indices) for indices in all_placements(instance)]
    if sum(model.size for model in instance.models) >= 80 * instance.gpus:
        assert pressures == []
        return
    found = FILES.exact.best(instance, 100_000)
    assert found.proven == (FILES.placement.greedy(instance) is not None)
    assert not found.proven or found.value == min(pressures)
    assert not pressures or found.value <= min(pressures)


@settings(max_examples=60, deadline=None)
@given(small, st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000), st.booleans())
def test_a_placement_is_found_where_there_is_one(instance, most, strictly):
    """And none where there is none."""
    fits = any(
        pressure < most if strictly else pressure <= most
        for pressure in (FILES.placement.pressure(instance, indices) for indices in all_placements(instance))
    )
    found = FILES.exact.placed(instance, most, 100_000, strictly=strictly)
    assert (found is not None) == fits
    assert found is None or FILES.placement.pressure(instance, found) <= most


def test_a_search_that_is_too_long_gives_a_bound():
    """Which is below the optimum, and says so."""
    instance = FILES.laws.published(42, 1)[0]
    found = FILES.exact.best(instance, 1)
    assert not found.proven
    assert found.value <= instance.optimum


def test_the_optima_have_the_published_best_score():
    """26.255972 is the best that is possible on the published instances: 1 over the mean pressure, plus 1."""
    table = FILES.optima.OPTIMA
    assert sorted(table) == [7, 42]
    assert [len(optima) for optima in table.values()] == [50, 50]
    assert 50 / float(sum(table[42])) + 1 == pytest.approx(26.255972, abs=5e-7)


@pytest.mark.parametrize("seed", [42, 7])
def test_the_first_optima_of_the_table_are_proven_again(seed):
    """All of them in a slow test."""
    for instance in FILES.laws.published(seed, 5):
        assert FILES.exact.best(instance, 10**6) == FILES.exact.Bound(instance.optimum, True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [42, 7])
def test_every_optimum_of_the_table_is_proven_again(seed):
    """By the search that made the table."""
    for instance in FILES.laws.published(seed, 50):
        assert FILES.exact.best(instance, 10**7) == FILES.exact.Bound(instance.optimum, True)
