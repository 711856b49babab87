"""The bundled strategies, registered as a third party would register its own.

Invariant: the engine knows them by the names given here and by nothing else; baselines get history-free operators."""

from collections.abc import Sequence

from evolve.hookspecs import Settings, StrategyEntry, hookimpl
from evolve.protocols import Strategy
from evolve.strategies.best_of_n import BestOfN
from evolve.strategies.islands import Islands, IslandsSettings
from evolve.strategies.sequential import Sequential
from evolve.strategies.uniform import Uniform


def _islands(settings: Settings, operators: Sequence[str]) -> Strategy:
    return Islands(IslandsSettings(**settings), operators)


def _best_of_n(settings: Settings, operators: Sequence[str]) -> Strategy:
    return BestOfN(operators)


def _sequential(settings: Settings, operators: Sequence[str]) -> Strategy:
    return Sequential(operators)


def _random(settings: Settings, operators: Sequence[str]) -> Strategy:
    return Uniform(operators)


@hookimpl
def register_strategies() -> Sequence[StrategyEntry]:
    """`islands`, and the baselines that it is compared with."""
    return (
        StrategyEntry("islands", _islands, IslandsSettings),
        StrategyEntry("best_of_n", _best_of_n, history_free_operators=True),
        StrategyEntry("sequential", _sequential, history_free_operators=True),
        StrategyEntry("random", _random, history_free_operators=True),
    )
