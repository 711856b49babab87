"""The bundled strategies as the engine finds them."""

import pytest
from pluggy import PluginManager

import evolve.strategies
from evolve import hookspecs
from evolve.hookspecs import StrategyEntry
from evolve.strategies import Baseline, Islands, IslandsSettings


@pytest.fixture
def entries() -> dict[str, StrategyEntry]:
    """The entries by name, through a plugin manager."""
    plugins = PluginManager("evolve")
    plugins.add_hookspecs(hookspecs)
    plugins.register(evolve.strategies)
    return {entry.name: entry for found in plugins.hook.register_strategies() for entry in found}


def test_four_strategies_are_registered(entries: dict[str, StrategyEntry]) -> None:
    made = {name: type(entry.factory({}, ["one"])) for name, entry in entries.items()}
    assert made == {"islands": Islands, "best_of_n": Baseline, "sequential": Baseline, "random": Baseline}


def test_the_baselines_get_operators_that_learn_nothing(entries: dict[str, StrategyEntry]) -> None:
    free = {name for name, entry in entries.items() if entry.history_free_operators}
    assert free == {"best_of_n", "sequential", "random"}


def test_islands_takes_its_settings(entries: dict[str, StrategyEntry]) -> None:
    assert entries["islands"].settings is IslandsSettings
    strategy = entries["islands"].factory({"resource": "seconds", "floor": 0.5}, ["one", "two"])
    assert isinstance(strategy, Islands)
    assert strategy.shares() == {"one": 0.5, "two": 0.5}
