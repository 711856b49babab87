"""What calls cost, and what they cost at most."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.models.prices import ENOUGH, MESSAGE_TOKENS, TEMPLATE_TOKENS, Cost, ModelRates, Prices, sum_costs
from evolve.types import Message, Progress, Prompt, Reply, Section, Usage

RATES = ModelRates(prompt=2.0, cached=0.5, completion=10.0)
SERVER = ModelRates(gpus=2, gpu_hour=3.6, concurrency=8)


def prompt(text: str) -> Prompt:
    """One message."""
    return Prompt((Message("user", (Section("task", text),)),))


def test_tokens_are_charged_by_their_kind() -> None:
    """Dollars per million: 600 fresh, 400 cached, 100 of the answer."""
    found = Prices(RATES).cost(Usage(1000, 100, 400, exact=True), 3.0)
    assert found == Cost(1, 1100, pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6), 0.0)


def test_calls_share_a_server_of_ones_own() -> None:
    """Eight calls at a time on two GPUs: a quarter of a GPU for 20 seconds."""
    assert Prices(SERVER).cost(Usage(10, 5), 20.0) == Cost(1, 15, pytest.approx(5 * 3.6 / 3600), 5.0)


def test_as_many_calls_as_run_at_a_time_cost_what_the_server_costs() -> None:
    found = [Prices(SERVER).cost(Usage(), 60.0) for _ in range(8)]
    assert sum(cost.gpu_seconds for cost in found) == 2 * 60.0


def test_without_rates_a_call_costs_its_tokens_alone() -> None:
    assert Prices(ModelRates()).cost(Usage(7, 3), 9.0) == Cost(1, 10)


def test_more_cached_tokens_than_there_are_count_as_all() -> None:
    assert Prices(RATES).cost(Usage(100, 0, 999), 0.0).money == pytest.approx(100 * 0.5 / 1e6)


def test_the_worst_case_begins_with_a_token_for_each_byte() -> None:
    found = Prices(RATES).worst(3000, 2, 500, 0.0)
    prompt_tokens = 3000 + 2 * MESSAGE_TOKENS + TEMPLATE_TOKENS
    assert found == Cost(1, prompt_tokens + 500, pytest.approx((prompt_tokens * 2 + 500 * 10) / 1e6))


def test_each_answer_to_one_request_is_a_call() -> None:
    """At most, the prompt is charged for each, for not every model shares it."""
    one, three = (Prices(SERVER).worst(3000, 2, 500, 60.0, samples) for samples in (1, 3))
    assert three == one.times(3)
    assert three.calls == 3


def test_the_worst_case_learns_from_exact_answers() -> None:
    """The densest prompt seen, and a quarter more; four are too few."""
    prices, asked = Prices(RATES), prompt("x" * 1000)
    for tokens in (300, 400, 200, 100):
        prices.learn(asked, Reply("", usage=Usage(tokens, 9, exact=True)))
    assert prices.tokens_per_byte == 1.0
    prices.learn(asked, Reply("", usage=Usage(50, 9, exact=True)))
    assert prices.tokens_per_byte == 0.5


@pytest.mark.parametrize(
    "reply",
    [
        Reply("", usage=Usage(10, 1, exact=False)),
        Reply("", usage=Usage(10, 1, exact=True), attempts=2),
        Reply("", usage=Usage(0, 1, exact=True)),
    ],
    ids=["estimated", "tried twice", "another sample of the same request"],
)
def test_other_answers_tell_nothing(reply: Reply) -> None:
    prices = Prices(RATES)
    for _ in range(2 * ENOUGH):
        prices.learn(prompt("x" * 100), reply)
    assert prices.tokens_per_byte == 1.0


@pytest.mark.parametrize(("tokens", "bound"), [(990, 1.0), (10, 0.25)])
def test_what_is_learned_stays_between_an_estimates_tokens_and_one_per_byte(tokens: int, bound: float) -> None:
    prices = Prices(RATES)
    for _ in range(ENOUGH):
        prices.learn(prompt("x" * 1000), Reply("", usage=Usage(tokens, 9, exact=True)))
    assert prices.tokens_per_byte == bound


def test_a_cached_token_that_costs_more_is_the_worst_case() -> None:
    assert Prices(ModelRates(prompt=1.0, cached=3.0)).worst(0, 0, 0, 0.0).money == pytest.approx(
        TEMPLATE_TOKENS * 3 / 1e6
    )


@given(
    st.lists(st.tuples(st.integers(1, 50_000), st.floats(0.05, 1.0)), max_size=12),
    st.integers(0, 50_000),
    st.floats(0, 1),
    st.integers(0, 4000),
    st.floats(0, 1),
    st.sampled_from([RATES, SERVER, ModelRates(1.0, 2.0, 3.0, 1, 2.0, 4)]),
)
def test_no_call_costs_more_than_its_worst_case(
    seen: list[tuple[int, float]], size: int, share: float, answer: int, cached: float, rates: ModelRates
) -> None:
    """Whatever was seen before, as long as a byte makes no more tokens than then, and the bounds of the call are kept."""
    prices = Prices(rates)
    for length, density in seen:
        prices.learn(prompt("x" * length), Reply("", usage=Usage(max(1, int(length * density)), 1, exact=True)))
    tokens = int(size * prices.tokens_per_byte * share)
    actual = prices.cost(Usage(tokens, answer, int(tokens * cached)), 30.0)
    worst = prices.worst(size, 1, 4000, 60.0)
    assert actual.tokens <= worst.tokens
    assert actual.money <= worst.money
    assert actual.gpu_seconds <= worst.gpu_seconds


@pytest.mark.parametrize(("attempts", "tokens", "exact"), [(1, 146, True), (1, 147, False), (2, 292, True)])
def test_a_count_of_more_tokens_than_bytes_is_not_believed(attempts: int, tokens: int, exact: bool) -> None:
    """Beside what a server may add, in each attempt."""
    asked = prompt("ten bytes!")
    assert asked.size + TEMPLATE_TOKENS + MESSAGE_TOKENS == 146
    reply = Reply("x", usage=Usage(tokens, 1, exact=True), attempts=attempts)
    assert Prices(RATES).check_usage(asked, reply).usage == Usage(tokens, 1, exact=exact)


# Money in binary fractions, so that sums are exact.
costs = st.builds(
    Cost,
    st.integers(0, 100),
    st.integers(0, 10**6),
    st.integers(0, 1 << 20).map(lambda number: number / 1024),
    st.integers(0, 1 << 20).map(lambda number: number / 16),
)


@given(st.lists(costs, max_size=8))
def test_a_total_is_one_cost_after_another(drawn: list[Cost]) -> None:
    found = Cost()
    for cost in drawn:
        found = found.plus(cost)
    assert sum_costs(drawn) == found


@given(costs, st.integers(0, 9))
def test_so_many_of_a_cost_are_their_sum(cost: Cost, count: int) -> None:
    assert cost.times(count) == sum_costs([cost] * count)


def test_what_is_spent_grows_by_a_cost_and_by_nothing_else() -> None:
    before = Progress(programs=3, seconds=5.0, calls=1, tokens=10, money=0.5, gpu_seconds=2.0)
    after = Progress(programs=3, seconds=5.0, calls=3, tokens=40, money=0.75, gpu_seconds=2.5)
    assert Cost(2, 30, 0.25, 0.5).after(before) == after
