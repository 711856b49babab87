"""What `diff` writes is what `read` reads."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evolve.edits import diff, read
from evolve.types import EditError, Program

LINE = st.sampled_from(
    [
        "x = 1",
        "y = 2",
        "    z",
        "",
        " ",
        "\tt",
        "x = 1\r",
        "=======",
        "<<<<<<< SEARCH",
        ">>>>>>> REPLACE",
        "```",
        "seed.py",
        '"""',
        "&lt;",
    ]
) | st.text(alphabet="ab# .\"'\\\r\u00a0", max_size=6).filter(lambda line: "..." not in line and "…" not in line)
TEXT = st.lists(LINE, max_size=12).map("\n".join)
LINES = st.lists(LINE, max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))
CRLF = TEXT.map(lambda text: text.replace("\r", "").replace("\n", "\r\n"))


def again(old: Program, new: Program) -> list[Program]:
    """What comes of the difference when it is read."""
    return [candidate.program for candidate in read(diff(old, new), old)]


def with_blocks(fixed: tuple[str, str, str], first: str, second: str) -> Program:
    """A program of two blocks and a file that may not change."""
    start, end = "# EVOLVE-BLOCK-START\n", "# EVOLVE-BLOCK-END\n"
    text = fixed[0] + start + first + end + fixed[1] + start + second + end + fixed[2]
    return Program({"seed.py": text, "kept.py": "x = 1\n"})


@settings(max_examples=300, deadline=None)
@given(TEXT | CRLF, TEXT | CRLF)
def test_a_file_of_any_text(old: str, new: str) -> None:
    """Also without an end of the last line, and where the ends of lines change."""
    assume(old != new)
    before, after = Program({"seed.py": old}), Program({"seed.py": new})
    assert again(before, after) == [after]


FILES = st.dictionaries(st.sampled_from(["a.py", "b.py", "lib/c.c"]), TEXT, min_size=1)


@settings(max_examples=200, deadline=None)
@given(FILES, FILES)
def test_several_files(old: dict[str, str], new: dict[str, str]) -> None:
    """New ones are added where they may be."""
    before, after = Program(old), Program({**old, **new})
    assume(before != after)
    assert [found.program for found in read(diff(before, after), before, new_files=("**",))] == [after]


PLAIN = st.lists(st.sampled_from(["import a", "", "k = 1", "x = 1"]), max_size=4).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)
INSIDE = st.lists(st.sampled_from(["x = 1", "", "    y", "z\r", "=======", "k = 1"]), max_size=6).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@settings(max_examples=300, deadline=None)
@given(st.tuples(PLAIN, PLAIN, PLAIN), INSIDE, INSIDE, INSIDE, INSIDE)
def test_blocks(fixed: tuple[str, str, str], first: str, second: str, third: str, fourth: str) -> None:
    """A line of one block is never taken for one of another."""
    before, after = with_blocks(fixed, first, second), with_blocks(fixed, third, fourth)
    assume(before != after)
    assert again(before, after) == [after]


def test_a_difference_is_as_short_as_is_clear() -> None:
    """What a model would write."""
    old = Program({"seed.py": "a = 1\nb = 2\nc = 3\n"})
    new = Program({"seed.py": "a = 1\nb = 5\nc = 3\n"})
    assert diff(old, new) == "<<<<<<< SEARCH\nb = 2\n=======\nb = 5\n>>>>>>> REPLACE"


def test_equal_programs_have_no_difference() -> None:
    """And a file that is gone cannot be written as one."""
    old = Program({"a.py": "", "b.py": ""})
    assert diff(old, old) == ""
    with pytest.raises(EditError, match=r"no edit can take 'b.py' away"):
        diff(old, Program({"a.py": ""}))


def test_a_very_large_difference_is_one_edit() -> None:
    """Its lines are not compared with each other."""
    old, new = Program({"a.py": "x\ny\n" * 3_000}), Program({"a.py": "y\nz\n" * 3_000})
    assert again(old, new) == [new]
    assert diff(old, new).count("SEARCH") == 1
