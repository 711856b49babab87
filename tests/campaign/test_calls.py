"""Calls of models, summed while the log grows and from the log alike."""

from dataclasses import replace
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from evolve import plugins
from evolve.campaign import Campaign, ModelFailures
from evolve.campaign.folds import Calls, CallTotals
from evolve.types import Asked, Call, Propose, Replied, Selection
from tests.written import Written

GOOD = Call("good", prompt_tokens=10)
BAD = Call("bad", error="it exited with 3")


def test_failed_calls_are_counted_by_model_with_the_last_reason(tmp_path):
    """Whatever they were for; the model that failed most often first."""
    written = Written(tmp_path)
    written.seed()
    written.called(GOOD, BAD, replace(BAD, error="refused", purpose="embed"), replace(GOOD, error="late"))
    with written.campaign as campaign:
        failures = campaign.state.calls
        assert failures.failures() == (ModelFailures("bad", 2, 2, "refused"), ModelFailures("good", 2, 1, "late"))
        assert failures.failed == 3


def test_counted_live_or_from_the_log_failures_are_the_same(tmp_path):
    """One call after another."""
    written = Written(tmp_path)
    written.seed()
    for _ in range(3):
        written.called(GOOD, BAD)
        written.proposal(6.0, operator="diff", model="good")
    with written.campaign as campaign:
        live, path = campaign.state.calls.failures(), str(campaign.log.path)
    with Campaign.open(path, plugins.load(), tmp_path) as again:
        assert again.state.calls.failures() == live
        assert [line.failed for line in live] == [3]


def test_what_was_given_up_when_a_run_ended_has_not_failed(tmp_path):
    """Nor has a check before any step."""
    written = Written(tmp_path)
    written.seed()
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Replied(0, -1, replace(GOOD, purpose="check")))
            campaign.write(Replied(1, -1, replace(BAD, error="the run was stopped")))
        assert campaign.state.calls.failures() == ()
        assert campaign.state.calls.failed == 0


def first_free(*numbers: int, request: str = "a", count: int = 4) -> list[int]:
    """The first numbers that no call has, where calls of request "a" have these numbers."""
    calls = Calls()
    for number in numbers:
        calls.add(Replied(1, 0, Call("alpha", request="a", sample=number)))
    return list(islice(calls.free_samples(request), count))


def test_numbers_of_a_request_go_on_where_the_log_ends() -> None:
    assert (first_free(0, 1), first_free(0, 1, request="b")) == ([2, 3, 4, 5], [0, 1, 2, 3])


def test_a_number_whose_call_never_came_is_free_again() -> None:
    assert first_free(3, 1) == [0, 2, 4, 5]


@given(st.lists(st.integers(0, 12)))
def test_free_are_the_numbers_that_no_call_has(numbers: list[int]) -> None:
    assert first_free(*numbers, count=15) == [number for number in range(30) if number not in numbers][:15]


CALL = Call(
    "alpha",
    prompt_tokens=100,
    completion_tokens=10,
    cached_tokens=50,
    cost=0.5,
    gpu_seconds=2.0,
    seconds=3.0,
    exact=True,
)
ONE = CallTotals(1, 0, 100, 10, 50, 0.5, 2.0, 3.0, 1)


def test_calls_are_summed_by_operator_model_and_purpose_and_by_step() -> None:
    """Steps may have any numbers."""
    called = Calls()
    called.begin(Asked(7, Propose(Selection("diff")), 0))
    called.add(Replied(7, 0, CALL))
    called.add(Replied(7, 1, CALL))
    called.add(Replied(10**12, 0, Call("beta", purpose="repair", error="refused")))
    assert list(called.totals()) == [
        ("diff", "alpha", "propose", CallTotals(2, 0, 200, 20, 100, 1.0, 4.0, 6.0, 2)),
        ("", "beta", "repair", CallTotals(calls=1, failed=1)),
    ]
    assert called.of_steps([7]) == CallTotals(2, 0, 200, 20, 100, 1.0, 4.0, 6.0, 2)
    assert called.of_steps([1]) == CallTotals()
    assert called.of_steps([7, 10**12, 3]) == CallTotals(3, 1, 200, 20, 100, 1.0, 4.0, 6.0, 2)


def test_a_call_that_was_given_up_has_not_failed() -> None:
    """It costs what the log says of it."""
    called = Calls()
    called.add(Replied(3, -1, CALL))
    assert called.of_steps([3]) == ONE


def test_failed_requests_are_counted_by_model_and_cause(tmp_path):
    """Live, and from the log."""
    written = Written(tmp_path)
    written.seed()
    retried = replace(GOOD, retries={"503": 2, "time was up": 1})
    with written.campaign as campaign:
        written.called(retried, replace(BAD, retries={"503": 5}), replace(retried, retries={"503": 1}))
        live, path = campaign.state.calls, str(campaign.log.path)
    assert live.retries == {"good": {"503": 3, "time was up": 1}, "bad": {"503": 5}}
    with Campaign.open(path, plugins.load(), tmp_path) as again:
        assert (again.state.calls.retries, again.state.calls.failed_requests) == (live.retries, 9)
