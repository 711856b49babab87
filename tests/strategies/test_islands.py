"""`islands`: the default strategy."""

from collections import Counter

import pytest
from pydantic import ValidationError

from evolve.strategies.islands import Islands, IslandsSettings
from evolve.strategies.model_parents import ModelParents
from evolve.testing import OPERATORS, Rehearsal, check_strategy
from evolve.types import FAILURES, ConfigError, Propose, Selection, Traits, Wait


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


WRITTEN = {
    "diff": Traits(needs_model=True),
    "crossover": Traits(needs_model=True, parents=2),
    "fix": Traits(needs_model=True, takes_failures=True),
}


def with_a_model(campaign: Rehearsal) -> Rehearsal:
    """The campaign's operators are those of a model, and one without."""
    campaign.operators = (*WRITTEN, "tune")
    campaign.needs.update(WRITTEN)
    return campaign


def test_each_operator_gets_the_parents_that_it_wants(rehearsal: Rehearsal) -> None:
    """A crossover two elites of different programs, a repair a failure and what it was made of, and all others an elite."""
    campaign = with_a_model(rehearsal)
    history = campaign.history
    selections = rehearse(Islands(IslandsSettings(floor=0.2), campaign.operators), campaign, 200)
    assert {selection.operator for selection in selections} == set(campaign.operators)
    for selection in selections:
        failed = [history.outcome(record) in FAILURES for record in selection.parents]
        match selection.operator:
            case "crossover":
                assert failed == [False, False]
                assert len({history.program_id(record) for record in selection.parents}) == 2
            case "fix":
                assert failed == [True]
                assert WRITTEN[history.operator(selection.parents[0])].needs_model
                assert [history.fitness(record) is None for record in selection.inspirations] == [False]
            case _:
                assert failed == [False]


def test_a_crossover_waits_for_a_second_program_and_a_repair_for_a_failure(rehearsal: Rehearsal) -> None:
    campaign = with_a_model(rehearsal)
    strategy = Islands(IslandsSettings(floor=0.25), campaign.operators)
    for event in campaign.events:
        strategy.tell(event)
    actions = [strategy.ask(campaign, campaign.rng(step)) for step in range(200)]
    assert {action.selection.operator for action in actions if isinstance(action, Propose)} == {"diff", "tune"}


def test_no_failure_is_repaired_more_than_twice(rehearsal: Rehearsal) -> None:
    campaign = with_a_model(rehearsal)
    selections = rehearse(Islands(IslandsSettings(floor=0.25), campaign.operators), campaign, 300)
    repaired = Counter(selection.parents[0] for selection in selections if selection.operator == "fix")
    assert repaired
    assert max(repaired.values()) <= 2


def test_a_repair_belongs_to_the_island_that_the_failure_was_made_for(rehearsal: Rehearsal) -> None:
    campaign = with_a_model(rehearsal)
    selections = rehearse(Islands(IslandsSettings(floor=0.25), campaign.operators), campaign, 200)
    for selection in selections:
        if selection.operator == "fix":
            assert selection.island == campaign.history.record(selection.parents[0]).origin.island


def test_a_model_is_shown_other_cells_than_the_parents(rehearsal: Rehearsal) -> None:
    """As long as there are any."""
    campaign = with_a_model(rehearsal)
    strategy = Islands(IslandsSettings(inspirations=2), campaign.operators)
    rehearse(strategy, campaign, 150)
    campaign.operators = ("diff",)
    cells = {elite.record: elite.cell for elite in campaign.archive.elites()}
    promising = ModelParents(0, 0.0, 0).list_elites(campaign)
    different = len({elite.cell for elite in promising})
    assert different > 1
    for step in range(1_000, 1_050):
        action = strategy.ask(campaign, campaign.rng(step))
        assert isinstance(action, Propose)
        shown = [cells[record] for record in (*action.selection.parents, *action.selection.inspirations)]
        assert len(set(shown)) == min(len(shown), different)


def test_where_no_operator_finds_a_parent_the_campaign_ends_with_the_remedy(rehearsal: Rehearsal) -> None:
    """While something is under way it waits, for that may be the failure that is wanted."""
    campaign = with_a_model(rehearsal)
    campaign.operators = ("fix",)
    strategy = Islands(IslandsSettings(), ("fix",))
    for event in campaign.events:
        strategy.tell(event)
    with pytest.raises(ConfigError, match=r"fix wants? several parents, or a program that failed\. Try: name one more"):
        strategy.ask(campaign, campaign.rng(1))
    campaign.start(Propose(Selection("diff", parents=(1,))))
    assert strategy.ask(campaign, campaign.rng(1)) == Wait()


def test_it_waits_while_the_archive_is_empty() -> None:
    empty = Rehearsal()
    assert Islands(IslandsSettings(), OPERATORS).ask(empty, empty.rng(1)) == Wait()


@pytest.mark.parametrize("wrong", [{"resource": "dollars"}, {"inspirations": -1}, {"floor": 2.0}, {"colour": "red"}])
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        IslandsSettings.model_validate(wrong)
