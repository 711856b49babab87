"""The seconds of a campaign."""

import pytest

from evolve.campaign.campaign import Clock


def test_a_clock_that_rests_stands_still_and_goes_on_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """To rest twice, or to wake what is awake, changes nothing."""
    now = 100.0
    monkeypatch.setattr("evolve.campaign.campaign.time.monotonic", lambda: now)
    clock = Clock(7.0)
    told = []
    for later, act in ((3.0, clock.wake), (1.0, clock.rest), (5.0, clock.rest), (5.0, clock.wake), (2.0, clock.wake)):
        now += later
        act()
        told.append(clock.seconds)
    assert told == [10.0, 11.0, 11.0, 11.0, 13.0]
