"""Campaigns that nobody has sorted."""

from dataclasses import replace

from evolve.compare.sorting import by_settings
from tests.compare.runs import CIRCUMSTANCES, run


def made(seed: int, strategy: str, **settings: str):
    """A campaign with these settings."""
    about = replace(CIRCUMSTANCES, settings={"strategy.name": strategy, **settings})
    return run(seed, name=strategy, circumstances=about)


def test_campaigns_of_equal_settings_are_one_arm():
    """Named by their strategy."""
    found = by_settings([made(0, "islands"), made(0, "random"), made(1, "islands")])
    assert [(group.name, group.seeds) for group in found] == [("islands", (0, 1)), ("random", (0,))]


def test_arms_of_one_strategy_say_in_what_they_differ():
    """And in nothing else."""
    found = by_settings(
        [made(0, "islands", cells="2", same="x"), made(0, "islands", cells="4", same="x"), made(0, "islands", same="x")]
    )
    assert [group.name for group in found] == ["islands cells=2", "islands cells=4", "islands cells=unset"]
