"""What a campaign does next when its strategy moves programs between islands."""

import pytest

from evolve.types import PluginError, Propose, Rearrange, Rearranged, Selection, Wait, canonical


class Gardener:
    """Every tenth record or so, gives island 1 to the best programs of all islands; else asks as the strategy that it wraps."""

    def __init__(self, strategy):
        self._strategy = strategy
        self._since = 0

    def ask(self, view, rng):
        if self._since >= 10:
            elites = sorted(view.archive.elites(), key=lambda elite: (-elite.fitness, elite.record))
            return Rearrange(1, tuple(dict.fromkeys(elite.record for elite in elites))[:3], "the best of all")
        return self._strategy.ask(view, rng)

    def tell(self, event):
        self._since = 0 if isinstance(event, Rearranged) else self._since + 1
        self._strategy.tell(event)


def test_programs_are_moved_at_once_and_a_replay_moves_them_again(bench):
    """The archive that is folded anew equals the one of the run."""
    campaign = bench.create()
    campaign.strategy = Gardener(campaign.strategy)
    with campaign:
        assert bench.run(campaign).reason == "budget"
        moved = [found.event for found in campaign.log.events(only=Rearranged)]
        assert len(moved) >= 3
        assert {(event.island, event.why) for event in moved} == {(1, "the best of all")}
        state = canonical(campaign.state.archive.state())
    with bench.open() as again:
        assert again.state.difference is None
        assert canonical(again.state.archive.state()) == state


def test_the_strategy_is_asked_again_and_sees_what_it_has_moved(bench):
    """With other random numbers, so that a strategy that draws does not draw the same for ever."""
    campaign, seen = bench.create(), []

    def ask(view, rng):
        seen.append((view.archive.elites(1), rng.random()))
        if len(seen) == 1:
            return Rearrange(1, ())
        return Propose(Selection("tune_literals", parents=(1,))) if len(seen) == 2 else Wait()

    campaign.strategy.ask = ask
    with campaign, pytest.raises(PluginError, match="waits, and nothing is under way"):
        bench.run(campaign)
    assert [len(elites) for elites, _ in seen[:2]] == [1, 0]
    assert seen[0][1] != seen[1][1]


def test_a_strategy_that_only_rearranges_ends_the_run(bench):
    """What it had moved until then was done, and is in the log."""
    campaign = bench.create()
    islands = iter([0, 1, 2, 1])
    campaign.strategy.ask = lambda view, rng: Rearrange(next(islands), (1,))
    message = "strategy 'islands' asked to arrange island 1 twice, and for nothing else in between. Try: mend its `ask`"
    with campaign, pytest.raises(PluginError, match=message):
        bench.run(campaign)
    with bench.open() as campaign:
        assert [found.event.island for found in campaign.log.events(only=Rearranged)] == [0, 1, 2]
        assert campaign.state.difference is None
