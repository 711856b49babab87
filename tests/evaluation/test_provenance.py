"""Facts behind a score: the version of a task, and the machine with its libraries."""

import platform
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from judge_fakes import small_task, written_task

from evolve.evaluation.provenance import check_version, environment, hardware, imports, task_version
from evolve.types import TaskError


def test_an_unchanged_folder_passes(tmp_path: Path) -> None:
    """READMEs, hidden files, compiled code and campaigns in the same folder decide nothing."""
    task = written_task(tmp_path, "x = 1")
    (tmp_path / "README.md").write_text("more")
    (tmp_path / ".hidden").write_text("more")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "evaluator.pyc").write_text("more")
    (tmp_path / "archive" / "campaigns").mkdir(parents=True)
    (tmp_path / "archive" / "campaigns" / "small.db").write_text("more")
    (tmp_path / "archive" / "secret").write_text("of the workspace")
    (tmp_path / "archive" / "secret.draft").write_text("of the workspace")
    check_version(task)


@pytest.mark.parametrize("name", ["evaluator.py", "data.json"])
def test_a_changed_folder_is_refused(tmp_path: Path, name: str) -> None:
    """A judge that starts again in the middle of a campaign must not judge by other rules."""
    task = written_task(tmp_path, "x = 1")
    (tmp_path / name).write_text("x = 2")
    with pytest.raises(TaskError, match="has changed since the campaign began"):
        check_version(task)


def test_parameters_are_part_of_the_version(tmp_path: Path) -> None:
    """Another n is another task."""
    assert task_version(tmp_path, {"n": 1}) != task_version(tmp_path, {"n": 2})
    with pytest.raises(TaskError):
        check_version(replace(small_task(tmp_path), parameters={"n": 2}))


def test_templates_of_prompts_decide_no_score(tmp_path: Path) -> None:
    """Those of the folder that the task names; everything else in it does."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "diff.md").write_text("one")
    version = task_version(tmp_path, {}, prompts="prompts")
    (tmp_path / "prompts" / "diff.md").write_text("two")
    assert version == task_version(tmp_path, {}, prompts="prompts")
    (tmp_path / "prompts" / "data.json").write_text("{}")
    assert len({version, task_version(tmp_path, {}, prompts="prompts"), task_version(tmp_path, {})}) == 3


def test_the_hardware_class_is_the_processors_model_and_its_cores(tmp_path):
    """As Linux tells it."""
    information = tmp_path / "cpuinfo"
    information.write_text(
        "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nprocessor\t: 1\nmodel name\t: Some CPU @ 2 GHz\n"
    )
    assert hardware(information).startswith("Some CPU @ 2 GHz, ")
    assert hardware(information).endswith(" cores")


def test_the_hardware_class_needs_no_proc(tmp_path):
    """Elsewhere the platform's word is taken."""
    assert hardware(tmp_path / "none").startswith(platform.machine())


def test_the_environment_names_what_is_installed():
    """Numpy and highspy first, then what was asked for, by the name of its module; what is not installed is left out."""
    found = environment(("no_such_module", "pytest", "pluggy", "numpy"))
    names = [part.split()[0] for part in found.split(", ")]
    assert (names, found.split(", ")[0]) == (
        ["python", "numpy", "highspy", "pluggy", "pytest"],
        f"python {platform.python_version()}",
    )


def test_a_module_that_is_loaded_says_its_own_version(monkeypatch):
    """It is the one that is used, whatever else is installed."""
    monkeypatch.setattr(numpy, "__version__", "0.0.7")
    assert "numpy 0.0.7" in environment()


def test_a_package_is_found_by_the_name_of_its_module():
    """They differ here."""
    assert f"_pytest {pytest.__version__}" in environment(("_pytest",))


def test_what_a_task_imports_is_found_in_all_its_files(tmp_path):
    """Inside functions, too; its own modules, the standard library and the engine are no part of it."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "evaluator.py").write_text(
        "import os.path, geometry\nfrom evolve import Trial\nfrom scipy.optimize import x\n"
    )
    (tmp_path / "geometry.py").write_text("def f():\n    import numpy.linalg as la\n    from parts import one\n")
    (tmp_path / "parts" / "one.py").write_text("from . import two\nfrom .two import sympy\n")
    (tmp_path / "broken.py").write_text("import torch (\n")
    (tmp_path / "notes.txt").write_text("import torch\n")
    assert imports(tmp_path, tmp_path.rglob("*.*")) == {"numpy", "scipy"}


@pytest.mark.parametrize(
    "text",
    [
        f"import torch; x = {'-' * 100_000}1",
        f"import torch; x = a{'.b' * 100_000}",
        "import torch\0",
        "import torch; x = (",
    ],
    ids=["deep", "deep as a tree", "a null byte", "no syntax"],
)
def test_a_file_that_python_cannot_parse_imports_nothing(tmp_path, text):
    """However it fails; the others count."""
    (tmp_path / "odd.py").write_text(text)
    (tmp_path / "evaluator.py").write_text("import numpy\n")
    assert imports(tmp_path, tmp_path.rglob("*.py")) == {"numpy"}
