"""Why a changed file does not parse."""

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
