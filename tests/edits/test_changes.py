"""What a program may differ in from its task's seed."""

import dataclasses
import sys
from fnmatch import fnmatchcase

import pytest

from evolve.edits.changes import find_syntax_error, matches, refusal
from evolve.types import EvaluatorSource, Program, Task

MARKED = "import math\n# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\ny = 2\n"


def task(**values: object) -> Task:
    """A task with a header and a table beside its two files; it allows new modules in `lib`."""
    seed = Program({"seed.py": "x = 1\n", "src/fast.c": "int x;\n"})
    made = Task("t", "", "1", "", seed, "seed", EvaluatorSource("evaluator.py"))
    context = {"fast.h": "int x;\n", "table.py": "T = 1\n", "data/a.txt": "1\n"}
    return dataclasses.replace(made, context=context, new_files=("lib/*.py", "**/*.h", "*.txt"), **values)


def changed(**files: str) -> Program:
    """The seed with files changed or added, `__` for `/` and `_` for `.`."""
    named = {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
    return Program({**task().seed.files, **named})


@pytest.mark.parametrize(
    "program", [changed(), changed(seed_py="", src__fast_c="y"), changed(lib__new_py="z", n_txt="")]
)
def test_without_a_block_all_files_may_change_and_new_ones_may_be_added(program: Program) -> None:
    """Where their paths match."""
    assert refusal(task(), program) == ""


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("new.py", "it adds a file 'new.py', and the task allows one that matches lib/*.py or **/*.h or *.txt"),
        ("lib/deep/new.py", "it adds a file 'lib/deep/new.py', and the task allows one that"),
        ("../new.h", "it has a file '../new.h', which is no path inside the program's folder"),
        ("/etc/new.h", "which is no path inside the program's folder"),
        ("lib//new.py", "which is no path inside the program's folder"),
        ("lib/./new.py", "which is no path inside the program's folder"),
        ("lib\\new.py", "which is no path inside the program's folder"),
        ("", "which is no path inside the program's folder"),
        ("fast.h", "its file 'fast.h' would stand before 'fast.h', a context file of the task"),
        ("FAST.H", "its file 'FAST.H' would stand before 'fast.h', a context file"),
        ("fast.h/x.h", "its file 'fast.h/x.h' would stand before 'fast.h', a context file"),
        ("data", "its file 'data' would stand before 'data/a.txt', a context file"),
        ("table/__init__.py", "its file 'table/__init__.py' would stand before 'table.py', a context file"),
        ("seed/__init__.py", "its file 'seed/__init__.py' would stand before 'seed.py', a file of the seed"),
    ],
)
def test_a_file_that_may_not_be_added(path: str, reason: str) -> None:
    """It is named, and so is what is wrong."""
    assert reason in refusal(task(), Program({**task().seed.files, path: "x = 1\n"}))


def test_a_task_without_patterns_allows_no_new_file() -> None:
    """It says so."""
    found = refusal(dataclasses.replace(task(), new_files=()), changed(lib__new_py=""))
    assert found == "it adds a file 'lib/new.py', and the task allows no new one"


def test_a_file_is_no_folder() -> None:
    """Both cannot be written."""
    program = Program({**task().seed.files, "lib/a.py": "", "lib/a.py/b.h": ""})
    assert refusal(task(), program) == "it has 'lib/a.py' both as a file and as a folder"


def test_every_file_of_the_seed_stays() -> None:
    """Whatever it holds."""
    assert refusal(task(), Program({"seed.py": ""})) == "it lacks 'src/fast.c', which is a file of the seed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MARKED.replace("x = 1", "import os\nx = 7\n"), ""),
        (MARKED.replace("y = 2", "y = 3"), "it changes 'seed.py' outside its EVOLVE blocks: 'y = 2' became 'y = 3'"),
        (MARKED.replace("import math\n", ""), "'import math' became '# EVOLVE-BLOCK-START'"),
        (f"{MARKED}z = 3\n", "outside its EVOLVE blocks: 'z = 3' was added"),
        (MARKED.replace("y = 2\n", ""), "outside its EVOLVE blocks: 'y = 2' is gone"),
        (MARKED[:-1], "outside its EVOLVE blocks: its line ends"),
        (MARKED.replace("START", "STOP"), "'seed.py' has 0 EVOLVE blocks, and in the seed 1: their markers must stay"),
        (MARKED.replace("x = 1", "# EVOLVE-BLOCK-END\n# EVOLVE-BLOCK-START"), "'seed.py' has 2 EVOLVE blocks"),
        (MARKED.replace("x = 1", 'x = """'), "it changes 'seed.py' outside its EVOLVE blocks"),
    ],
)
def test_only_what_is_in_a_block_may_change(text: str, reason: str) -> None:
    """Where there is one; the first difference is quoted."""
    seed = Program({"seed.py": MARKED, "other.py": "z = 1\n"})
    found = refusal(task(seed=seed), Program({**seed.files, "seed.py": text}))
    assert reason in found
    assert bool(reason) == bool(found)


def test_a_file_without_a_block_may_not_change_where_another_has_one() -> None:
    """A new one, whose path is allowed, is written freely."""
    marked = task(seed=Program({"seed.py": MARKED, "other.py": "z = 1\n"}))
    assert refusal(marked, Program({"seed.py": MARKED, "other.py": "z = 1\n", "lib/n.py": "z"})) == ""
    found = refusal(marked, Program({"seed.py": MARKED, "other.py": "z = 2\n"}))
    assert found == "it changes 'other.py', and only the EVOLVE blocks of 'seed.py' may change"


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a.py", "*.py", True),
        ("lib/a.py", "*.py", False),
        ("lib/a.py", "lib/*.py", True),
        ("lib/b/a.py", "lib/*.py", False),
        ("a.py", "**/*.py", True),
        ("lib/b/a.py", "**/*.py", True),
        ("lib/b/a.py", "lib/**", True),
        ("lib", "lib/**", False),
        ("lib/b/c/a.py", "lib/**/c/?.py", True),
        ("a1.py", "a[0-9].py", True),
        ("A.py", "a.py", False),
        ("lib", "**", True),
        ("lib/b/a.py", "**/**", True),
        ("lib/b/a.py", "**/**/a.py", True),
        ("a.py", "**/**/b.py", False),
        ("lib/a.py", "lib", False),
        ("lib", "lib/*", False),
        ("lib/b/lib/c/a.py", "**/lib/*/a.py", True),
    ],
)
def test_patterns_stay_within_a_folder(path: str, pattern: str, expected: bool) -> None:
    """Two stars are any number of folders."""
    assert matches(path, pattern) is expected


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("/".join("a" * 12), "/".join(["**"] * 10 + ["b"]), False),
        ("/".join("a" * 12), "/".join(["**/a"] * 10 + ["b"]), False),
        ("/".join("a" * 1000), "/".join("a" * 1000), True),
    ],
)
def test_no_pattern_takes_more_than_its_parts_for_each_part_of_the_path(
    path: str, pattern: str, expected: bool
) -> None:
    """However it is meant: calls are counted, those of libraries too."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    fnmatchcase("", pattern.split("/")[-1])
    sys.setprofile(count)
    try:
        found = matches(path, pattern)
    finally:
        sys.setprofile(None)
    assert found is expected
    assert calls <= 100 + 20 * (path.count("/") + 1) * (pattern.count("/") + 1)


OLD = Program({"seed.py": "x = 1\n", "broken.py": "x = (", "kernel.c": "int x;\n"})


def find_fault(**files: str) -> str:
    """Returns the fault of a program that differs in these files."""
    return find_syntax_error(
        Program({**OLD.files, **{name.replace("_", "."): text for name, text in files.items()}}), OLD
    )


def test_the_line_is_quoted() -> None:
    """With the lines before it."""
    assert find_fault(seed_py="a = 1\nb = 2\nx = (3\n") == (
        "seed.py does not parse, line 3: '(' was never closed. The last of these lines:\n| a = 1\n| b = 2\n| x = (3\nTry: write Python that parses"
    )


def test_what_parses_or_is_not_known_is_not_held_against_it() -> None:
    """A file that did not change is left alone, whatever it is."""
    assert find_fault(seed_py="x = '\\d'\n") == ""
    assert find_fault(kernel_c="int (") == ""
    assert find_fault() == ""


def test_what_no_parser_reads_is_one_line() -> None:
    """Null bytes, a `return` outside of a function, nesting beyond all measure."""
    assert find_fault(seed_py="x = '\0'").startswith("seed.py does not parse")
    assert find_fault(seed_py="return 1\n").startswith("seed.py does not parse, line 1: 'return' outside function")
    assert find_fault(seed_py="x = " + "(" * 5_000 + ")" * 5_000).startswith("seed.py does not parse")
    assert find_fault(seed_py="x = " + "-" * 200_000 + "1").startswith("seed.py does not parse")
