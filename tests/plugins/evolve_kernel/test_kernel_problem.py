"""Facts about the module that knows a kernel's problem: what it must have, and what is said of one that breaks the contract."""

import re
import sys

import numpy as np
import pytest
from kernel_problems import DOUBLING

from evolve.types import Parameters, TaskError
from evolve_kernel.problem import Argument, arguments_of, load, shape_name

SHAPE = {"count": 4}


@pytest.fixture(autouse=True)
def _own_path(monkeypatch):
    """What is put on the import path goes with the test."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def problem(tmp_path):
    """Of a text."""

    def made(text=DOUBLING):
        (tmp_path / "problem.py").write_text(text)
        return load(tmp_path, "problem.py")

    return made


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def shapes", "def forms", "there is no function shapes(parameters). Try: write it"),
        ("def work(shape)", "def work()", "work() cannot be called with (shape). Try: write work(shape)"),
        ('REGIMES = ("small", "large")', "REGIMES = ()", "REGIMES is (). Try: name the kinds of inputs"),
        ('REGIMES = ("small", "large")', 'REGIMES = "small"', "REGIMES is 'small'"),
        (
            'TOLERANCE = {"out": 1e-6}',
            'TOLERANCE = {"out": -1}',
            "TOLERANCE is {'out': -1}. Try: give a number from 0 on",
        ),
        (
            "import numpy as np",
            "import numpy as np\n1 / 0",
            "this cannot be imported: ZeroDivisionError: division by zero (line 5)",
        ),
        ('TOLERANCE = {"out": 1e-6}', "check = 3", "there is no function check(outputs, expected, inputs, shape)"),
    ],
)
def test_a_module_that_lacks_something_is_an_error(problem, old, new, said):
    """Before anything is made."""
    with pytest.raises(TaskError, match=re.escape(said)):
        problem(DOUBLING.replace(old, new, 1))


@pytest.mark.parametrize("file", ["no.py", "../problem.py", "problem.txt"])
def test_the_module_is_a_python_file_of_the_folder(tmp_path, file):
    """And nothing else."""
    (tmp_path / "task").mkdir()
    (tmp_path / "problem.py").write_text(DOUBLING)
    (tmp_path / "task" / "problem.txt").write_text(DOUBLING)
    with pytest.raises(TaskError, match="Try: "):
        load(tmp_path / "task", file)


def test_what_a_module_gives_comes_as_values(problem):
    """Arguments, inputs of the declared types, answers in double precision, the least work."""
    found = problem()
    assert found.shapes(Parameters(count=4)) == [{"count": 4}, {"count": 12}]
    assert found.arguments(SHAPE)[1:] == (
        Argument("in", "given", (4,), "float32"),
        Argument("room", "room", (4,), "float64"),
        Argument("number", "count", value=4),
    )
    inputs = found.inputs(np.random.default_rng(1), SHAPE, "small")
    expected = found.compute_answers(inputs, SHAPE)
    assert (inputs["given"].dtype, expected["out"].dtype) == (np.float32, np.float64)
    assert (expected["out"] == 2 * inputs["given"].astype(float)).all()
    assert found.work(SHAPE) == (32, 4)
    assert found.fault({}, {}, {}, SHAPE) == ""


@pytest.mark.parametrize(
    ("old", "new", "act", "said"),
    [
        ("return [{", "return [] and [{", "shapes", "shapes() returned []. Try: return a list of shapes"),
        ('{"count": count}', '{"count": 1.5}', "shapes", "each a mapping of names to whole numbers above 0"),
        (".astype(np.float32)}", "}", "inputs", "make_inputs() returned"),
        ('{"given": (', '{"taken": (', "inputs", "Try: return a mapping with an array for each of given"),
        ('"out": 2.0 *', '"out": 2.0 * np.ones((4, 1)) *', "expected", "oracle() returned"),
        ("return 8 * ", "return 0 * ", "work", "work() returned (0, 4). Try: return two whole numbers"),
        ('"out": 1e-6', "", "arguments", "nothing says what is right for the output 'out'"),
        (
            "2.0 * inputs",
            "2 * inputs[0] + inputs",
            "expected",
            "oracle() raised KeyError: 0 (line 24) on count 4. Try: mend it",
        ),
        (
            ".astype(np.float64)",
            "",
            "expected",
            "oracle() returned float32(4,). Try: return an array of the shape (4,) and type float64",
        ),
        (
            'return {"given"',
            '1 / 0; return {"given"',
            "inputs",
            "make_inputs() raised ZeroDivisionError: division by zero (line 20) on count 4 on 'small'",
        ),
        ("dims = (shape", "dims = (shape.x", "arguments", "arguments() raised AttributeError"),
        ("    return [{", "    return 1 / 0 or [{", "shapes", "shapes() raised ZeroDivisionError"),
        (
            '"out": 1e-6',
            '"out": 1e-6, "uot": 0',
            "arguments",
            "TOLERANCE has a number for 'uot', and the outputs are out",
        ),
        ('("out", "out"', '("in", "out"', "arguments", "no argument is filled"),
    ],
)
def test_what_breaks_the_contract_names_the_function(problem, old, new, act, said):
    """And says what it should return."""
    text = DOUBLING.replace(old, new, 1)
    assert text != DOUBLING
    found = problem(text)
    acts = {
        "shapes": lambda: found.shapes(Parameters(count=4)),
        "arguments": lambda: found.arguments(SHAPE),
        "inputs": lambda: found.inputs(np.random.default_rng(1), SHAPE, "small"),
        "expected": lambda: found.compute_answers({"given": np.zeros(4, np.float32)}, SHAPE),
        "work": lambda: found.work(SHAPE),
    }
    with pytest.raises(TaskError, match=re.escape(said)):
        acts[act]()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "3 is no sequence"),
        ([("out", "a", (2,), "float16")], "is no argument, wanted"),
        ([("out", "a", (2, 0), "float32")], "'a' has the dimensions [2, 0]"),
        ([("out", "a", (), "float32")], "'a' has the dimensions []"),
        ([("out", "a b", (2,), "float32")], "'a b' is no name"),
        ([("out", "a", (2,), "float32"), ("number", "a", 1)], "two arguments are called 'a'"),
        ([("out", "a", (2,), "float32"), ("number", "n", True)], "is no argument"),
        ([("out", f"a{index}", (2,), "float32") for index in range(32)], "there are more than 30 arrays, or numbers"),
        ([("out", "a", (2,), "float32"), *[("number", f"n{index}", 1) for index in range(31)]], "more than 30"),
    ],
)
def test_arguments_that_cannot_be_passed_are_refused(given, said):
    """With the one that is wrong."""
    with pytest.raises(ValueError, match=re.escape(said)):
        arguments_of(given)


def test_a_shape_has_a_name_for_tables():
    """Its lengths."""
    assert shape_name({"rows": 3, "columns": 4}) == "rows 3, columns 4"
