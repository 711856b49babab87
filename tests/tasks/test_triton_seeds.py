"""Facts about the seeds in Triton: by an interpreter on the processor they are right, on small shapes and all kinds of inputs. None of it says that Triton compiles them, or how fast they are."""

import ast
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evolve.operators.literals import template
from evolve.task import find, list_bundled, load
from evolve.types import Parameters, Task
from evolve_kernel.problem import KernelProblem
from evolve_kernel.problem import load as load_problem
from evolve_kernel.rounds import check_answers

sys.path.insert(0, str(Path(__file__).parent))
from fake_triton import launched

NAMES = tuple(name for name in list_bundled() if name.endswith("/triton"))
SMALL = {
    "kernel_softmax/triton": ({"rows": 3, "columns": 1030}, {"rows": 2, "columns": 1}),
    "kernel_layernorm/triton": ({"rows": 3, "columns": 1030}, {"rows": 2, "columns": 1}),
    "kernel_prefix_sum/triton": ({"rows": 3, "columns": 4100}, {"rows": 2, "columns": 1}),
    "kernel_stencil/triton": ({"rows": 9, "columns": 131}, {"rows": 1, "columns": 3}, {"rows": 5, "columns": 1}),
    "kernel_topk/triton": ({"rows": 9, "columns": 1030, "k": 5}, {"rows": 2, "columns": 7, "k": 7}),
}
LEAST, MOST = 4_000_000, 20_000_000
"""Numbers of a shape: fewer are done before a clock can tell, and more take the oracle long."""


def parts(name: str) -> tuple[Task, KernelProblem, str]:
    """A task, its problem, and its seed's text."""
    task = load(name)
    (text,) = task.seed.files.values()
    return task, load_problem(Path(task.folder), "problem.py"), text


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_right_by_the_language_s_meaning(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On rows that are no multiple of a block and on the smallest, for every kind of inputs."""
    _, problem, text = parts(name)
    for shape in SMALL[name]:
        for number, regime in enumerate(problem.regimes):
            inputs = problem.inputs(np.random.default_rng(number), shape, regime)
            kept = {key: array.copy() for key, array in inputs.items()}
            values: list[Any] = []
            for one in problem.arguments(shape):
                empty = np.full(one.dims, -1, one.dtype) if one.kind == "out" else None
                values.append(one.value if one.kind == "number" else inputs.get(one.name, empty))
            launched(text, monkeypatch, values)
            outputs = {
                one.name: values[place] for place, one in enumerate(problem.arguments(shape)) if one.kind == "out"
            }
            assert check_answers(problem, outputs, problem.compute_answers(inputs, shape), inputs, shape).fault == "", (
                shape,
                regime,
            )
            assert all((kept[key] == array).all() for key, array in inputs.items())


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_takes_what_the_problem_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a function `launch`, which its brief shows as it is."""
    task, problem, text = parts(name)
    (definition,) = [
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "launch"
    ]
    names = [argument.arg for argument in definition.args.args]
    assert len(names) == len(problem.arguments(SMALL[name][0]))
    assert f"`launch({', '.join(names)})`" in task.brief
    assert f"`{task.entry}.py`" in task.brief


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_has_sizes_to_tune(name: str) -> None:
    """Those of blocks and warps, and nothing else: as exponents of two, so that every one is a power."""
    task, _, text = parts(name)
    found = template(task.seed).values
    assert len(found) == text.count("1 << ") >= 2
    assert all(type(value) is int for value in found)


@pytest.mark.parametrize("name", NAMES)
def test_every_set_of_shapes_is_there_and_large_enough(name: str) -> None:
    """Also those that are held out."""
    task, problem, _ = parts(name)
    searched = problem.shapes(Parameters(task.parameters))
    for shape in searched:
        assert LEAST <= shape["rows"] * shape["columns"] <= MOST
    hidden = [shape for case in task.held_out for shape in problem.shapes(Parameters(case.parameters))]
    assert len(task.held_out) >= 2
    assert not [shape for shape in hidden if shape in searched]
    assert max(shape["rows"] * shape["columns"] for shape in hidden) <= MOST


@pytest.mark.parametrize("name", NAMES)
def test_a_task_has_a_gpu_for_itself(name: str) -> None:
    """And a core on which both are timed."""
    task, _, _ = parts(name)
    assert [(stage.needs.gpus, stage.needs.pinned) for stage in task.stages] == [(1, True)]
    assert task.limits.grants.gpu == 1
    assert find(name).name == "triton.toml"
    assert "not run on a GPU yet" in (Path(task.folder) / "README.md").read_text("utf-8")
