"""The levels of a campaign's runs."""

import pytest

from evolve.campaign.folds import LevelsReached
from evolve.types import Level, SandboxError

STRICT, STANDARD, REDUCED = "strict: namespaces, seccomp", "standard: landlock 7, seccomp", "reduced: a process"


def reached(*lines: str, inherited: int = 0) -> LevelsReached:
    found = LevelsReached(inherited)
    for line in lines:
        found.add(line)
    return found


@pytest.mark.parametrize(
    ("lines", "best"),
    [
        ((), None),
        ((STANDARD,), Level.STANDARD),
        ((STRICT, STANDARD), Level.STRICT),
        (("a fake", REDUCED), Level.REDUCED),
    ],
)
def test_the_level_of_a_campaign_is_its_best(lines: tuple[str, ...], best: Level | None) -> None:
    """Lines that name no level count for nothing."""
    found = reached(*lines)
    assert (found.best, found.least) == (best, best)


@pytest.mark.parametrize(("now", "goes_on"), [(Level.STRICT, True), (Level.STANDARD, True), (Level.REDUCED, False)])
def test_a_campaign_goes_on_at_no_less(now: Level, goes_on: bool) -> None:
    """At more it may."""
    found = reached(STANDARD)
    if goes_on:
        found.check("mine", now)
        return
    with pytest.raises(SandboxError) as refused:
        found.check("mine", now, "no Landlock")
    text = str(refused.value)
    assert (
        "'mine' was evaluated at the isolation level 'standard', and here it would go on at 'reduced' (no Landlock)"
        in text
    )
    assert "evolve campaign fork mine" in text


def test_a_campaign_without_a_run_may_begin_anywhere() -> None:
    """There is nothing to compare with."""
    reached().check("mine", Level.NONE)


def test_a_fork_begins_anew_and_knows_what_it_began_with() -> None:
    """Its own runs bind it, the old campaign's do not; both decide what is weaker."""
    fork = reached(STRICT, STRICT, STANDARD, inherited=2)
    assert (fork.best, fork.least) == (Level.STRICT, Level.STANDARD)
    fork.check("fork", Level.STANDARD)
    with pytest.raises(SandboxError, match="'standard'"):
        fork.check("fork", Level.REDUCED)


@pytest.mark.parametrize(
    ("line", "weaker"), [(STRICT, False), (STANDARD, True), (REDUCED, True), ("", False), ("a fake", False)]
)
def test_what_is_weaker_than_the_best(line: str, weaker: bool) -> None:
    """What names no level is not known to be."""
    assert reached(STANDARD, STRICT).weaker(line) is weaker
