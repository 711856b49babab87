"""Failed calls, and proposals that wait for an answer."""

from dataclasses import replace

from evolve import report
from evolve.types import Asked, Call, Propose, Replied, Selection
from tests.written import Written

GOOD = Call("good", prompt_tokens=10)
BAD = Call("bad", error="it exited with 3")


def test_failed_calls_are_counted_by_model_with_the_last_reason(tmp_path):
    """Whatever they were for; the model that failed most often first."""
    written = Written(tmp_path)
    written.seed()
    written.called(GOOD, BAD, replace(BAD, error="refused", purpose="embed"), replace(GOOD, error="late"))
    with written.campaign as campaign:
        assert report.Failures.of(campaign).lines() == (
            report.ModelFailures("bad", 2, 2, "refused"),
            report.ModelFailures("good", 2, 1, "late"),
        )


def test_what_was_given_up_when_a_run_ended_has_not_failed(tmp_path):
    """Nor has a check before any step."""
    written = Written(tmp_path)
    written.seed()
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Replied(0, -1, replace(GOOD, purpose="check")))
            campaign.write(Replied(1, -1, replace(BAD, error="the run was stopped")))
        assert report.Failures.of(campaign).lines() == ()


def test_counted_live_or_from_the_log_failures_are_the_same(tmp_path):
    """One call after another."""
    written = Written(tmp_path)
    written.seed()
    live = report.Failures()
    with written.campaign as campaign:
        for _ in range(3):
            written.called(GOOD, BAD)
            written.proposal(6.0, operator="diff", model="good")
            live.follow(campaign)
            live.follow(campaign)
        assert live == report.Failures.of(campaign)
        assert [line.failed for line in live.lines()] == [3]


def test_a_proposal_waits_until_its_model_has_answered(tmp_path):
    """One that needs no model waits for none."""
    written = Written(tmp_path)
    written.seed()
    with written.campaign as campaign:
        with campaign.log.transaction():
            for step, model in ((2, "good"), (3, "good"), (4, "")):
                campaign.write(Asked(step, Propose(Selection("diff", parents=(1,), model=model)), 1))
        assert report.waiting(campaign) == 2
        with campaign.log.transaction():
            campaign.write(Replied(2, 0, GOOD))
        assert report.waiting(campaign) == 1
