"""What a step changed."""

from hypothesis import given
from hypothesis import strategies as st

from evolve.prompts.program_diff import compare_programs, index_lines, mask_numbers
from evolve.types import Program

programs = st.dictionaries(
    st.sampled_from(["a.py", "b.py"]),
    st.lists(st.sampled_from(["", "x = 1", "total += weights[i]", "return total"])),
    min_size=1,
).map(lambda files: Program({path: "\n".join(lines) for path, lines in files.items()}))


def program(*lines: str, path: str = "a.py") -> Program:
    """One file."""
    return Program({path: "\n".join(lines)})


def test_a_small_change_is_shown_whole() -> None:
    """With a line around it, and what it took out that says something."""
    found = compare_programs(program("one", "two_is_longer = 2", "three"), program("one", "2", "three"))
    assert (found.diff, found.summary, found.taken) == (
        "@@\n one\n-two_is_longer = 2\n+2\n three",
        "lines: 1 taken out, 1 put in",
        ("two_is_longer = 2",),
    )


def test_a_large_change_is_counted() -> None:
    """Whole or not at all."""
    found = compare_programs(program(*(f"old {n}" for n in range(30))), program(*(f"new {n}" for n in range(31))))
    assert (found.diff, found.summary) == ("", "lines: 30 taken out, 31 put in")


def test_a_huge_change_takes_no_time() -> None:
    """Lines that all are alike are what comparing takes longest for."""
    found = compare_programs(program(*(["x"] * 20_000)), program(*(["y", "x"] * 10_000)))
    assert found.summary == "lines: 10000 taken out, 10000 put in"


def test_files_are_named_where_there_are_several() -> None:
    """A new one, too."""
    found = compare_programs(program("1"), Program({"a.py": "1", "b c.py": "2"}))
    assert found.diff == '@ "b c.py"\n@@\n+2'


def test_another_number_takes_no_line_out() -> None:
    """Tuning is no deletion."""
    assert mask_numbers("x = foo(1.5e-3, y2) - 12") == "x = foo(0, y2) - 0"
    assert compare_programs(program("step = 0.125 / rounds"), program("step = 12 / rounds")).taken == ()


def test_comments_and_short_lines_tell_nothing() -> None:
    """They come and go."""
    assert index_lines(program("# a comment that is long", "else:", '"""A docstring."""', "return order[::-1]")) == {
        "return order[::0]": "return order[::-1]"
    }


@given(programs, programs)
def test_what_is_taken_out_is_gone(old: Program, new: Program) -> None:
    """And was there before."""
    taken = compare_programs(old, new).taken
    assert set(map(mask_numbers, taken)) == set(index_lines(old)) - set(index_lines(new))
