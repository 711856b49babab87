"""Which file is meant."""

import pytest

from evolve.edits import EditFailed, EditKind
from evolve.edits.apply import resolve_path
from evolve.edits.reply import read_info, read_label


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ("python seed.py", ("python", "seed.py")),
        ("python:lib/seed.py", ("python", "lib/seed.py")),
        ("seed.py", ("", "seed.py")),
        ('python title="lib/seed.py"', ("python", "lib/seed.py")),
        ("c++", ("c++", "")),
        ("python 3.11", ("python", "")),
        ("", ("", "")),
    ],
)
def test_the_info_string_of_a_fence(info: str, expected: tuple[str, str]) -> None:
    """A language, a path, or both."""
    assert read_info(info) == expected


@pytest.mark.parametrize(
    "line",
    [
        "seed.py",
        "`seed.py`",
        "**seed.py**",
        "### File: seed.py",
        "File: `./seed.py`:",
        "1. **seed.py** (lines 3-8)",
        "=== seed.py ===",
    ],
)
def test_a_line_that_is_a_path(line: str) -> None:
    """With decoration, and nothing else to say."""
    assert read_label(line) == "seed.py"


@pytest.mark.parametrize("line", ["I change seed.py and run it", "e.g. this", "Version 1.2", "", "seed", "a.py b.py"])
def test_words_are_no_path(line: str) -> None:
    """Nor are two paths one."""
    assert read_label(line) == ""


def test_a_folder_too_many_is_forgiven_where_it_is_certain() -> None:
    """Otherwise the files that there are, are told."""
    assert resolve_path("b/src/seed.py", ["seed.py", "x.py"], ()) == "seed.py"
    assert resolve_path("seed.py", ["lib/seed.py"], ()) == "lib/seed.py"
    with pytest.raises(EditFailed, match=r"The program has a/f.py, b/f.py, and no new ones. Try: name one") as failed:
        resolve_path("f.py", ["a/f.py", "b/f.py"], ())
    assert failed.value.kind == EditKind.UNKNOWN_FILE


@pytest.mark.parametrize("path", ["../seed.py", "sub/../seed.py", "a/../../seed.py", "../new.py"])
def test_a_path_that_climbs_is_no_file_of_a_program(path: str) -> None:
    """Where it ends up is not asked."""
    with pytest.raises(EditFailed) as failed:
        resolve_path(path, ["seed.py"], ("*.py", "**/*.py"))
    assert failed.value.kind == EditKind.UNKNOWN_FILE
