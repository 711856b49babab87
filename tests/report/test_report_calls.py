"""Proposals that wait for an answer."""

from evolve import report
from evolve.types import Asked, Call, Propose, Replied, Selection
from tests.written import Written

GOOD = Call("good", prompt_tokens=10)


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
