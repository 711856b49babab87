"""Calls of models, and proposals that wait for an answer."""

from evolve import report
from evolve.types import Asked, Call, Part, Propose, Replied, Selection
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
