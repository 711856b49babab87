"""The numbers of equal calls."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from evolve.campaign.samples import Samples


def first(samples: Samples, request: str = "a", count: int = 4) -> list[int]:
    """The first numbers that are free."""
    return list(islice(samples.free(request), count))


def test_numbers_go_on_where_the_log_ends() -> None:
    """Each prompt has its own."""
    samples = Samples()
    samples.called("a", 0)
    samples.called("a", 1)
    assert (first(samples), first(samples, "b")) == ([2, 3, 4, 5], [0, 1, 2, 3])


def test_a_number_whose_call_never_came_is_free_again() -> None:
    """Its run ended first; what was answered to it meanwhile is found under the same number."""
    samples = Samples()
    samples.called("a", 3)
    samples.called("a", 1)
    assert first(samples) == [0, 2, 4, 5]


@given(st.lists(st.integers(0, 12)))
def test_free_are_those_that_were_not_called(numbers: list[int]) -> None:
    """In whatever order the calls came, and how often."""
    samples = Samples()
    for number in numbers:
        samples.called("a", number)
    assert first(samples, count=15) == [number for number in range(30) if number not in numbers][:15]
