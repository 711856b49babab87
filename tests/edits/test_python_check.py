"""Python text that does not parse, and pieces of a file where the whole file is asked for."""

import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evolve.edits import EditFailed, find_syntax_error
from evolve.edits.python_check import refuse_part
from evolve.types import Program

OLD = Program({"seed.py": "x = 1\n", "broken.py": "x = (", "kernel.c": "int x;\n"})


def changed(**files: str) -> str:
    """What is said of a program that differs in these files."""
    return find_syntax_error(
        Program({**OLD.files, **{name.replace("_", "."): text for name, text in files.items()}}), OLD
    )


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
            told = find_syntax_error(Program({"seed.py": text}), Program({"seed.py": before}))
            assert (not told) == compiles(text)
            before = text


WHOLE = "import math\n\nRATE = 2\n\n\ndef step(x):\n    return math.sin(RATE * x)\n\n\ndef run(x):\n    return step(x)\n\n\ndef unused():\n    pass\n"


@pytest.mark.parametrize(
    ("new", "name"),
    [
        ("def step(x):\n    return x\n", "run"),
        ("def run(x):\n    return step(x)\n", "step"),
        ("def run(x):\n    return math.cos(x)\n", "math"),
        ("def run(x):\n    return RATE * x\n", "RATE"),
        ("print(run(3))\n", "run"),
    ],
)
def test_a_piece_lacks_what_it_uses_or_what_others_call(new: str, name: str) -> None:
    """The name is told."""
    with pytest.raises(EditFailed, match=rf"seed.py that was shown defines '{name}', and the new one (uses|does not)"):
        refuse_part(new, WHOLE, "seed.py")


@pytest.mark.parametrize(
    "new",
    [
        "def run(x):\n    return x\n",
        "from math import *\n\n\ndef run(x):\n    return RATE * x\n",
        "def run(RATE):\n    return [step for step in range(RATE)]\n",
        "run = abs\n",
        "def run(x:\n",
    ],
)
def test_a_text_that_does_without_the_rest_is_whole(new: str) -> None:
    """Functions that nobody called may go, and so may those that are not needed any more."""
    refuse_part(new, WHOLE, "seed.py")


def test_what_stays_around_a_block_may_be_used() -> None:
    """And other languages are not looked into."""
    refuse_part("def run(x):\n    return step(x)\n", WHOLE, "seed.py", around="def step(x):\n    return x\n")
    refuse_part("int step;", WHOLE, "seed.c")


def test_what_stays_around_a_block_needs_what_the_block_defines() -> None:
    """The name would be unknown there."""
    with pytest.raises(EditFailed, match="'step', and the new one does not"):
        refuse_part(
            "def run(x):\n    return x\n",
            "def step(x):\n    return x\n\n\ndef run(x):\n    return x\n",
            "seed.py",
            "step(1)\n",
        )


def test_how_a_file_is_used_is_no_file() -> None:
    """Though it binds the names that others call."""
    with pytest.raises(EditFailed, match=r"imports lib/seed.py itself"):
        refuse_part("from seed import run\nprint(run(1))\n", WHOLE, "lib/seed.py")
