import threading

import pytest

from evolve.models.limits import RateLimit
from tests.models.asking import FakeTime

NEVER = threading.Event()


def test_without_a_hold_nobody_waits():
    times = FakeTime()
    assert RateLimit(times.clock).wait(times.now(), NEVER) == 0.0
    assert times.pauses == []


@pytest.mark.parametrize(("chance", "pauses"), [(0.0, [8.0, 0.0]), (1.0, [8.0, 2.0])])
def test_calls_that_were_held_back_leave_one_after_another(chance: float, pauses: list[float]):
    times = FakeTime(chance)
    limit = RateLimit(times.clock)
    limit.hold(8.0)
    assert limit.wait(times.now() + 100, NEVER) == 0.0
    assert times.pauses == pauses


def test_a_shorter_hold_does_not_end_a_longer_one():
    times = FakeTime()
    limit = RateLimit(times.clock)
    limit.hold(60.0)
    limit.hold(1.0)
    assert 59 < limit.remaining <= 60


def test_a_hold_beyond_the_deadline_is_told_at_once():
    times = FakeTime()
    limit = RateLimit(times.clock)
    limit.hold(3600.0)
    assert 3599 < limit.wait(times.now() + 10, NEVER) <= 3600
    assert times.pauses == []


def test_a_cancelled_call_does_not_wait():
    times, cancelled = FakeTime(), threading.Event()
    cancelled.set()
    limit = RateLimit(times.clock)
    limit.hold(5.0)
    assert limit.wait(times.now() + 10, cancelled) == 0.0
    assert times.pauses == []
