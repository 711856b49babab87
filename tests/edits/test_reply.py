"""From replies to candidates: the corpus of models' habits, and what holds for any reply."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.edits import EditedProgram, EditFailed, EditKind, read
from evolve.edits.blocks import outside
from evolve.edits.errors import LONGEST_MESSAGE
from evolve.edits.reply import read_info, read_label
from evolve.types import Program
from tests.edits.corpus import FOLDER, case

CASES = sorted(FOLDER.glob("*.txt"))

BEFORE = "import math\n\n# EVOLVE-BLOCK-START\n"
INSIDE = 'RATE = 0.1\n\n\ndef step(x):\n    """One step."""\n    return x - RATE * x\n'
AFTER = "# EVOLVE-BLOCK-END\n\n\ndef run(x):\n    return step(x) + math.pi\n"
PROGRAM = Program({"seed.py": BEFORE + INSIDE + AFTER, "fixed.py": "KEPT = 1\n"})


def outcome(
    reply: str, program: Program = PROGRAM, new_files: Sequence[str] = (), finish: str = ""
) -> tuple[tuple[EditedProgram, ...], EditFailed | None]:
    """The program of a reply, or why there is none."""
    try:
        return (read(reply, program, new_files=new_files, finish=finish),), None
    except EditFailed as failure:
        return (), failure


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_reply_becomes_what_was_meant_or_says_why_not(path: Path) -> None:
    """Each file has the habit of some model."""
    told = case(path)
    found, failure = outcome(told.reply, told.program, told.new_files, told.finish)
    assert (failure.kind.value if failure else "") == told.kind, failure
    assert tuple(candidate.program for candidate in found) == told.expected
    assert told.thought in (None, *(candidate.thought for candidate in found[:1]))


def test_there_are_many_habits() -> None:
    """Sixty at the least, and every kind of failure but that of size is among them."""
    assert len(CASES) >= 60
    kinds = {case(path).kind for path in CASES} - {""}
    assert kinds == set(EditKind) - {EditKind.TOO_LARGE}


def test_a_failure_shows_what_is_there() -> None:
    """The message goes back to the model as it is."""
    with pytest.raises(EditFailed) as failed:
        read("<<<<<<< SEARCH\nRATE = 0.2\n=======\nRATE = 0.3\n>>>>>>> REPLACE", PROGRAM)
    assert str(failed.value) == (
        "The SEARCH text of edit 1 is not in seed.py:\n"
        "| RATE = 0.2\n"
        "The nearest is line 4 of seed.py:\n"
        "| RATE = 0.1\n"
        "Try: copy the lines as they stand, each one in full"
    )


def test_nothing_is_applied_where_one_edit_fails() -> None:
    """And the others that fail are named."""
    edit = "<<<<<<< SEARCH\n{}\n=======\nx = 1\n>>>>>>> REPLACE\n"
    with pytest.raises(EditFailed, match=r"of edit 2 is not in (.|\n)*either: edit 3 \(outside\)"):
        read(edit.format("RATE = 0.1") + edit.format("no such line at all") + edit.format("import math"), PROGRAM)


# --- what holds for any reply

PIECES = [
    *(BEFORE + INSIDE + AFTER).splitlines(),
    *(
        "<<<<<<< SEARCH",
        "=======",
        ">>>>>>> REPLACE",
        "<<<<<<<<< SEARCH",
        "<<<<<<< ORIGINAL",
        "======",
        ">>>>> UPDATED",
    ),
    *(
        "```",
        "```python",
        "```python seed.py",
        "~~~",
        "````",
        "```diff",
        "    ```",
        "### File: fixed.py",
        "**seed.py**",
        "seed.py",
    ),
    *(
        "--- a/seed.py",
        "+++ b/seed.py",
        "@@ -1,2 +1,2 @@",
        "-RATE = 0.1",
        "+RATE = 0.3",
        " RATE = 0.1",
        "*** Begin Patch",
    ),
    *(
        "*** Update File: fixed.py",
        "*** End Patch",
        "KEPT = 1",
        "KEPT = 2",
        "RATE = 0.3",
        "# RATE = 0.3",
        "    RATE = 0.1",
    ),
    *(
        "## Candidate 1",
        "## Candidate 2: b",
        "<think>",
        "</think>",
        "",
        " ",
        "\r",
        "...",
        '"""',
        "'''",
        "x = '",
        "\u00a0x = 1",
    ),
    *(
        "# EVOLVE-BLOCK-END # again",
        "x = 1  # EVOLVE-BLOCK-START",
        "1 | RATE = 0.1",
        "\\ No newline at end of file",
        "import os",
    ),
]
SPANS = st.sampled_from(range(len(INSIDE.splitlines()))).flatmap(
    lambda start: st.integers(start + 1, len(INSIDE.splitlines())).map(
        lambda end: "\n".join(INSIDE.splitlines()[start:end])
    )
)
EDITS = st.builds(
    "<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE".format,
    SPANS | st.sampled_from(PIECES),
    st.lists(st.sampled_from(PIECES), max_size=4).map("\n".join),
)
WHOLE = st.lists(st.sampled_from(PIECES), max_size=6).map(
    lambda new: f"```python seed.py\n{BEFORE}" + "\n".join(new) + f"\n{AFTER}```"
)
REPLIES = st.lists(EDITS | WHOLE | st.sampled_from(PIECES), max_size=14).map("\n".join)


@settings(max_examples=400, deadline=None)
@given(REPLIES, st.sampled_from(["", "stop", "length"]))
def test_what_is_outside_the_blocks_stays(reply: str, finish: str) -> None:
    """Whatever the reply is: a candidate differs, in a block alone, or there is a failure that is short enough to be sent back."""
    found, failure = outcome(reply, finish=finish)
    assert (failure is None) == bool(found)
    assert len(str(failure)) <= LONGEST_MESSAGE
    for candidate in found:
        assert candidate.program != PROGRAM
        assert candidate.program.files["fixed.py"] == "KEPT = 1\n"
        assert set(candidate.program.files) == {"seed.py", "fixed.py"}
        assert outside(candidate.program.files["seed.py"], "seed.py") == (BEFORE, AFTER)
        assert len(candidate.thought) <= 500


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>=`~+-@ \n\r\taSEARCH&;|1", max_size=300))
def test_any_text_is_read_or_refused(reply: str) -> None:
    """And nothing else is raised."""
    found, failure = outcome(reply)
    assert (failure is None) == bool(found)


EDIT = "<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n"
HOSTILE = {
    "edits": (EDIT.format("a", "b") * 20_000, EditKind.TOO_LARGE),
    "openings": ("<<<<<<< SEARCH\n" * 100_000, EditKind.UNPARSABLE),
    "openings of all lengths": ("".join("<" * (5 + n % 16) + " SEARCH\n" for n in range(50_000)), EditKind.UNPARSABLE),
    "dividers": ("<<<<<<< SEARCH\n" + "=======\n" * 100_000 + ">>>>>>> REPLACE", EditKind.UNPARSABLE),
    "closings": (">>>>>>> REPLACE\n" * 100_000, EditKind.NO_EDIT),
    "fences": ("```\n" * 100_000, EditKind.NO_EDIT),
    "fences that never end": ("```python\n" * 100_000, EditKind.TOO_LARGE),
    "fences in strings": ('```\n"""\n' * 50_000, EditKind.OUTSIDE),
    "hunks": ("--- a\n+++ b\n" + "@@\n-a\n+b\n" * 50_000, EditKind.NO_EDIT),
    "candidates": ("## Candidate 1\n" * 50_000, EditKind.NO_EDIT),
    "one long line": ("(" * 2_000_000, EditKind.NO_EDIT),
    "blanks": (" " * 2_000_000, EditKind.NO_EDIT),
    "thoughts": ("<think>" * 200_000, EditKind.NO_EDIT),
    "a large program": ("```python seed.py\n" + BEFORE + "x = 1\n" * 300_000 + AFTER + "```", EditKind.TOO_LARGE),
    "a periodic search": (EDIT.format("    x = 1\n" * 20_000, "y"), EditKind.NOT_FOUND),
    "quotes that are escaped": (
        EDIT.format("RATE = 0.1", "RATE = 0.1\n" + '\\"' * 100_000 + "\n'''"),
        EditKind.OUTSIDE,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_reply_is_refused(name: str) -> None:
    """Were the work more than linear in its size, this would not end."""
    reply, expected = HOSTILE[name]
    _, failure = outcome(reply)
    assert failure is not None
    assert failure.kind == expected


def test_a_file_without_blocks_gets_none() -> None:
    """A model that repeats the markers of its instructions does not thereby close the rest of the file."""
    found = read("```python\n# EVOLVE-BLOCK-START\nx = 2\n# EVOLVE-BLOCK-END\n```", Program({"seed.py": "x = 1\n"}))
    assert found.program.files == {"seed.py": "x = 2\n"}


def test_a_block_may_share_its_line() -> None:
    """The whole line is searched; what is outside in it is repeated."""
    line = "int /* EVOLVE-BLOCK-START */ x = 3 /* EVOLVE-BLOCK-END */ ;"
    program = Program({"a.c": f"int y;\n{line}\n"})
    found = read(EDIT.format(line, line.replace("3", "4")), program)
    assert found.program.files == {"a.c": f"int y;\n{line.replace('3', '4')}\n"}
    _, failure = outcome(EDIT.format(line, line.replace("int", "long")), program)
    assert failure is not None
    assert failure.kind == EditKind.OUTSIDE


FUNCTIONS = Program({"seed.py": "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x * 2\n"})
BETTER = "def f(x):\n    return x + 5\n\n\ndef g(x):\n    return x * 2\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"The idea:\n\n```python\nx = 3\n```\n\nThe full seed.py:\n\n```python\n{BETTER}```",
        f"The idea:\n\n```python\nx = 3\n```\n\nNow all of it:\n\n```python seed.py\n{BETTER}```",
    ],
)
def test_a_piece_that_is_shown_beside_the_one_file_is_an_illustration(reply: str) -> None:
    """The file is the text with the path, else the longest."""
    assert read(reply, FUNCTIONS).program.files["seed.py"] == BETTER


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (EDIT.format("RATE = 0.1", "RATE = 1") + "```python fixed.py\nx = 1\n```", EditKind.CONFLICT, "use one form"),
        ("```seed.py\nx = 1\n```\n```seed.py\nx = 2\n```", EditKind.CONFLICT, "twice"),
        ("```diff\n-RATE = 0.1\n+RATE = 1\n```", EditKind.UNPARSABLE, "is a diff"),
        ("```\nx = 1\n```", EditKind.UNKNOWN_FILE, "for which file"),
        ("```c\nx = 1;\n```", EditKind.NO_EDIT, "no edit and no program"),
    ],
)
def test_a_reply_in_no_single_form_is_refused(reply: str, kind: EditKind, words: str) -> None:
    """With the remedy, which goes back to the model."""
    program = FUNCTIONS if kind == EditKind.CONFLICT and "twice" in words else Program({**PROGRAM.files})
    if kind == EditKind.UNKNOWN_FILE:
        program = Program({"a.py": "x = 0\n", "b.py": "y = 0\n"})
    _, failure = outcome(reply, program)
    assert failure is not None
    assert failure.kind == kind
    assert words in str(failure)


def test_a_line_with_a_path_names_the_next_fence_alone() -> None:
    """What one prints may follow."""
    reply = f"seed.py\n```python\n{BETTER}```\n\n```\n6\n```\n"
    assert read(reply, FUNCTIONS).program.files["seed.py"] == BETTER


@pytest.mark.parametrize(("line", "kind"), [("KEPT = 1", EditKind.NO_OP), ("KEPT = 2", EditKind.OUTSIDE)])
def test_a_file_without_a_block_beside_one_with_a_block_stays(line: str, kind: EditKind) -> None:
    """It may be shown as it is."""
    _, failure = outcome(f"```fixed.py\n{line}\n```")
    assert failure is not None
    assert failure.kind == kind


def test_equal_lines_at_two_depths_keep_theirs() -> None:
    """Where the whole edit is further out than the file."""
    text = "def f():\n    if x:\n        y = 1\n    y = 1\n    return y\n"
    edit = EDIT.format("if x:\n    y = 1\ny = 1\nreturn y", "if x:\n    y = 1\ny = 1\nreturn y + 1")
    assert read(edit, Program({"a.py": text})).program.files["a.py"] == text.replace("return y", "return y + 1")


def test_one_line_that_may_change_is_told_in_the_singular() -> None:
    """Not as "lines 4 to 4"."""
    program = Program({"seed.py": "import math\n\n# EVOLVE-BLOCK-START\nRATE = 0.1\n# EVOLVE-BLOCK-END\n"})
    _, failure = outcome("<<<<<<< SEARCH\nnothing like it at all\n=======\nx\n>>>>>>> REPLACE", program)
    assert failure is not None
    assert str(failure).endswith("Try: edit line 4 of seed.py")


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
