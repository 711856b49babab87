"""Proposals that wait for a model."""

from evolve.campaign import Campaign
from evolve.types import Propose


def waiting(campaign: Campaign) -> int:
    """How many proposals wait for the first answer of their model."""
    return sum(
        isinstance(step.asked.action, Propose)
        and bool(step.asked.action.selection.model)
        and not step.replies
        and not step.settled
        for step in campaign.state.steps.values()
    )
