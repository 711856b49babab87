"""Facts about `docs/tasks.md`: its examples are tasks that work as they stand."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evolve.task import load
from evolve.types import Evaluation, Outcome, Parameters, Task, Trial
from tests.pages import read_chapter

PAGE = read_chapter("tasks", "Write a task")


class Called:
    """A candidate that runs a program's text here, because the page's is known to be harmless."""

    def __init__(self, text: str) -> None:
        self.names: dict[str, Any] = {}
        exec(text, self.names)

    def call(self, function: str, *arguments: object) -> object:
        return self.names[function](*arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The four files of the page."""
    files = re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert [name for name, _ in files] == ["README.md", "seed.py", "evaluator.py", "task.toml"]
    (tmp_path / "wave").mkdir()
    for name, text in files:
        (tmp_path / "wave" / name).write_text(text, "utf-8")
    return tmp_path / "wave"


def evaluated(task: Task, program: str) -> Evaluation:
    spec = importlib.util.spec_from_file_location("wave_evaluator", Path(task.folder) / "evaluator.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Evaluation = module.evaluate(Called(program), Trial(parameters=Parameters(task.parameters)))
    return found


def test_the_example_loads_and_its_seed_is_judged(folder: Path) -> None:
    """On the first try."""
    task = load(folder)
    assert (task.name, task.fitness.direction, task.bound) == ("wave", "min", 0.0)
    evaluation = evaluated(task, task.seed.files["seed.py"])
    assert evaluation.outcome is Outcome.OK
    assert evaluation.fitness == pytest.approx(0.0488, abs=1e-4)
    assert set(evaluation.descriptors) == {axis.name for axis in task.axes}


def test_a_better_polynomial_has_a_smaller_error(folder: Path) -> None:
    """The search has something to find by tuning the seed's numbers alone."""
    task = load(folder)
    better = task.seed.files["seed.py"].replace("0.9", "0.985").replace("0.1", "0.1425")
    found, seed = evaluated(task, better).fitness, evaluated(task, task.seed.files["seed.py"]).fitness
    assert found is not None
    assert seed is not None
    assert found < seed / 2


@pytest.mark.parametrize(
    "program",
    [
        "def wave(points): return None",
        "def wave(points): return points[1:]",
        "def wave(points): return [True for _ in points]",
        "def wave(points): return [float('nan') for _ in points]",
        "def wave(points): return [1e308 for _ in points]",
        "import numpy\ndef wave(points): return numpy.zeros((1 << 39, 0), numpy.int8)",
    ],
)
def test_answers_of_another_form_are_invalid(folder: Path, program: str) -> None:
    """The example checks what the rules tell to check."""
    assert evaluated(load(folder), program).outcome is Outcome.INVALID


def test_the_further_task_of_the_page_loads(folder: Path) -> None:
    """Beside the example's own, with its evaluator."""
    fences = re.findall(r"^```toml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    (found,) = (fence for fence in fences if "long.py" in fence)
    (folder / "long.toml").write_text(found, "utf-8")
    shutil.copyfile(folder / "seed.py", folder / "long.py")
    task = load(folder / "long.toml")
    assert (task.name, task.parameters["points"]) == ("wave/long", 500)
    assert evaluated(task, task.seed.files["long.py"]).outcome is Outcome.OK


# --- the example in C


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder `root` of the page."""
    files = dict(re.findall(r"^`root/([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL))
    assert set(files) == {"README.md", "root.c", "main.c", "evaluator.py", "task.toml"}
    (tmp_path / "root").mkdir()
    for name, text in files.items():
        (tmp_path / "root" / name).write_text(text, "utf-8")
    return tmp_path / "root"


def outcomes(folder: Path, programs: int) -> list[dict[str, Any]]:
    """The records of a campaign on the folder's task."""
    ran = subprocess.run(
        [sys.executable, "-m", "evolve", "run", f"./{folder.name}", "--budget", f"{programs}programs", "--json"],
        cwd=folder.parent,
        env={**os.environ, "EVOLVE_HOME": str(folder.parent / "home")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler called `cc`")
def test_the_example_in_c_runs_on_the_first_try(root: Path) -> None:
    """The seed has the error that the page tells, and tuning its numbers makes it smaller."""
    records = outcomes(root, 15)
    assert {record["outcome"] for record in records[:-1]} == {"ok"}
    assert records[0]["fitness"] == pytest.approx(0.0267, abs=1e-4)
    assert min(record["fitness"] for record in records[:-1]) < records[0]["fitness"]
