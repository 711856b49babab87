"""Reservations: budgets are never overshot, whoever waits gets its turn, and what cannot be paid is told."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.models.ledger import Ledger
from evolve.models.prices import Cost
from evolve.stop import Budget, any_of, parse
from evolve.types import ModelError, Progress, Unaffordable
from tests.models.meanwhile import until

NEVER = threading.Event()


def budget(*texts: str) -> Budget:
    """The first one that is spent ends it."""
    return any_of(parse(text, 0.0) for text in texts)


def cost(tokens: int) -> Cost:
    """A call of so many tokens, a thousandth of a dollar each (in binary fractions) and as many GPU seconds."""
    return Cost(1, tokens, tokens / 1024, float(tokens))


def spend_all(ledger: Ledger, worst: Callable[[random.Random], int], honest: float = 1.0) -> list[int]:
    """64 threads that call until nothing can be paid any more; what each call has used. A call uses up to `honest` times its worst."""

    def call_on(number: int) -> list[int]:
        rng, used = random.Random(number), list[int]()
        while True:
            most = worst(rng)
            try:
                reservation = ledger.reserve(cost(most), NEVER)
            except Unaffordable:
                return used
            if rng.random() < 0.2:
                threading.Event().wait(0.0005)
            used.append(rng.randint(0, int(most * honest)))
            ledger.settle(reservation, cost(used[-1]))

    with ThreadPoolExecutor(64) as pool:
        return [tokens for found in pool.map(call_on, range(64)) for tokens in found]


@pytest.mark.parametrize(
    "limits",
    [
        budget("20000tokens"),
        budget("300calls"),
        budget("15usd"),
        budget("4gpuh"),
        budget("20000tokens", "300calls", "12usd", "10gpuh"),
        budget("20000tokens", "9usd"),
    ],
    ids=str,
)
def test_no_budget_is_overshot_with_64_calls_in_flight(limits: Budget) -> None:
    ledger = Ledger(limits, Progress())
    used = spend_all(ledger, lambda rng: rng.randint(1, 500))
    assert limits.affords(ledger.spent)
    assert (len(used), sum(used)) == (ledger.spent.calls, ledger.spent.tokens)
    assert ledger.reserved == Cost()
    assert not limits.affords(cost(500).after(ledger.spent))


def test_a_server_that_does_not_keep_to_the_bound_is_counted_honestly_and_ends_it() -> None:
    limits = budget("20000tokens")
    ledger = Ledger(limits, Progress())
    used = spend_all(ledger, lambda rng: rng.randint(100, 500), honest=4.0)
    assert ledger.spent.tokens == sum(used)
    assert ledger.spent.tokens > 20_000 - 500
    with pytest.raises(Unaffordable):
        ledger.reserve(cost(500), NEVER)


def test_what_was_spent_before_counts() -> None:
    ledger = Ledger(budget("1000tokens"), Progress(tokens=600, calls=7))
    with pytest.raises(Unaffordable):
        ledger.reserve(cost(401), NEVER)
    ledger.settle(ledger.reserve(cost(400), NEVER), cost(390))
    assert (ledger.spent.tokens, ledger.spent.calls) == (990, 8)


def test_without_a_budget_everything_is_paid() -> None:
    ledger = Ledger(any_of([]), Progress())
    reservations = [ledger.reserve(cost(10**9), NEVER) for _ in range(100)]
    assert ledger.reserved.calls == len(reservations)


@pytest.mark.parametrize(
    ("text", "worst", "words"),
    [
        ("1000tokens", cost(1200), "it may take 1,200 tokens (left: 1,000 tokens)"),
        ("0.5usd", Cost(1, 10, 0.75), "it may take 0.75 usd (left: 0.50 usd)"),
        ("1gpuh", Cost(1, 10, 0.0, 7200.0), "it may take 2.0 GPU hours (left: 1.0 GPU hours)"),
        ("1calls", Cost(2), "it may take 2 calls (left: 1 call)"),
    ],
)
def test_a_refusal_says_what_a_call_may_take_and_what_is_left(text: str, worst: Cost, words: str) -> None:
    with pytest.raises(Unaffordable) as caught:
        Ledger(budget(text), Progress()).reserve(worst, NEVER)
    assert words in str(caught.value)
    assert f"the budget {text} does not pay" in str(caught.value)
    assert "Try: " in str(caught.value)


def test_a_refusal_names_what_is_short_and_nothing_else() -> None:
    ledger = Ledger(budget("1000tokens", "5usd", "60s"), Progress())
    with pytest.raises(Unaffordable, match=r"it may take 9,000 tokens \(left: 1,000 tokens\)\. Try"):
        ledger.reserve(Cost(1, 9000, 0.1), NEVER)


def waiting(ledger: Ledger, worst: Cost, cancelled: threading.Event, done: list[str], name: str) -> threading.Thread:
    """A thread that waits for a reservation; `done` gets its name, or why there was none."""

    def reserve() -> None:
        try:
            ledger.reserve(worst, cancelled)
        except ModelError as error:
            done.append(f"{name}: {type(error).__name__}")
        else:
            done.append(name)

    thread = threading.Thread(target=reserve)
    thread.start()
    return thread


def test_a_call_waits_for_what_another_gives_back() -> None:
    ledger, done = Ledger(budget("1000tokens"), Progress()), list[str]()
    first = ledger.reserve(cost(800), NEVER)
    second = waiting(ledger, cost(500), NEVER, done, "second")
    second.join(0.02)
    assert done == []
    ledger.settle(first, cost(300))
    second.join()
    assert done == ["second"]


def test_a_call_that_waited_in_vain_is_refused() -> None:
    ledger, done = Ledger(budget("1000tokens"), Progress()), list[str]()
    first = ledger.reserve(cost(800), NEVER)
    second = waiting(ledger, cost(500), NEVER, done, "second")
    ledger.settle(first, cost(501))
    second.join()
    assert done == ["second: Unaffordable"]


@pytest.mark.integration
def test_a_large_call_is_not_passed_by_small_ones() -> None:
    """Else it might wait for ever."""
    ledger, done = Ledger(budget("1000tokens"), Progress()), list[str]()
    first = ledger.reserve(cost(800), NEVER)
    threads = [waiting(ledger, cost(600), NEVER, done, "large")]
    until(lambda: len(ledger._queue) == 1)
    threads += [waiting(ledger, cost(100), NEVER, done, "small")]
    until(lambda: len(ledger._queue) == 2)
    assert done == []
    ledger.settle(first, cost(400))
    until(lambda: bool(done))
    assert done == ["large"]
    ledger.settle(next(iter(ledger._in_flight)), cost(0))
    for thread in threads:
        thread.join()
    assert sorted(done) == ["large", "small"]


def test_a_call_that_waits_ends_with_the_run() -> None:
    ledger, done, cancelled = Ledger(budget("1000tokens"), Progress()), list[str](), threading.Event()
    first = ledger.reserve(cost(800), NEVER)
    second = waiting(ledger, cost(500), cancelled, done, "second")
    cancelled.set()
    second.join()
    assert done == ["second: ModelError"]
    assert ledger.reserved == cost(800)
    ledger.settle(first, cost(0))


def test_nothing_is_reserved_after_the_run_was_cancelled() -> None:
    cancelled = threading.Event()
    cancelled.set()
    ledger = Ledger(any_of([]), Progress())
    with pytest.raises(ModelError, match="before the call was sent"):
        ledger.reserve(cost(1), cancelled)
    assert ledger.reserved == Cost()


calls = st.lists(st.tuples(st.integers(0, 600), st.floats(0, 1), st.booleans()), max_size=30)


@given(calls, st.sampled_from([budget("2000tokens"), budget("2usd", "9calls"), budget("2usd", "1gpuh")]))
@settings(max_examples=100, deadline=None)
def test_whatever_is_called_in_whatever_order_spent_and_reserved_fit(
    drawn: list[tuple[int, float, bool]], limits: Budget
) -> None:
    """One thread: a call is settled now or later; one that would have to wait settles the oldest first."""
    ledger, open_calls = Ledger(limits, Progress()), []
    for worst, share, later in drawn:
        while open_calls and not limits.affords(ledger.reserved.plus(cost(worst)).after(ledger.spent)):
            reservation, used = open_calls.pop(0)
            ledger.settle(reservation, used)
        try:
            reservation = ledger.reserve(cost(worst), NEVER)
        except Unaffordable:
            assert not limits.affords(cost(worst).after(ledger.spent))
            continue
        open_calls.append((reservation, cost(int(worst * share))))
        assert limits.affords(ledger.reserved.after(ledger.spent))
        if not later:
            ledger.settle(*open_calls.pop())
    for reservation, used in open_calls:
        ledger.settle(reservation, used)
    assert limits.affords(ledger.spent)
    assert ledger.reserved == Cost()
