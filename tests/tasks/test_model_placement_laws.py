"""Facts about the instances of `model_placement`."""

import numpy as np
import pytest
from task_files import judging_files

from evolve.types import EvolveError, Parameters

FILES = judging_files("model_placement")
DRAWN = {"seed": -1, "instances": 3, "gpus": 16, "models": 40, "rates": "uniform"}


def law(**changes):
    return FILES.laws.law_from(Parameters({**DRAWN, **changes}))


def test_the_published_instances_are_those_of_the_published_loop():
    """Numbers of numpy's old generator in the order in which that loop draws them; beyond the known ones without an optimum."""
    state = np.random.RandomState(42)
    for instance in FILES.laws.published(42, 51):
        assert instance.gpus == state.randint(5, 10)
        for model in instance.models:
            assert model.size == state.randint(10, 30)
            assert (model.rate, model.slo) == (state.randint(1, 10), state.randint(5, 10))
        assert len(instance.models) == 2 * instance.gpus
    assert [one.optimum is None for one in FILES.laws.published(42, 51)] == [False] * 50 + [True]


@pytest.mark.parametrize("rates", ["uniform", "pareto"])
@pytest.mark.parametrize(("gpus", "models"), [(0, 0), (16, 40)])
def test_drawn_instances_have_placements(rates, gpus, models):
    """The trivial one and the greedy one."""
    chosen = law(rates=rates, gpus=gpus, models=models)
    for instance in FILES.laws.drawn(chosen, np.random.default_rng(1), 10):
        assert len(instance.models) == (models or 2 * instance.gpus)
        for placed in (FILES.placement.first_fit(instance), FILES.placement.greedy(instance)):
            assert max(FILES.placement.loads(instance, placed)) < FILES.placement.MEMORY


def test_equal_seeds_draw_equal_instances():
    """And others others."""
    one, same, other = (FILES.laws.drawn(law(), np.random.default_rng(seed), 2) for seed in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 42},
        {"seed": -2},
        {"instances": 0},
        {"gpus": -1},
        {"rates": "zipf"},
        {"seed": 1, "gpus": 0, "models": 0, "rates": "pareto"},
    ],
)
def test_a_law_that_is_none_is_an_error(changes):
    """With the remedy."""
    with pytest.raises(EvolveError, match=r"Do: set"):
        law(**changes)


def test_models_that_fit_nowhere_are_an_error():
    """And no endless search for an instance."""
    with pytest.raises(EvolveError, match="had no place for all"):
        FILES.laws.drawn(law(gpus=1, models=9), np.random.default_rng(1), 1)
