"""Facts about the module that knows a problem: what it must have, and what is said of one that breaks the contract."""

import re
import sys

import numpy as np
import pytest
from benchmark_problems import HALVES, evaluated, halving

from evolve.types import Parameters, TaskError
from evolve_benchmark.problem import are_alike, load


@pytest.fixture(autouse=True)
def _own_path(monkeypatch):
    """What is put on the import path goes with the test."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no function instances(rng, parameters). Try: write it"),
        (
            HALVES.replace("def check(instance, answer)", "def check(answer)"),
            "check(answer) cannot be called with (instance, answer)",
        ),
        (HALVES.replace("def trivial(instance)", "def trivial()"), "trivial() cannot be called with (instance)"),
        (HALVES.replace("def reference", "def optimum"), "there is no function reference(instance)"),
        (HALVES + "\nlabel = 3\n", "there is no function label(instance)"),
    ],
)
def test_a_module_has_the_functions_that_it_needs(tmp_path, text, said):
    """With their arguments."""
    (tmp_path / "problem.py").write_text(text)
    with pytest.raises(TaskError, match=re.escape(said)):
        load(tmp_path, "problem.py")


def test_a_trivial_answer_is_needed_where_calls_are_limited(tmp_path):
    """And nowhere else."""
    (tmp_path / "problem.py").write_text(HALVES.replace("def trivial", "def other"))
    load(tmp_path, "problem.py")
    with pytest.raises(TaskError, match=r"there is no function trivial\(instance\)"):
        load(tmp_path, "problem.py", ("trivial",))


def test_only_what_is_better_or_worse_needs_a_value(tmp_path):
    """A module for the mode `speed` makes instances and checks answers."""
    (tmp_path / "problem.py").write_text(HALVES.replace("def value", "def worth").replace("def reference", "def best"))
    load(tmp_path, "problem.py", ())
    with pytest.raises(TaskError, match=r"there is no function value\(instance, answer\)"):
        load(tmp_path, "problem.py")


@pytest.mark.parametrize("file", ["no.py", "../problem.py", "problem.txt"])
def test_the_module_is_a_file_of_the_folder(tmp_path, file):
    """Of Python."""
    (tmp_path / "problem.py").write_text(HALVES)
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "problem.txt").write_text(HALVES)
    with pytest.raises(TaskError, match=r"Try: "):
        load(tmp_path / "task", file)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return instance / 2\n", "return 0\n", "reference() returned 0. Try: return a finite number above 0"),
        ("return instance / 2\n", "return True\n", "reference() returned True. Try: return a finite number above 0"),
        ("or 1e-9", "and float('nan')", "value() returned nan. Try: return a finite number above 0"),
        ('return "" if', "return None if", "check() returned None. Try: return a text"),
        ("return {", "return [] or {} and {", "instances() returned {}. Try: return a sequence of instances"),
    ],
)
def test_what_breaks_the_contract_names_the_function(tmp_path, old, new, said):
    """And says what it should return."""
    text = HALVES.replace(old, new, 1)
    assert text != HALVES
    with pytest.raises(TaskError, match=re.escape(said)):
        evaluated(halving(tmp_path, text), lambda number: number / 2)


def test_numbers_of_numpy_are_numbers(tmp_path):
    """Whole ones stay exact."""
    text = HALVES.replace("return instance / 2", "return np.int64(instance)").replace(
        "\ndef", "\nimport numpy as np\ndef", 1
    )
    (tmp_path / "problem.py").write_text(text)
    problem = load(tmp_path, "problem.py")
    first = problem.instances(np.random.default_rng(0), Parameters())[0]
    assert (problem.reference(first).numerator, problem.reference(first).denominator) == (2, 1)


def test_a_module_imports_its_neighbours(tmp_path):
    """The folder is on the path."""
    (tmp_path / "benchmark_neighbour.py").write_text("HALF = 2\n")
    text = HALVES.replace("\ndef", "\nfrom benchmark_neighbour import HALF\ndef", 1).replace(
        "instance / 2", "instance / HALF"
    )
    assert evaluated(halving(tmp_path, text), lambda number: number / 2).fitness == 1.0


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (3, 3),
        ("a", "a"),
        (0.1 + 0.2, 0.3),
        (NAN, NAN),
        ([1, [2.0]], [1, [2.0 + 1e-15]]),
        ({"a": 1.0, "b": []}, {"b": [], "a": 1.0}),
        (np.array([1.0, 1e-20]), np.array([1.0 + 1e-12, 0.0])),
        (np.array([1e-320, 0.0]), np.array([1e-320, 0.0])),
        (np.array([NAN, INFINITE, 1.0]), np.array([NAN, INFINITE, 1.0])),
        (np.float32([1.0, 2.0]), np.float32([1.00001, 2.0])),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.array([True, False]), np.array([True, False])),
    ],
)
def test_what_rounding_does_is_no_difference(one, other):
    """Of an array the largest number counts."""
    assert are_alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        ("a", "b"),
        (1.0, 1.00001),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 2}),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.zeros(2), [0.0, 0.0]),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1.0, 2.0]), np.array([1.0, 2.001])),
        (np.array([1e-310, 0.0]), np.array([0.0, 0.0])),
        (np.array([NAN, 1.0]), np.array([1.0, NAN])),
        (np.array([INFINITE]), np.array([-INFINITE])),
    ],
)
def test_what_is_another_answer(one, other):
    """Also where it is another type."""
    assert not are_alike(one, other)
