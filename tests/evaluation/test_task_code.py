"""A task's own Python: its files as modules, and calls that may raise anything."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evolve import SessionFailed, TaskModule, task_module
from evolve.evaluation.task_code import Raised, attempt, execute_file
from evolve.sandbox.status import Status
from evolve.types import EvolveError, TaskError, UnusableFitness


def fails():
    raise ValueError("first\nsecond")


def test_an_answer_is_given_back():
    """Nothing is wrapped where nothing is raised."""
    assert attempt(lambda: 42) == 42


def test_what_is_raised_is_kept_with_its_traceback():
    """The traceback begins in the task's code, not in the judge's."""
    raised = attempt(fails)
    assert isinstance(raised, Raised)
    assert raised.line == "ValueError: first second"
    assert "in fails" in raised.trace
    assert "in attempt" not in raised.trace


@pytest.mark.parametrize("error", [KeyError(10**5000), ValueError("\ud800")], ids=["a long number", "half a pair"])
def test_an_error_that_cannot_be_said_is_named(error):
    """Its words may be the program's, and a judge that fails at them judges nothing."""

    def fails():
        raise error

    raised = attempt(fails)
    assert isinstance(raised, Raised)
    assert raised.line.startswith(f"{type(error).__name__}:")
    assert type(error).__name__ in raised.trace


def test_an_exit_in_a_tasks_code_is_an_error():
    """Else it would take the judge process with it."""
    raised = attempt(lambda: sys.exit(3))
    assert isinstance(raised, Raised)
    assert raised.line == "SystemExit: 3"


def test_an_interrupt_passes():
    """A person who interrupts the judge means the judge."""

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(interrupted)


def test_a_long_traceback_keeps_its_end():
    """Where the error is named."""

    def deep(left):
        if left == 0:
            raise ValueError("x" * 5000 + "the end")
        deep(left - 1)

    raised = attempt(lambda: deep(5))
    assert isinstance(raised, Raised)
    assert len(raised.trace) == 4000
    assert raised.trace.endswith("the end")


NEEDED = {"check": "(instance, answer)"}
CHECKS = "def check(instance, answer):\n    return instance == answer\n"


@pytest.fixture(autouse=True)
def _own_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is put on the import path and among the modules goes with the test."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


class Fails:
    """Nothing is divided by it."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    def __rtruediv__(self, other: object) -> object:
        raise self._failure


def made(folder: Path, text: str) -> TaskModule:
    """The module of a text."""
    (folder / "problem.py").write_text(text)
    return task_module(folder, "problem.py", NEEDED, {"label": "(instance)"})


def test_functions_are_called_and_constants_read(tmp_path: Path) -> None:
    """With defaults for what is not there."""
    module = made(tmp_path, CHECKS + "SIZE = 3\n")
    assert (module.call("check", 1, 1), module.call("check", 1, 2)) == (True, False)
    assert (module.value("SIZE"), module.value("REGIMES", ("dense",))) == (3, ("dense",))
    assert (module.has("check"), module.has("label")) == (True, False)
    assert module.path == tmp_path / "problem.py"


def test_it_imports_its_neighbours_and_has_dataclasses(tmp_path: Path) -> None:
    """So the folder is on the path, and the module is known by its name."""
    (tmp_path / "task_module_neighbour.py").write_text("HALF = 2\n")
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom task_module_neighbour import HALF\n"
        "@dataclass\nclass One:\n    number: int = HALF\n"
    )
    assert made(tmp_path, text + CHECKS).value("One")().number == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no function check(instance, answer). Try: write it"),
        ("check = 3\n", "there is no function check(instance, answer)"),
        (
            "def check(answer): pass\n",
            "check(answer) cannot be called with (instance, answer). Try: write check(instance, answer)",
        ),
        (CHECKS + "def label(): pass\n", "label() cannot be called with (instance). Try: write label(instance)"),
        (CHECKS + "1 / 0\n", "this cannot be imported: ZeroDivisionError: division by zero (line 3). Try: mend it"),
        ("def check(:\n", "this cannot be imported: SyntaxError: "),
        ("raise SystemExit(2)\n", "this cannot be imported: SystemExit: 2 (line 1)"),
        ("raise ValueError('x' * 10000)\n", f"ValueError: {'x' * 228} (line 1). Try: mend it"),
    ],
)
def test_what_is_no_such_module_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    """That names the file."""
    with pytest.raises(TaskError, match=re.escape(said)) as error:
        made(tmp_path, text)
    assert str(error.value).startswith(str(tmp_path / "problem.py"))


def test_arguments_may_be_none_and_a_function_may_be_written_in_c(tmp_path: Path) -> None:
    """What tells nothing of its arguments is taken as it is."""
    (tmp_path / "problem.py").write_text("def made():\n    return 1\nlabel = str\nlongest = max\n")
    module = task_module(tmp_path, "problem.py", {"made": "()", "longest": "(values)"}, {"label": "(instance)"})
    assert (module.call("made"), module.call("label", 1), module.call("longest", [1, 2])) == (1, "1", 2)
    with pytest.raises(TaskError, match=r"made\(\) cannot be called with \(count\). Try: write made\(count\)"):
        task_module(tmp_path, "problem.py", {"made": "(count)"})


def test_what_could_not_be_executed_is_no_module(tmp_path: Path) -> None:
    """Half of it would be imported by others."""
    with pytest.raises(TaskError):
        made(tmp_path, CHECKS + "1 / 0\n")
    assert "evolve_task_problem" not in sys.modules


def test_neighbours_are_imported_where_they_belong_to_the_task(tmp_path: Path) -> None:
    """A task in one file has none."""
    (tmp_path / "task_module_alone.py").write_text("")
    (tmp_path / "problem.py").write_text("import task_module_alone\n")
    with pytest.raises(ModuleNotFoundError):
        execute_file(tmp_path / "problem.py", neighbours=False)
    assert execute_file(tmp_path / "problem.py").__name__ == "evolve_task_problem"
    assert sys.path[0] == str(tmp_path)


def test_a_file_may_be_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tasks share one so. A relative folder is one as well."""
    made(tmp_path, CHECKS + "def label(instance):\n    return 1 / 0\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "linked.py").symlink_to("../problem.py")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        TaskError, match=r"other/linked.py: label\(\) raised ZeroDivisionError: division by zero \(line 4\)"
    ):
        task_module("other", "linked.py", NEEDED).call("label", 0)


@pytest.mark.parametrize("file", ["no.py", "../problem.py", "problem.txt", ".", "/etc/passwd"])
def test_it_is_a_python_file_of_the_folder(tmp_path: Path, file: str) -> None:
    """And the error says under which setting it is named."""
    (tmp_path / "problem.py").write_text(CHECKS)
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "problem.txt").write_text(CHECKS)
    said = "this is no Python file" if file.endswith("txt") else f"evaluator.data: there is no file {file!r}"
    with pytest.raises(TaskError, match=re.escape(said)):
        task_module(tmp_path / "task", file, NEEDED, setting="evaluator.data")


def test_what_a_function_raises_has_its_line_and_what_was_told(tmp_path: Path) -> None:
    """The error itself stays behind it; an error of ours is left as it is."""
    module = made(tmp_path, "def check(instance, answer):\n    return 1 / instance\n")
    with pytest.raises(TaskError) as error:
        module.call("check", 0, 1, told=" on instance 0")
    said = f"{module.path}: check() raised ZeroDivisionError: division by zero (line 2) on instance 0. Try: mend it"
    assert str(error.value) == said
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside2.py").write_text("def fails(value):\n    raise ValueError('no')\n")
    (tmp_path / "beside" / "problem.py").write_text("from beside2 import fails as check\n")
    sys.path.append(str(tmp_path))
    with pytest.raises(
        TaskError, match=r"check\(\) raised ValueError: no\. Try"
    ):  # the other file is none of the folder's
        task_module(tmp_path / "beside", "problem.py", {"check": "(value)"}).call("check", 1)
    for failure in (SessionFailed(Status.TIMEOUT, "it fell"), UnusableFitness(float("nan"))):
        with pytest.raises(type(failure)):
            module.call("check", Fails(failure), 1)
    ours = made(
        tmp_path,
        "from evolve import EvolveError\ndef check(instance, answer):\n    raise EvolveError('Try: rest')\n",
    )
    with pytest.raises(EvolveError, match=r"^Try: rest$"):
        ours.call("check", 0, 1)


def test_what_a_function_should_not_have_returned_is_one_short_line(tmp_path: Path) -> None:
    """Whatever its own words are; of an array, what it is."""
    module = made(tmp_path, CHECKS)
    said = f"{module.path}: check() returned "
    array = np.zeros((200, 3))
    assert str(module.broken("check", array, "a text")) == f"{said}float64(200, 3). Try: return a text"
    assert "\n" not in str(module.broken("check", {"out": array}, "a text"))
    assert len(str(module.broken("check", "x" * 1000, ""))) < len(said) + 100
