"""Which process groups are left when the engine has ended."""

from hypothesis import given
from hypothesis import strategies as st

from evolve.models.guardian import left

GROUPS = st.integers(1, 5)


@given(st.lists(st.tuples(st.sampled_from("+-"), GROUPS)))
def test_the_groups_that_are_left_had_begun_last(told: list[tuple[str, int]]):
    last = {group: sign for sign, group in told}
    expected = {group for group, sign in last.items() if sign == "+"}
    assert expected == left(f"{sign}{group}\n".encode() for sign, group in told)


def test_half_a_line_tells_nothing():
    assert left([b"+12\n", b"+345"]) == {12}
    assert left([b"+12\n", b"-12"]) == {12}
