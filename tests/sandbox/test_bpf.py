"""What is assembled answers as what was asked for, whatever the number and the arguments."""

import errno

from hypothesis import given
from hypothesis import strategies as st

from evolve.sandbox.walls.bpf import ALL_BITS, ALLOW, KILL, SUCCEED, Verdict, When, assemble, fail
from tests.interpreted import answer

MACHINE, OTHER, END = 0xC000003E, 0x40000003, 0x40000000
DENY = fail(errno.EPERM)
PLAIN = st.sampled_from([ALLOW, DENY, SUCCEED, fail(errno.ENOSYS)])
SMALL = st.integers(0, 7)


def _questions(inner: st.SearchStrategy[Verdict]) -> st.SearchStrategy[Verdict]:
    values = st.lists(SMALL, min_size=1, max_size=4, unique=True).map(tuple)
    return st.builds(When, st.integers(0, 5), values, inner, inner, mask=st.sampled_from([ALL_BITS, 1, 3, 6]))


VERDICTS = st.recursive(PLAIN, _questions, max_leaves=6)


def meant(verdict: Verdict, arguments: list[int]) -> int:
    """The answer, from the question itself."""
    while isinstance(verdict, When):
        found = arguments[verdict.argument] & verdict.mask & ALL_BITS in verdict.values
        verdict = verdict.then if found else verdict.otherwise
    return verdict


@given(
    st.dictionaries(st.integers(0, 400), VERDICTS, min_size=1, max_size=60),
    st.integers(0, 500),
    st.lists(SMALL | st.integers(0, 2**64 - 1), min_size=6, max_size=6),
)
def test_the_program_answers_as_its_verdicts_say(table: dict[int, Verdict], number: int, arguments: list[int]) -> None:
    program = assemble(MACHINE, table, SUCCEED, END)
    assert answer(program, MACHINE, number, arguments)[0] == meant(table.get(number, SUCCEED), arguments)


@given(st.integers(END, 2**32 - 1))
def test_numbers_from_the_end_on_kill(number: int) -> None:
    assert answer(assemble(MACHINE, {0: ALLOW}, DENY, END), MACHINE, number)[0] == KILL


@given(st.integers(0, 2**32 - 1).filter(lambda machine: machine != MACHINE), st.integers(0, 2**32 - 1))
def test_other_machines_kill(machine: int, number: int) -> None:
    assert answer(assemble(MACHINE, {0: ALLOW}, DENY, END), machine, number)[0] == KILL


def test_a_large_table_is_searched_by_halves() -> None:
    """Jumps farther than a conditional one goes are made in two steps."""
    table: dict[int, Verdict] = {number: ALLOW if number % 2 else DENY for number in range(1000)}
    program = assemble(MACHINE, table, DENY, END)
    found = [answer(program, MACHINE, number) for number in range(1000)]
    assert [value for value, _ in found] == [table[number] for number in range(1000)]
    assert max(steps for _, steps in found) <= 20


def test_high_halves_of_arguments_do_not_count() -> None:
    program = assemble(MACHINE, {0: When(1, (5,), DENY, ALLOW)}, DENY, END)
    assert [answer(program, MACHINE, 0, [0, value])[0] for value in (5, 5 + 2**32, 6)] == [DENY, DENY, ALLOW]
