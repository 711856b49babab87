"""Outcomes and operators' yields."""

from evolve import report
from evolve.types import Outcome
from tests.written import Written, short_campaign


def test_a_tally_counts_outcomes_and_what_operators_brought(tmp_path):
    """A screened proposal was not evaluated; an improvement is better than each parent."""
    with short_campaign(tmp_path) as campaign:
        tally = report.Tally.of(campaign.state.history)
    assert dict(tally.outcomes) == {Outcome.OK: 4, Outcome.CRASHED: 1, Outcome.SCREENED: 1}
    assert (report.Yield("tune_literals", proposals=5, evaluated=4, improved=2),) == tally.yields()
    assert tally.yields()[0].share == 0.5


def test_counted_live_or_from_the_history_a_tally_is_the_same(tmp_path):
    """One record after another."""
    with short_campaign(tmp_path) as campaign:
        live, history = report.Tally(), campaign.state.history
        for record in range(1, 7):
            live.add(history, record)
        assert report.Tally.of(history) == live


def test_an_operator_that_brought_nothing_has_a_share_of_zero():
    """Without a division by zero."""
    assert report.Yield("idle", 3, 0, 0).share == 0.0


def test_a_fresh_campaign_has_an_empty_tally(tmp_path):
    """No outcome, no operator."""
    with Written(tmp_path).campaign as campaign:
        assert report.Tally() == report.Tally.of(campaign.state.history)


def test_a_tally_counts_what_models_brought(tmp_path):
    """By whatever operator; what was made without one is nobody's."""
    written = Written(tmp_path)
    written.seed()
    written.proposal(6.0, operator="diff", model="small")
    written.proposal(5.5, operator="rewrite", model="small")
    written.proposal(4.0, operator="diff", model="large")
    written.proposal(7.0)
    with written.campaign as campaign:
        tally = report.Tally.of(campaign.state.history)
    assert tally.model_yields() == (report.Yield("small", 2, 2, 2), report.Yield("large", 1, 1, 0))
    assert [line.name for line in tally.yields()] == ["diff", "rewrite", "tune_literals"]
    assert report.Yield("idle", 3, 0, 0).share == 0.0


def test_a_reflection_is_counted_by_itself(tmp_path):
    """It is no failure of its operator, of its model, or of screening."""
    written = Written(tmp_path)
    written.seed()
    written.proposal(6.0, operator="diff", model="small")
    written.reflection("small", "Sort first.", "Keep it short.")
    with written.campaign as campaign:
        tally, page = report.Tally.of(campaign.state.history), report.overview(campaign)
    assert tally.counts() == {"ok": 2}
    assert tally.model_yields() == (report.Yield("small", 1, 1, 1),)
    assert [line.name for line in tally.yields()] == ["diff"]
    assert (page.reflections, page.screened, report.lessons_learnt(campaign)) == (1, 0, 2)
