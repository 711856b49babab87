"""What calls have taken, while the log grows."""

from evolve.campaign.called import Called, Taken
from evolve.types import Asked, Call, Propose, Replied, Selection

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
ONE = Taken(1, 0, 100, 10, 50, 0.5, 2.0, 3.0, 1)


def test_calls_are_summed_by_operator_model_and_purpose_and_by_step() -> None:
    """Steps may have any numbers."""
    called = Called()
    called.asked(Asked(7, Propose(Selection("diff")), 0))
    called.add(Replied(7, 0, CALL))
    called.add(Replied(7, 1, CALL))
    called.add(Replied(10**12, 0, Call("beta", purpose="repair", error="refused")))
    assert list(called.sums()) == [
        ("diff", "alpha", "propose", Taken(2, 0, 200, 20, 100, 1.0, 4.0, 6.0, 2)),
        ("", "beta", "repair", Taken(calls=1, failed=1)),
    ]
    assert called.of_step(7) == Taken(2, 0, 200, 20, 100, 1.0, 4.0, 6.0, 2)
    assert called.of_step(1) == Taken()
    assert called.of_steps([7, 10**12, 3]) == Taken(3, 1, 200, 20, 100, 1.0, 4.0, 6.0, 2)


def test_a_call_that_was_given_up_has_not_failed() -> None:
    """It costs what the log says of it."""
    called = Called()
    called.add(Replied(3, -1, CALL))
    assert called.of_step(3) == ONE
