import threading
from collections import Counter

import pytest

from evolve.models.faults import RequestFault, Treatment
from evolve.models.retries import CallResult, FailedAttempts, RequestRetries
from evolve.types import ModelDown, ModelError, ModelGone, Usage
from tests.models.asking import FakeTime

NEVER = threading.Event()
PAID = Usage(5, 1)


class Script:
    """Fails as told, then answers."""

    def __init__(self, *faults: RequestFault) -> None:
        self.faults = list(faults)
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if self.faults:
            raise self.faults.pop(0)
        return "done"


def answered(script: Script, times: FakeTime, seconds: float = 1000.0) -> CallResult[str]:
    return RequestRetries("m", times.clock).call(script, times.now() + seconds, NEVER)


@pytest.mark.parametrize(
    ("treatment", "survived", "error"),
    [
        (Treatment.GONE, 0, ModelGone),
        (Treatment.FAILED, 0, ModelError),
        (Treatment.SILENT, 0, ModelDown),
        (Treatment.BAD_ANSWER, 1, ModelError),
        (Treatment.DOWN, 4, ModelDown),
        (Treatment.FIELD, 11, ModelError),
    ],
)
def test_so_many_faults_of_a_kind_are_survived(treatment: Treatment, survived: int, error: type[ModelError]):
    faults = [RequestFault(treatment, "it failed", usage=PAID) for _ in range(survived)]
    assert answered(Script(*faults), FakeTime()).failed.count == survived
    script = Script(*faults, RequestFault(treatment, "it failed", usage=PAID))
    with pytest.raises(error, match="model m: it failed") as raised:
        answered(script, FakeTime())
    assert (type(raised.value), script.asked, raised.value.attempts) == (error, survived + 1, survived + 1)
    assert raised.value.usage == Usage(5 * (survived + 1), survived + 1)


def test_what_failed_requests_may_have_cost_goes_with_the_answer():
    script = Script(RequestFault(Treatment.BAD_ANSWER, "x", usage=PAID), RequestFault(Treatment.DOWN, "y"))
    done = answered(script, FakeTime())
    failed = FailedAttempts(PAID, 2, done.failed.seconds, Counter(x=1, y=1))
    assert done == CallResult("done", failed)


def test_pauses_are_drawn_below_a_ceiling_that_doubles():
    times = FakeTime(chance=0.5)
    answered(Script(*[RequestFault(Treatment.DOWN, "x") for _ in range(4)]), times)
    assert times.pauses == [0.25, 0.5, 1.0, 2.0]


def test_only_those_that_wait_for_the_server_pause():
    times = FakeTime()
    answered(Script(RequestFault(Treatment.FIELD, "x"), RequestFault(Treatment.BAD_ANSWER, "x")), times)
    assert times.pauses == []


def test_a_server_that_asks_for_no_time_again_and_again_is_given_some():
    times = FakeTime()
    answered(
        Script(*[RequestFault(Treatment.RATE_LIMITED, "x", retry_after=0.0) for _ in range(6)]), times, seconds=1e6
    )
    held = [pause for pause in times.pauses if pause >= 1]
    assert held[:3] == [4.0, 1.0, 8.0]


def test_a_pause_beyond_the_deadline_is_not_begun():
    times = FakeTime()
    script = Script(*[RequestFault(Treatment.DOWN, "it fails") for _ in range(4)])
    with pytest.raises(ModelDown, match="it fails"):
        answered(script, times, seconds=2.0)
    assert (script.asked, times.pauses) == (3, [0.5, 1.0])


def test_a_hold_beyond_the_deadline_tells_what_the_server_said():
    with pytest.raises(ModelDown, match="come back tomorrow") as raised:
        answered(Script(RequestFault(Treatment.RATE_LIMITED, "come back tomorrow", retry_after=5000.0)), FakeTime())
    assert 4990 < raised.value.retry_after <= 5000


def test_the_seconds_of_tries_that_may_have_been_paid_are_told():
    """So that a call which timed out on one's own GPUs has used them; a refused connection has not."""
    times = FakeTime()

    def ask() -> str:
        times.pause(30.0, NEVER)
        raise RequestFault(Treatment.BAD_ANSWER, "x", usage=PAID)

    with pytest.raises(ModelError) as raised:
        RequestRetries("m", times.clock).call(ask, times.now() + 1000, NEVER)
    assert raised.value.seconds == pytest.approx(60.0, abs=0.5)
    with pytest.raises(ModelDown) as refused:
        answered(Script(*[RequestFault(Treatment.DOWN, "x")] * 5), times)
    assert refused.value.seconds == 0.0


def test_without_a_hold_nobody_waits():
    times = FakeTime()
    assert RequestRetries("m", times.clock).wait(times.now(), NEVER) == 0.0
    assert times.pauses == []


@pytest.mark.parametrize(("chance", "pauses"), [(0.0, [8.0, 0.0]), (1.0, [8.0, 2.0])])
def test_calls_that_were_held_back_leave_one_after_another(chance: float, pauses: list[float]):
    times = FakeTime(chance)
    retries = RequestRetries("m", times.clock)
    retries.hold(8.0)
    assert retries.wait(times.now() + 100, NEVER) == 0.0
    assert times.pauses == pauses


def test_a_shorter_hold_does_not_end_a_longer_one():
    times = FakeTime()
    retries = RequestRetries("m", times.clock)
    retries.hold(60.0)
    retries.hold(1.0)
    assert 59 < retries.remaining <= 60


def test_a_hold_beyond_the_deadline_is_told_at_once():
    times = FakeTime()
    retries = RequestRetries("m", times.clock)
    retries.hold(3600.0)
    assert 3599 < retries.wait(times.now() + 10, NEVER) <= 3600
    assert times.pauses == []


def test_a_cancelled_call_does_not_wait():
    times, cancelled = FakeTime(), threading.Event()
    cancelled.set()
    retries = RequestRetries("m", times.clock)
    retries.hold(5.0)
    assert retries.wait(times.now() + 10, cancelled) == 0.0
    assert times.pauses == []
