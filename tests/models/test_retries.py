"""Retries of requests within a call, and the circuit breaker before a model."""

import itertools
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from evolve.models.faults import RequestFault, Treatment
from evolve.models.retries import CallResult, CircuitBreaker, FailedAttempts, ModelClock, RequestRetries
from evolve.types import ModelDown, ModelError, ModelGone, Usage
from tests.models.asking import PROMPT, FakeTime, asked_of
from tests.models.fault_server import OK, FaultServer, failure

NEVER = threading.Event()
PAID = Usage(5, 1)
DOWN = ModelDown("model m: it is down")


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
    assert held[:3] == [1.0, 2.0, 4.0]


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


class GuardedScript:
    """A call that fails as told, then answers."""

    def __init__(self, *errors: ModelError) -> None:
        self.errors = list(errors)
        self.deadlines: list[float] = []

    def __call__(self, until: float) -> str:
        self.deadlines.append(until)
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def outlast(script: GuardedScript, times: FakeTime, wait_seconds: float = 600.0) -> CallResult[str]:
    return CircuitBreaker(wait_seconds, times.clock).call(script, times.now() + 10, NEVER)


def test_a_call_that_is_answered_waits_for_nothing():
    times = FakeTime()
    assert outlast(GuardedScript(), times) == CallResult("done", FailedAttempts())
    assert times.pauses == []


def test_a_call_is_tried_again_until_the_model_is_back_and_its_tries_are_counted():
    times = FakeTime()
    script = GuardedScript(ModelDown("a", Usage(exact=True), 5), ModelDown("b", Usage(3), 2))
    assert outlast(script, times) == CallResult("done", FailedAttempts(Usage(3), 7))
    assert sum(times.pauses) == pytest.approx(3.0, abs=0.5)


def test_the_seconds_of_all_tries_are_in_the_error():
    errors = [ModelDown("a", Usage(3), 1, 10.0), ModelDown("b", Usage(3), 1, 20.0), ModelDown("c", Usage(3), 1, 5.0)]
    with pytest.raises(ModelError) as raised:
        outlast(GuardedScript(*errors), FakeTime())
    assert raised.value.seconds == 35.0


def test_the_beginning_and_the_end_of_an_outage_are_told_once(caplog: pytest.LogCaptureFixture):
    """What to do at a start is left out."""
    times = FakeTime()
    script = GuardedScript(*[ModelDown("it cannot be reached. Try: start it")] * 3)
    CircuitBreaker(600.0, times.clock, "model 'm'").call(script, times.now() + 10, NEVER)
    down, back = caplog.messages
    assert down == "model 'm' is down: it cannot be reached. Its calls wait, 600 s at most"
    assert back.startswith("model 'm' is back after ")


def test_every_try_has_as_much_time_as_the_first():
    times = FakeTime()
    script = GuardedScript(*[DOWN] * 6)
    began = times.now()
    outlast(script, times)
    assert script.deadlines[0] == pytest.approx(began + 10, abs=0.5)
    assert script.deadlines[-1] == pytest.approx(times.now() + 10, abs=0.5)


def test_pauses_grow_up_to_a_minute():
    times = FakeTime()
    script = GuardedScript(*[DOWN] * 10)
    began = times.now()
    outlast(script, times, wait_seconds=10_000)
    starts = [until - 10 - began for until in script.deadlines]
    gaps = [round(later - earlier) for earlier, later in itertools.pairwise(starts)]
    assert gaps == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


def test_it_is_left_alone_as_long_as_it_says():
    times = FakeTime()
    outlast(GuardedScript(ModelDown("busy", retry_after=300.0)), times)
    assert sum(times.pauses) == pytest.approx(300.0, abs=1.0)


def test_after_too_long_it_is_gone_and_the_error_tells_what_was_tried():
    times = FakeTime()
    script = GuardedScript(*[ModelDown("model m: it is down", Usage(exact=True), 5) for _ in range(99)])
    with pytest.raises(ModelGone, match=r"it is down\. It was down for 6\d s.*Try: ") as raised:
        outlast(script, times, wait_seconds=60.0)
    assert raised.value.attempts == 5 * len(script.deadlines)


def test_with_no_breaker_the_first_failure_is_the_last():
    script = GuardedScript(DOWN)
    with pytest.raises(ModelGone):
        outlast(script, FakeTime(), wait_seconds=0.0)
    assert len(script.deadlines) == 1


def test_a_model_that_is_gone_stays_gone():
    times = FakeTime()
    breaker = CircuitBreaker(600.0, times.clock)
    with pytest.raises(ModelGone, match="the key was refused"):
        breaker.call(GuardedScript(ModelGone("the key was refused")), times.now() + 10, NEVER)
    later = GuardedScript()
    with pytest.raises(ModelGone, match="the key was refused"):
        breaker.call(later, times.now() + 10, NEVER)
    assert later.deadlines == []


def test_a_call_that_fails_for_good_is_no_outage():
    times = FakeTime()
    breaker = CircuitBreaker(600.0, times.clock)
    with pytest.raises(ModelError, match="too long"):
        breaker.call(GuardedScript(ModelError("too long", Usage(4), 2)), times.now() + 10, NEVER)
    assert breaker.down_seconds == 0.0


def test_a_call_that_was_paid_three_times_in_vain_fails():
    times = FakeTime()
    script = GuardedScript(*[ModelDown("nothing came", Usage(5)) for _ in range(9)])
    with pytest.raises(ModelError, match="nothing came") as raised:
        outlast(script, times)
    assert (type(raised.value), len(script.deadlines), raised.value.usage) == (ModelError, 3, Usage(15))


def test_a_call_that_was_paid_once_goes_on_waiting():
    times = FakeTime()
    script = GuardedScript(
        ModelDown("nothing came", Usage(5)), *[ModelDown("refused", Usage(exact=True)) for _ in range(6)]
    )
    assert outlast(script, times) == CallResult("done", FailedAttempts(Usage(5), 7))


def test_a_call_that_fails_while_others_are_answered_fails_alone():
    times = FakeTime()
    breaker = CircuitBreaker(600.0, times.clock)
    tries = []

    def unlucky(until: float) -> str:
        tries.append(until)
        breaker.call(GuardedScript(), times.now() + 10, NEVER)
        raise ModelDown("500 for this prompt")

    with pytest.raises(ModelError, match="500 for this prompt") as raised:
        breaker.call(unlucky, times.now() + 10, NEVER)
    assert (type(raised.value), len(tries), breaker.down_seconds) == (ModelError, 3, 0.0)


def test_a_call_that_waits_is_cancelled_at_once_and_hands_on_its_turn():
    breaker = CircuitBreaker(600.0)
    cancelled = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(
            breaker.call, GuardedScript(ModelDown("busy", retry_after=500.0)), time.monotonic() + 10, cancelled
        )
        while not breaker.down_seconds:
            time.sleep(0.001)
        cancelled.set()
        with pytest.raises(ModelError, match="cancelled") as raised:
            waiting.result(timeout=5)
    assert type(raised.value) is ModelError


class Endpoint:
    """Down until it is told otherwise; counts who calls, and how many at once."""

    def __init__(self) -> None:
        self.is_up = threading.Event()
        self.failed = 0
        self.answered = 0
        self._lock = threading.Lock()

    def __call__(self, until: float) -> int:
        with self._lock:
            if self.is_up.is_set():
                self.answered += 1
                return self.answered
            self.failed += 1
        raise ModelDown("down")


@pytest.mark.integration
def test_while_it_is_down_one_call_tries_and_when_it_is_back_all_are_answered_once():
    quick = ModelClock(pause=lambda seconds, cancelled: cancelled.wait(seconds / 100))
    breaker, endpoint = CircuitBreaker(3600.0, quick), Endpoint()
    with ThreadPoolExecutor(32) as pool:
        calls = [pool.submit(breaker.call, endpoint, time.monotonic() + 10, NEVER) for _ in range(32)]
        while not breaker.down_seconds > 1.2:
            time.sleep(0.005)
        failed_while_down = endpoint.failed
        endpoint.is_up.set()
        values = sorted(call.result(timeout=20).value for call in calls)
    assert values == list(range(1, 33))
    assert failed_while_down <= 32 + 3, (
        "each call fails once at most as the outage begins; later, one tries from time to time"
    )


def test_all_that_wait_are_told_that_it_is_gone():
    quick = ModelClock(pause=lambda seconds, cancelled: cancelled.wait(seconds / 100))
    breaker = CircuitBreaker(1.0, quick)
    with ThreadPoolExecutor(16) as pool:
        calls = [pool.submit(breaker.call, Endpoint(), time.monotonic() + 10, NEVER) for _ in range(16)]
        errors = [call.exception(timeout=20) for call in calls]
    assert {type(error) for error in errors} == {ModelGone}


@pytest.mark.integration
def test_checks_do_not_wait_and_embeddings_do():
    times = FakeTime()
    with FaultServer([OK, *[failure(503)] * 6]) as server, asked_of(server, times) as model:
        assert model.check(times.now() + 30, NEVER) == Usage(11, 7, 3, exact=True)
        with pytest.raises(ModelDown):
            model.check(times.now() + 30, NEVER)
        breaker = CircuitBreaker(3600.0, times.clock)
        embed = lambda until: model.embed("text", deadline=until, cancelled=NEVER)  # noqa: E731
        vector, usage = breaker.call(embed, times.now() + 30, NEVER).value
        assert (tuple(vector), usage, server.count) == ((3.0, 4.0), Usage(5, exact=True), 8)


@pytest.mark.integration
def test_a_server_that_restarts_costs_no_call():
    times = FakeTime()
    with FaultServer([OK, *[failure(503)] * 12]) as server, asked_of(server, times) as model:
        breaker = CircuitBreaker(3600.0, times.clock)
        complete = lambda until: model.complete(PROMPT, samples=[0], deadline=until, cancelled=NEVER)  # noqa: E731
        done = [breaker.call(complete, times.now() + 30, NEVER) for _ in range(2)]
        assert [one.value[0].text for one in done] == ["hello", "hello"]
        assert [one.failed.count + one.value[0].attempts for one in done] == [1, 13]
        assert [(dict(one.failed.causes), dict(one.value[0].retries)) for one in done] == [
            ({}, {}),
            ({"503": 10}, {"503": 2}),
        ]
        assert server.count == 14
