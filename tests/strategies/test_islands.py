"""`islands`: the default strategy."""

from collections import Counter

import pytest
from pydantic import ValidationError

from evolve.strategies.islands import Islands, IslandsSettings
from evolve.testing import OPERATORS, Rehearsal, check_strategy
from evolve.types import Propose, Selection, Wait


def rehearse(strategy: Islands, campaign: Rehearsal, steps: int) -> list[Selection]:
    """The selections of so many steps, each settled before the next one."""
    selections, told = [], 0
    for step in range(1, steps + 1):
        for event in campaign.events[told:]:
            strategy.tell(event)
        told = len(campaign.events)
        action = strategy.ask(campaign, campaign.rng(step))
        assert isinstance(action, Propose)
        selections.append(action.selection)
        campaign.start(action)
        campaign.finish()
    return selections


@pytest.mark.parametrize("settings", [IslandsSettings(), IslandsSettings(resource="seconds", inspirations=0)])
def test_it_keeps_the_promises_of_a_strategy(settings: IslandsSettings) -> None:
    check_strategy(lambda operators: Islands(settings, operators))


def test_islands_are_asked_in_turn(rehearsal: Rehearsal) -> None:
    selections = rehearse(Islands(IslandsSettings(), OPERATORS), rehearsal, 30)
    assert [selection.island for selection in selections] == [0, 1, 2] * 10


def test_parents_and_inspirations_are_elites_of_the_island(rehearsal: Rehearsal) -> None:
    strategy = Islands(IslandsSettings(inspirations=2), OPERATORS)
    rehearse(strategy, rehearsal, 60)
    for step in range(100, 160):
        action = strategy.ask(rehearsal, rehearsal.rng(step))
        assert isinstance(action, Propose)
        chosen = action.selection
        named = (*chosen.parents, *chosen.inspirations)
        elites = {elite.record for elite in rehearsal.archive.elites(chosen.island)}
        assert set(named) <= elites
        assert len(set(named)) == len(named)
        assert (len(chosen.parents), len(chosen.inspirations) <= 2) == (1, True)


def test_no_inspirations_are_named_where_none_are_wanted(rehearsal: Rehearsal) -> None:
    selections = rehearse(Islands(IslandsSettings(inspirations=0), OPERATORS), rehearsal, 30)
    assert {selection.inspirations for selection in selections} == {()}


def test_every_operator_is_used_and_the_shares_are_those_of_the_bandit(rehearsal: Rehearsal) -> None:
    strategy = Islands(IslandsSettings(floor=0.2), OPERATORS)
    counts = Counter(selection.operator for selection in rehearse(strategy, rehearsal, 100))
    assert set(counts) == set(OPERATORS)
    assert set(strategy.shares()) == set(OPERATORS)
    assert min(strategy.shares().values()) >= 0.2


def test_the_search_comes_closer_to_the_optimum(rehearsal: Rehearsal) -> None:
    rehearse(Islands(IslandsSettings(), OPERATORS), rehearsal, 100)
    best = rehearsal.archive.best
    assert best is not None
    assert best.fitness > -0.1
    assert rehearsal.history.fitness(1) == -9.0


def test_it_waits_while_the_archive_is_empty() -> None:
    empty = Rehearsal()
    assert Islands(IslandsSettings(), OPERATORS).ask(empty, empty.rng(1)) == Wait()


@pytest.mark.parametrize("wrong", [{"resource": "dollars"}, {"inspirations": -1}, {"floor": 2.0}, {"colour": "red"}])
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        IslandsSettings.model_validate(wrong)
