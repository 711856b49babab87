"""A rehearsed campaign for the strategies' tests."""

import pytest

from evolve.testing import Rehearsal


@pytest.fixture
def rehearsal() -> Rehearsal:
    """An opened campaign: record 1 is the seed's."""
    campaign = Rehearsal()
    campaign.open()
    return campaign
