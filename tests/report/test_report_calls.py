"""Calls of models: their texts and their costs."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from evolve import report
from evolve.campaign import Campaign
from evolve.types import Asked, Call, Outcome, Part, Propose, Replied, Selection
from tests.written import Written

GOOD = Call("good", prompt_tokens=10)


MEMBER = {"name": "good", "kind": "mailbox", "settings": {"folder": "/nowhere"}, "concurrency": 2}


def test_a_call_is_in_flight_until_its_model_has_answered_and_no_more_than_it_takes_at_once(tmp_path):
    """A proposal that is made ready for a busy model is no call yet, and one that needs no model is none."""
    written = Written(tmp_path, models={"members": [MEMBER]})
    written.seed()
    pending = []
    with written.campaign as campaign:
        with campaign.log.transaction():
            for step, model in ((2, "good"), (3, "good"), (4, ""), (5, "good")):
                campaign.write(Asked(step, Propose(Selection("diff", parents=(1,), model=model)), 1))
        for step in (2, 3, 5):
            pending.append(report.pending_calls(campaign))
            with campaign.log.transaction():
                campaign.write(Replied(step, 0, GOOD))
        assert [(calls.in_flight, calls.queued) for calls in [*pending, report.pending_calls(campaign)]] == [
            (2, 1),
            (2, 0),
            (1, 0),
            (0, 0),
        ]


def test_no_more_calls_are_in_flight_than_the_budget_pays_for(tmp_path):
    written = Written(tmp_path, models={"members": [MEMBER | {"concurrency": 8}]}, budget=["3calls"])
    written.seed()
    with written.campaign as campaign:
        with campaign.log.transaction():
            for step in range(2, 8):
                campaign.write(Asked(step, Propose(Selection("diff", parents=(1,), model="good")), 1))
            campaign.write(Replied(2, 0, GOOD))
        found = report.pending_calls(campaign)
    assert (found.in_flight, found.queued) == (2, 3)


def test_the_calls_of_a_record_are_those_of_its_step_with_their_texts(tmp_path):
    """Steps of others that were under way at the same time are left out, and so is what the step of a measurement never asked."""
    written = Written(tmp_path)
    written.seed()
    with written.campaign as campaign:
        with campaign.log.transaction():
            parts = (Part("system", "rules", campaign.log.put_text("Be brief.")),)
            reply = campaign.log.put_text("6")
            for step in (2, 3):
                campaign.write(Asked(step, Propose(Selection("diff", parents=(1,), model="good")), 1))
            campaign.write(Replied(3, 0, GOOD))
            campaign.write(Replied(2, 0, Call("good", prompt=parts, reply=reply)))
            campaign.write(Replied(2, 1, Call("good", purpose="repair", error="down")))
        written.proposal(6.0, step=2, operator="diff", model="good")
        written.proposal(7.0, step=3, operator="diff", model="good")
        first, second = report.calls_of(campaign, 2)
        assert (first.call.index, first.prompt[0].text, first.reply) == (0, "Be brief.", "6")
        assert (second.call.purpose, second.call.error, second.reply) == ("repair", "down", "")
        assert [whole.call.step for whole in report.calls_of(campaign, 3)] == [3]
        assert report.calls_of(campaign, 1) == ()


SMALL = Call("small", prompt_tokens=100, completion_tokens=10, cached_tokens=60, cost=0.25, seconds=2.0, exact=True)
LARGE = Call("large", prompt_tokens=1000, completion_tokens=100, cost=2.0, gpu_seconds=3.0, seconds=8.0)


def bought(home: Path) -> Campaign:
    """The seed 5; 6 by `small`; 4 by `large`; a screened one after two calls; 7 without a model, from 6; 7.5 by `large`, from 7."""
    written = Written(home)
    written.seed(5.0)
    written.called(SMALL)
    written.proposal(6.0, operator="diff", model="small")
    written.called(LARGE, operator="rewrite")
    written.proposal(4.0, operator="rewrite", model="large")
    written.called(SMALL, replace(SMALL, purpose="repair", exact=False, error="refused"))
    written.failure(Outcome.SCREENED, "no edit applies")
    written.proposal(7.0, parents=(2,))
    written.called(LARGE)
    written.proposal(7.5, parents=(5,), operator="diff", model="large")
    return written.campaign


def test_costs_are_sums_over_calls_by_operator_model_and_purpose(tmp_path):
    """The dearest first; a failed call is one of them."""
    with bought(tmp_path) as campaign:
        found = report.costs(campaign)
    assert found.total == report.CostLine("all", 5, 1, 2300, 230, 180, 4.75, 6.0, 22.0, 0.4)
    assert found.total.tokens == 2530
    assert [(line.name, line.calls, line.money) for line in found.models] == [("large", 2, 4.0), ("small", 3, 0.75)]
    assert [(line.name, line.calls, line.money) for line in found.operators] == [("diff", 4, 2.75), ("rewrite", 1, 2.0)]
    assert [(line.name, line.calls, line.failed) for line in found.purposes] == [("propose", 4, 0), ("repair", 1, 1)]
    assert found.models[1].exact == pytest.approx(2 / 3)


def test_the_sums_are_what_the_budget_was_charged(tmp_path):
    """Report and progress say the same."""
    with bought(tmp_path) as campaign:
        total, progress = report.costs(campaign).total, campaign.state.progress
    assert (total.calls, total.tokens, total.money, total.gpu_seconds) == (
        progress.calls,
        progress.tokens,
        progress.money,
        progress.gpu_seconds,
    )


def test_a_call_that_was_given_up_costs_and_has_not_failed(tmp_path):
    """The run ended, and not the model."""
    with Written(tmp_path).campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Replied(1, -1, replace(SMALL, error="the run was stopped")))
        total = report.costs(campaign).total
    assert (total.calls, total.failed, total.money) == (1, 0, 0.25)


def test_a_call_before_any_step_has_no_operator(tmp_path):
    """Such as the one that finds out whether the model answers; and no best yet."""
    written = Written(tmp_path)
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Replied(0, 0, replace(SMALL, purpose="check")))
        found = report.costs(campaign)
    assert [(line.name, line.calls) for line in found.operators] == [("", 1)]


def test_a_campaign_without_calls_has_no_costs(tmp_path):
    """And its page says nothing of them."""
    written = Written(tmp_path)
    written.seed()
    written.proposal(6.0)
    with written.campaign as campaign:
        page = report.overview(campaign)
    assert (page.costs, page.models) == (None, ())


def test_a_page_holds_costs_and_models_ready_for_json(tmp_path):
    """As plain data."""
    with bought(tmp_path) as campaign:
        page = json.loads(json.dumps(asdict(report.overview(campaign))))
    assert page["costs"]["total"]["money"] == 4.75
    assert page["models"][0] == {"name": "large", "proposals": 2, "evaluated": 2, "improved": 1}


def test_costs_are_those_of_the_events_that_were_replayed(tmp_path):
    """What another process writes meanwhile is not among them."""
    with bought(tmp_path) as campaign:
        before = report.costs(campaign)
        with campaign.log.transaction():
            campaign.log.append(Replied(99, 0, LARGE), at=1.0, active=1.0)
        assert report.costs(campaign) == before
