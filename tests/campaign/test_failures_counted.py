"""Failed calls are counted as they come, and from a log the same."""

from dataclasses import replace

from evolve import plugins
from evolve.campaign import Campaign, ModelFailures
from evolve.types import Call, Replied
from tests.written import Written

GOOD = Call("good", prompt_tokens=10)
BAD = Call("bad", error="it exited with 3")


def test_failed_calls_are_counted_by_model_with_the_last_reason(tmp_path):
    """Whatever they were for; the model that failed most often first."""
    written = Written(tmp_path)
    written.seed()
    written.called(GOOD, BAD, replace(BAD, error="refused", purpose="embed"), replace(GOOD, error="late"))
    with written.campaign as campaign:
        failures = campaign.state.failures
        assert failures.lines() == (ModelFailures("bad", 2, 2, "refused"), ModelFailures("good", 2, 1, "late"))
        assert failures.total == 3


def test_counted_live_or_from_the_log_failures_are_the_same(tmp_path):
    """One call after another."""
    written = Written(tmp_path)
    written.seed()
    for _ in range(3):
        written.called(GOOD, BAD)
        written.proposal(6.0, operator="diff", model="good")
    with written.campaign as campaign:
        live, path = campaign.state.failures.lines(), str(campaign.log.path)
    with Campaign.open(path, plugins.load(), tmp_path) as again:
        assert again.state.failures.lines() == live
        assert [line.failed for line in live] == [3]


def test_failed_requests_are_counted_by_model_and_cause(tmp_path):
    """Live, and from the log."""
    written = Written(tmp_path)
    written.seed()
    retried = replace(GOOD, retries={"503": 2, "time was up": 1})
    with written.campaign as campaign:
        written.called(retried, replace(BAD, retries={"503": 5}), replace(retried, retries={"503": 1}))
        live, path = campaign.state.failures, str(campaign.log.path)
    assert live.retries == {"good": {"503": 3, "time was up": 1}, "bad": {"503": 5}}
    with Campaign.open(path, plugins.load(), tmp_path) as again:
        assert (again.state.failures.retries, again.state.failures.requests) == (live.retries, 9)


def test_what_was_given_up_when_a_run_ended_has_not_failed(tmp_path):
    """Nor has a check before any step."""
    written = Written(tmp_path)
    written.seed()
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Replied(0, -1, replace(GOOD, purpose="check")))
            campaign.write(Replied(1, -1, replace(BAD, error="the run was stopped")))
        assert campaign.state.failures.lines() == ()
        assert campaign.state.failures.total == 0
