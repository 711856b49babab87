"""From words to arms."""

from pathlib import Path

import pytest

from evolve.stop import budget_from
from evolve.types import ConfigError
from evolve_compare.campaigns import check_equal, default_base, find_logs, parse_arms
from tests.written import short_campaign


def test_strategies_are_arms_and_so_are_settings():
    """In this order; strategies, models and other settings are told apart."""
    first, second = parse_arms(
        ["random"], ["two  islands: archive.islands=2 strategy=islands model=a@b operators.names='[diff, fix]'"]
    )
    assert (first.name, first.label, first.strategy, first.assignments) == ("random", "random", "random", ())
    assert (second.name, second.label, second.strategy, second.models) == (
        "two islands",
        "two_islands",
        "islands",
        ("a@b",),
    )
    assert second.assignments == ("archive.islands=2", "operators.names=[diff, fix]")
    assert default_base("soft/max", ("1.5h", "2usd")) == "soft-max-1.5h-2usd"


@pytest.mark.parametrize(
    ("strategies", "arms", "told"),
    [
        (["islands"], [], "at least two arms, got 1"),
        (["islands", "islands"], [], "a name of its own, got 'islands' twice"),
        (["a b"], ["a_b: x=1"], "a name in file names of its own, got 'a_b' twice"),
        (["islands"], ["two"], "written 'NAME: key=value key=value', got 'two'"),
        (["islands"], [": x=1"], "written 'NAME: key=value key=value'"),
        (["islands"], ["a: x='1"], "cannot be read: No closing quotation"),
        (["islands"], ["../..: x=1"], "has a letter or a digit, got '../..'"),
    ],
)
def test_arms_that_cannot_be_are_errors(strategies, arms, told):
    """Before anything is made."""
    with pytest.raises(ConfigError) as error:
        parse_arms(strategies, arms)
    assert told in str(error.value)


def test_a_hostile_name_is_no_path():
    """It is letters, digits and dots in the names of campaigns."""
    arm, _ = parse_arms([], ["../../etc/pass wd<b>: x=1", "b: x=2"])
    assert arm.label == "etc_pass_wd_b"


@pytest.mark.parametrize("texts", [[], ["fitness=2.6"], ["500programs", "fitness=2.6"], ["until=07:30"]])
def test_a_budget_that_not_all_arms_spend_alike_is_refused(texts):
    """A goal ends one arm before another, and a moment gives the first arm all the time."""
    with pytest.raises(ConfigError, match="a budget that all arms spend alike"):
        check_equal(budget_from(texts, 0.0))


@pytest.mark.parametrize("texts", [["500programs"], ["60s", "2usd"], ["1000tokens"]])
def test_amounts_are_equal_budgets(texts):
    """One or several."""
    check_equal(budget_from(texts, 0.0))


def workspace(home: Path, *names: str) -> None:
    """Campaigns of these names."""
    for name in names:
        short_campaign(home, name).close()


def test_campaigns_are_found_by_their_names(tmp_path):
    """Several patterns may be of one arm, and each campaign is in it once."""
    workspace(tmp_path, "n-a-s0", "n-a-s1", "n-b-s0")
    found = find_logs(tmp_path, ["a=n-a-s0", "a=n-a-*", "b=*-b-*"])
    assert [(name, [log.stem for log in logs]) for name, logs in found.items()] == [
        ("a", ["n-a-s0", "n-a-s1"]),
        ("b", ["n-b-s0"]),
    ]


@pytest.mark.parametrize(
    ("patterns", "told"),
    [
        (["n-a-s0"], "written 'ARM=glob\\*', got 'n-a-s0'"),
        (["=n-a-s0"], "written 'ARM=glob\\*'"),
        (["a=m-*"], "no campaign in .* is called 'm-\\*'"),
        (["a=n-*", "b=n-b-*"], "campaign 'n-b-s0' is in two arms, 'a' and 'b'"),
    ],
)
def test_patterns_that_cannot_be_are_errors(tmp_path, patterns, told):
    """With what to do."""
    workspace(tmp_path, "n-a-s0", "n-b-s0")
    with pytest.raises(ConfigError, match=told):
        find_logs(tmp_path, patterns)
