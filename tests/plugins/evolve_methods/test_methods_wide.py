"""The law of ThetaEvolve's database: islands in turn, parents from the island, from the archive, or from anywhere."""

from collections import Counter

import pytest

from evolve.testing import Rehearsal
from evolve.types import REJUDGED, Propose, TaskChanged, Traits
from evolve_methods.wide import IMPROVE, Wide, WideSettings
from tests.plugins.evolve_methods.histories import measured, ruled, settled, tell
from tests.plugins.evolve_methods.method_scenes import read_request

PROGRAMS = (
    settled(1, 0.0),
    settled(2, 1.0, 1, island=1),
    settled(3, 2.0, 1, island=1),
    settled(4, 3.0, 1, island=1),
    settled(5, 9.0, 1, island=2),
    settled(6, 8.0, 1, island=2),
)
"""The seed on island 0, three programs on island 1, two better ones on island 2."""


def make(**settings: int) -> Wide:
    return Wide(WideSettings(**settings), (IMPROVE,))


def draw(strategy: Wide, island: int, count: int = 4000) -> Counter[int]:
    """How often each record is the parent on an island."""
    campaign = Rehearsal()
    rngs = [campaign.rng(number) for number in range(count)]
    return Counter(strategy._draw_parent(strategy.programs, island, rng).record for rng in rngs)


def test_parents_are_drawn_from_the_island_the_archive_and_everywhere() -> None:
    """Of island 1 the archive of 4 holds its best program alone: 0.2 / 3 + 0.7 + 0.1 / 6 for it."""
    strategy = make(archive=4)
    tell(strategy, *PROGRAMS)
    assert [known.record for known in strategy.programs] == [1, 2, 3, 4, 6, 5]
    shares = {record: count / 4000 for record, count in draw(strategy, 1).items()}
    anywhere = 0.1 / 6
    best = 0.2 / 3 + 0.7 / 2 + anywhere
    wanted = {1: anywhere, 2: 0.2 / 3 + anywhere, 3: best, 4: best, 5: anywhere, 6: anywhere}
    assert shares == pytest.approx(wanted, abs=0.03)


def test_an_island_without_a_program_in_the_archive_exploits_that_of_others_and_explores_its_own() -> None:
    strategy = make(archive=2)
    tell(strategy, *PROGRAMS)
    shares = {record: count / 4000 for record, count in draw(strategy, 0).items()}
    anywhere = 0.1 / 6
    wanted = {1: 0.2 + anywhere, 2: anywhere, 3: anywhere, 4: anywhere, 5: 0.35 + anywhere, 6: 0.35 + anywhere}
    assert shares == pytest.approx(wanted, abs=0.03)


def test_an_empty_island_begins_with_the_seed_though_it_has_left_the_database() -> None:
    strategy = make(database=3)
    tell(strategy, *PROGRAMS)
    assert [known.record for known in strategy.programs] == [4, 6, 5]
    assert [known.record for known in strategy.list_island(strategy.programs, 3)] == [1]


def test_islands_take_turns_and_a_prompt_with_one_parent_is_answered_by_a_group() -> None:
    campaign, strategy = Rehearsal(), make(group=5)
    campaign.operators = (IMPROVE,)
    campaign.needs[IMPROVE] = Traits(needs_model=True)
    campaign.open()
    tell(strategy, *campaign.events)
    islands = []
    for step in range(6):
        told, action = len(campaign.events), strategy.ask(campaign, campaign.rng(step))
        assert isinstance(action, Propose)
        assert (len(action.selection.parents), action.selection.inspirations, action.selection.samples) == (1, (), 5)
        islands.append(action.selection.island)
        campaign.start(action)
        tell(strategy, *campaign.events[told:])
    assert islands == [0, 1, 2, 0, 1, 2]


def test_failures_measurements_and_earlier_versions_of_the_task_are_no_parents() -> None:
    strategy = make()
    tell(strategy, *PROGRAMS, settled(7, None, 1), measured(8, 2, 50.0))
    assert len(strategy.programs) == 6
    tell(strategy, TaskChanged("2", ""), settled(9, 1.0), measured(10, 5, 2.0, why=REJUDGED))
    assert [known.record for known in strategy.programs] == [9, 10]


def test_a_quarantined_program_is_no_parent_until_it_is_released() -> None:
    campaign, strategy = Rehearsal(), make()
    campaign.operators = (IMPROVE,)
    campaign.open()
    tell(strategy, *PROGRAMS, ruled("quarantine", 5))
    parents = {strategy.ask(campaign, campaign.rng(step)).selection.parents[0] for step in range(300)}  # type: ignore[union-attr]
    assert parents == {1, 2, 3, 4, 6}
    tell(strategy, ruled("release", 5))
    assert 5 in {strategy.ask(campaign, campaign.rng(step)).selection.parents[0] for step in range(300)}  # type: ignore[union-attr]


def test_the_request_shows_the_parent_and_no_other_program() -> None:
    text = read_request(IMPROVE)
    assert "Improve program 1" in text
    assert "SEARCH" in text
    assert "## Program 1" in text
    assert "best" not in text.casefold().split("## what to do")[0].split("```")[0]
