"""Why a changed file does not parse."""

import warnings

from hypothesis import example, given, settings
from hypothesis import strategies as st

from evolve.edits import unparsable
from evolve.types import Program

OLD = Program({"seed.py": "x = 1\n", "broken.py": "x = (", "kernel.c": "int x;\n"})


def changed(**files: str) -> str:
    """What is said of a program that differs in these files."""
    return unparsable(Program({**OLD.files, **{name.replace("_", "."): text for name, text in files.items()}}), OLD)


def test_the_line_is_quoted() -> None:
    """With the lines before it."""
    assert changed(seed_py="a = 1\nb = 2\nx = (3\n") == (
        "seed.py does not parse, line 3: '(' was never closed. The last of these lines:\n| a = 1\n| b = 2\n| x = (3\nDo: write Python that parses"
    )


def test_what_parses_or_is_not_known_is_not_held_against_it() -> None:
    """A file that did not change is left alone, whatever it is."""
    assert changed(seed_py="x = '\\d'\n") == ""
    assert changed(kernel_c="int (") == ""
    assert changed() == ""


def test_what_no_parser_reads_is_one_line() -> None:
    """Null bytes, a `return` outside of a function, nesting beyond all measure."""
    assert changed(seed_py="x = '\0'").startswith("seed.py does not parse")
    assert changed(seed_py="return 1\n").startswith("seed.py does not parse, line 1: 'return' outside function")
    assert changed(seed_py="x = " + "(" * 5_000 + ")" * 5_000).startswith("seed.py does not parse")
    assert changed(seed_py="x = " + "-" * 200_000 + "1").startswith("seed.py does not parse")


PIECES = [
    "x = 1",
    "def f():",
    "    return 1",
    "@f",
    'y = """',
    '"""; z = 2',
    'z = """ + 3',
    "if x:",
    "    global x",
    "global x",
    "(",
    ")",
    "",
    "# a",
    "return 1",
    "else:",
    "x = 2\\",
    "a\rb",
    "\x0c",
]


def compiles(text: str) -> bool:
    """Whether Python takes it, be it with a warning, as of `2()`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "seed.py", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


@settings(deadline=None)
@example(["x = 2\\", "x = 1", "x = 1", "("], [(1, 2, []), (2, 0, [")"])])
@given(
    st.lists(st.sampled_from(PIECES), max_size=8),
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 3), st.lists(st.sampled_from(PIECES), max_size=3)), max_size=8
    ),
)
def test_what_is_said_of_each_of_many_changes_is_what_the_whole_text_says(
    lines: list[str], changes: list[tuple[int, int, list[str]]]
) -> None:
    """Though only the part that changed is parsed, each time from what was found before."""
    before = "\n".join(lines)
    for at, count, new in changes:
        lines = [*lines[:at], *new, *lines[at + count :]]
        text = "\n".join(lines)
        if text != before:
            told = unparsable(Program({"seed.py": text}), Program({"seed.py": before}))
            assert (not told) == compiles(text)
            before = text
