"""Facts about tasks in one file."""

from pathlib import Path

import pytest

from evolve.evaluation.provenance import check_version
from evolve.task import find, load, name_of
from evolve.task.folders import list_own
from evolve.task.one_file import program_of
from evolve.types import EvaluatorSource, Program, TaskError

TEXT = '''"""Find the number.

It is between EVOLVE-BLOCK-START and 9.
"""

# /// evolve
# deterministic = true
#
# [fitness]
# name = "nearness"
# digits = 3
# [parameters]
# goal = 7.0
# ///

import math

from evolve import Candidate, Evaluation, Trial, evaluator

HELP = 2.0  # not between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END


# EVOLVE-BLOCK-START
from math import sqrt

LIMIT = 9.0


def value():
    global made
    made = sqrt(LIMIT)
    return made


# EVOLVE-BLOCK-END


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(-math.fabs(candidate.call("value") - trial.parameters.goal))


# EVOLVE-BLOCK-START
def helper():
    return [value() for _ in range(2)]
# EVOLVE-BLOCK-END
'''
SEED = """# EVOLVE-BLOCK-START
from math import sqrt

LIMIT = 9.0


def value():
    global made
    made = sqrt(LIMIT)
    return made


# EVOLVE-BLOCK-END


# EVOLVE-BLOCK-START
def helper():
    return [value() for _ in range(2)]
# EVOLVE-BLOCK-END
"""
BLOCK = "# EVOLVE-BLOCK-START\n{}\n# EVOLVE-BLOCK-END\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "number.py"
    path.write_text(TEXT)
    return path


def refused(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(TaskError) as caught:
        load(path)
    assert "Try: " in str(caught.value)
    return str(caught.value).removeprefix(str(path))


def test_the_docstring_is_the_brief_and_the_blocks_are_the_program(file: Path) -> None:
    """With their markers, so that operators see the blocks; the settings are those of a task.toml."""
    task = load(file, {"goal": 5})
    assert (task.name, task.folder, task.one_file, task.path) == ("number", str(file.parent), "number.py", str(file))
    assert task.brief == "Find the number.\n\nIt is between EVOLVE-BLOCK-START and 9."
    assert task.seed == Program({"seed.py": SEED})
    assert (task.entry, task.evaluator) == ("seed", EvaluatorSource("number.py"))
    assert (task.deterministic, task.fitness.name, task.fitness.digits) == (True, "nearness", 3)
    assert task.parameters == {"goal": 5.0}


def test_all_settings_may_be_left_out(tmp_path: Path) -> None:
    """A docstring, a block and an evaluator are a task."""
    (tmp_path / "small.py").write_text('"""Be large."""\n' + BLOCK.format("x = 1"))
    assert load(tmp_path / "small.py").fitness.name == "fitness"


def test_a_folder_with_a_problem_has_the_folder_s_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found by its path, by the folder, and by a name below tasks/, beside tasks that are folders."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tasks" / "mine" / "problem.py"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    for reference in (path, "tasks/mine/problem.py", "tasks/mine", "mine"):
        assert find(reference) == path
    assert (name_of(path), load("mine").name, list_own()) == ("mine", "mine", (path,))


def test_a_task_file_goes_before_a_problem(file: Path) -> None:
    """A folder with both is the folder's task."""
    (file.parent / "problem.py").write_text(TEXT)
    (file.parent / "task.toml").write_text("schema = 1\n")
    assert find(file.parent) == file.parent


def test_the_version_is_that_of_the_file_alone(file: Path) -> None:
    """What lies beside it does not matter; the file itself and the parameters do."""
    task = load(file)
    (file.parent / "notes.txt").write_text("more")
    assert load(file).version == task.version
    assert load(file, {"goal": 1.0}).version != task.version
    check_version(task)
    file.write_text(TEXT + "# more\n")
    assert load(file).version != task.version
    with pytest.raises(TaskError, match=r"the file of task 'number' has changed since the campaign began: .*number.py"):
        check_version(task)
    file.unlink()
    with pytest.raises(TaskError, match="has changed since the campaign began"):
        check_version(task)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("math import sqrt", "os import path", ""),
        ("from math import sqrt\n", "sqrt = abs\n", ""),
        ("sqrt(LIMIT)", "[math for math in (LIMIT,)][0]", ""),
        ("sqrt(LIMIT)", "(lambda math: math)(LIMIT)", ""),
        ("sqrt(LIMIT)", "nowhere", ""),
        ("sqrt(LIMIT)", "math.sqrt(LIMIT)", ":31: the program uses 'math', which line 16 makes outside its block"),
        ("sqrt(LIMIT)", "math.sqrt(LIMIT)", "Try: write `import math` inside the block"),
        ("LIMIT = 9.0", "LIMIT = HELP", ":26: the program uses 'HELP', which line 20 makes outside its block"),
        ("value() for", "HELP for", ":45: the program uses 'HELP'"),
        ("value() for", "HELP for", "Try: move 'HELP' into the block, or give it to the program as an argument"),
        ("def value()", "def value(of: HELP = 1)", ":29: the program uses 'HELP'"),
        ("sqrt(LIMIT)", "evaluate", ":31: the program uses 'evaluate', which line 39 makes outside its block"),
    ],
)
def test_the_program_stands_alone(file: Path, old: str, new: str, message: str) -> None:
    """A candidate gets the blocks and nothing else; names that nobody makes are the program's own mistake."""
    text = TEXT.replace(old, new)
    assert text != TEXT
    if not message:
        file.write_text(text)
        assert load(file).entry == "seed"
        return
    assert message in refused(file, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:", ": this is not Python: invalid syntax"),
        ("x = " + "-" * 200_000 + "1", ": this is nested too deeply for Python to read it"),
        ("x = 1\n" + BLOCK.format("y = 2"), ": there is no brief"),
        ('"""Brief."""\nx = 1\n', ": there is no seed program"),
        ('"""Brief."""\n# EVOLVE-BLOCK-START\nx = 1\n', ":2: the block that begins here has no end"),
        ('"""Brief."""\n# EVOLVE-BLOCK-END\n', ":2: EVOLVE-BLOCK-END comes after no EVOLVE-BLOCK-START"),
        (
            '"""Brief."""\n' + BLOCK.format("# EVOLVE-BLOCK-START"),
            ":3: EVOLVE-BLOCK-START comes after the EVOLVE-BLOCK-START of line 2",
        ),
        (
            '"""Brief."""\ndef f():\n    # EVOLVE-BLOCK-START\n    return 1\n    # EVOLVE-BLOCK-END\n',
            ":4: the block that begins at line 3 is not complete in itself: unexpected indent",
        ),
        ('"""B."""\n# /// evolve\n# a = 1\nx = 1\n' + BLOCK.format("y = 2"), ":2: the settings are one block of lines"),
        *(
            (
                f'"""B."""\n{line}\n# a = 1\n# ///\n' + BLOCK.format("y = 2"),
                f":2: got '{line}', which opens no settings",
            )
            for line in ("# ///evolve", "#/// evolve", "# /// Evolve", "# // evolve", "# /// evlove")
        ),
        (
            '"""B."""\n# /// evolve\n# ///\n# /// evolve\n# ///\n' + BLOCK.format("y = 2"),
            ":4: the settings are one block of lines",
        ),
        (
            '"""B."""\n# /// evolve\n# a = 1\n# b =\n# ///\n' + BLOCK.format("y = 2"),
            ": the settings are not TOML: Invalid value (at line 4",
        ),
        ('"""B."""\n# /// evolve\n# foo = 1\n# ///\n' + BLOCK.format("y = 2"), ": unknown key 'foo'"),
        (
            '"""B."""\n# /// evolve\n# brief = "README.md"\n# ///\n' + BLOCK.format("y = 2"),
            ": a task in one file has no key 'brief': the docstring of the file is the brief",
        ),
        (
            '"""B."""\n# /// evolve\n# program = { files = [] }\n# ///\n' + BLOCK.format("y = 2"),
            "no key 'program': what stands between the EVOLVE-BLOCK markers is the program",
        ),
        (
            '"""B."""\n# /// evolve\n# evaluator = "a.py"\n# ///\n' + BLOCK.format("y = 2"),
            "no key 'evaluator': the function marked @evaluator",
        ),
        ('"""B."""\nimport beside\n' + BLOCK.format("y = 2"), ":2: a task in one file imports no other file"),
        ('"""B."""\nfrom beside import x\n' + BLOCK.format("y = 2"), "got `from beside import x`"),
        ('"""B."""\nfrom . import beside\n' + BLOCK.format("y = 2"), "got `from . import beside`"),
    ],
)
def test_what_is_no_task_is_refused_with_its_line(file: Path, text: str, message: str) -> None:
    """What, got, do this."""
    (file.parent / "beside.py").write_text("x = 1\n")
    assert message in refused(file, text)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    """One error each."""
    with pytest.raises(TaskError, match=r"there is no file .*gone.py.* Try: check the path"):
        load(tmp_path / "gone.py")
    (tmp_path / "bytes.py").write_bytes(b"\xff")
    with pytest.raises(TaskError, match="is not a text in UTF-8"):
        load(tmp_path / "bytes.py")


def test_the_program_of_a_text_is_what_stands_between_its_markers() -> None:
    """Or all of it, where there are none, also where it is no Python; broken markers are an error."""
    assert program_of(TEXT) == SEED
    assert program_of(SEED) == SEED
    assert program_of("x = (1\n") == "x = (1\n"
    with pytest.raises(TaskError, match="has no end"):
        program_of("# EVOLVE-BLOCK-START\nx = 1\n")
