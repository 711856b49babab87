"""Costs as values."""

from hypothesis import given
from hypothesis import strategies as st

from evolve.models.cost import Cost, total
from evolve.types import Progress

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
    assert total(drawn) == found


@given(costs, st.integers(0, 9))
def test_so_many_of_a_cost_are_their_sum(cost: Cost, count: int) -> None:
    assert cost.times(count) == total([cost] * count)


def test_what_is_spent_grows_by_a_cost_and_by_nothing_else() -> None:
    before = Progress(programs=3, seconds=5.0, calls=1, tokens=10, money=0.5, gpu_seconds=2.0)
    after = Progress(programs=3, seconds=5.0, calls=3, tokens=40, money=0.75, gpu_seconds=2.5)
    assert Cost(2, 30, 0.25, 0.5).after(before) == after
