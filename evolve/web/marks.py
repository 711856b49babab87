"""Stars, tags and comments of a campaign's programs, which a person has left beside its log.

Invariant: who only looks makes no file."""

from collections.abc import Mapping

from evolve.campaign import Campaign
from evolve.store.comments import Comment, Comments, Marks, bearing
from evolve.types import RecordId

__all__ = ["Comment", "Comments", "Marks", "bearing", "beside", "marked"]


def beside(campaign: Campaign) -> Comments:
    """What persons have left beside a campaign's log."""
    return Comments(campaign.log.path)


def marked(campaign: Campaign) -> Mapping[RecordId, Marks]:
    """The records with a star, a tag or a comment."""
    return beside(campaign).marked()
