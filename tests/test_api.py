"""Campaigns and tasks from Python."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evolve
from evolve.api import source_of
from evolve.types import ConfigError, TaskError

DOCS = Path(__file__).parents[1] / "docs"
SCALE = 0.5


def solve() -> float:
    return 3.25


def gap(value: float) -> float:
    return abs(math.sin(value) - SCALE)


def evaluate(candidate: Any, trial: Any) -> evolve.Evaluation:
    return evolve.Evaluation.ok(gap(float(candidate.call("solve"))))


def uses_a_path() -> str:
    return str(DOCS)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is a workspace."""
    (tmp_path / "archive").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVOLVE_HOME", raising=False)
    return tmp_path


def make(**changes: Any) -> evolve.Task:
    """The task `sine`, with changes."""
    parts = {"brief": "Find x.", "program": solve, "evaluator": evaluate, "deterministic": True}
    return evolve.Task.make("sine", **{**parts, **changes})


def test_the_package_lists_its_public_names() -> None:
    """For tab completion, before any of them is used."""
    assert {"run", "Task", "Campaign", "evaluator"} <= set(dir(evolve))
    assert all(hasattr(evolve, name) for name in dir(evolve))
    assert evolve.Task.__module__ == "evolve.api"


def test_a_function_brings_along_what_it_uses() -> None:
    """Modules, constants and functions of its own module, in an order that runs."""
    names: dict[str, Any] = {}
    exec(source_of(gap), names)
    assert names["gap"](0.0) == SCALE
    assert source_of("    x = 1\n") == "x = 1\n"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (uses_a_path, "'uses_a_path' uses 'DOCS', a PosixPath that no source text makes. Try: "),
        (len, "<built-in function len> is no plain function of a module. Try: "),
        (eval("lambda: 1"), "the source of '<lambda>' is not known. Try: "),
    ],
)
def test_a_function_that_cannot_be_written_down_is_refused(function: Any, reason: str) -> None:
    with pytest.raises(TaskError, match=re.escape(reason)):
        source_of(function)


def test_a_task_is_a_folder_like_every_other(here: Path) -> None:
    task = make(fitness={"direction": "min"}, parameters={"n": 3})
    loaded = evolve.task.load(task.path)  # type: ignore[attr-defined]
    assert (task.name, task.path) == ("sine", here / "tasks" / "sine")
    assert (loaded.fitness.direction, loaded.parameters, loaded.entry) == ("min", {"n": 3}, "seed")
    assert loaded.seed.files["seed.py"].endswith("return 3.25\n\n") or "return 3.25" in loaded.seed.files["seed.py"]


def test_a_task_is_replaced_on_request_alone(here: Path) -> None:
    version = (make().path / "evaluator.py").stat().st_mtime_ns
    assert (make().path / "evaluator.py").stat().st_mtime_ns == version
    with pytest.raises(TaskError, match=r"there is another task at 'tasks/sine'\. Try: "):
        make(brief="Find y.")
    assert (make(brief="Find y.", replace=True).path / "brief.md").read_text() == "Find y.\n"


def test_a_task_that_does_not_load_is_not_written(here: Path) -> None:
    with pytest.raises(TaskError, match=r"^tasks/sine/task\.toml: .*deterministik"):
        make(deterministik=True)
    assert not (here / "tasks" / "sine").exists()


def test_parts_of_a_task_are_texts_and_files_too(here: Path) -> None:
    """A program may have several files, and need not be Python."""
    (here / "judge.py").write_text("import evolve\n")
    task = make(program={"main.c": "int x;\n"}, evaluator=here / "judge.py")
    assert evolve.task.load(task.path).entry == ""  # type: ignore[attr-defined]
    with pytest.raises(TaskError, match="cannot be read"):
        make(evaluator=here / "missing.py", replace=True)


def test_what_is_wrong_with_a_call_is_said_before_anything_is_made(here: Path) -> None:
    with pytest.raises(ConfigError, match="no unit 'bananas'"):
        evolve.run(make(), budget="30bananas")
    with pytest.raises(ConfigError, match=r"island.*Try: "):
        evolve.run(make(), budget="3programs", settings={"archive": {"island": 3}})
    assert list((here / "archive").iterdir()) == []


@pytest.mark.integration
def test_a_campaign_runs_and_goes_on(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Records are told when they are durable; the campaign that is returned is open for reading."""
    task, seen = make(fitness={"direction": "min"}), []
    with evolve.run(
        task, budget="6programs", workers=1, on_record=seen.append, settings={"operators": ["perturb_literals"]}
    ) as campaign:
        assert campaign.best is not None
        assert len(seen) == len(campaign.records(None)) == 7
        assert seen[0].kind == "seed"
    assert "campaign sine begins" in capsys.readouterr().out
    with evolve.run(resume="sine", budget="8programs", progress=False, devices="cpu") as campaign:
        assert len(campaign.records(None)) == 9
    assert capsys.readouterr().out == ""


@pytest.mark.integration
def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    """As a script, whose functions are its own."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / "python.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if "Task.make" in block]
    (tmp_path / "script.py").write_text(block, "utf-8")
    ran = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "EVOLVE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout.splitlines()[-1]) < 0.6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 10}, r"budget is 10, wanted a text, or several. Try: budget='60s'"),
        ({"budget": ["5programs", 3]}, r"budget is \['5programs', 3\], wanted a text"),
        ({"model": 3}, r"model is 3, wanted a text, or several. Try: model='gpt-5-mini'"),
        ({"resume": True}, r"resume is True, wanted the name of a campaign. Try: resume='circle_packing'"),
    ],
)
def test_an_argument_of_another_type_is_an_error_with_what_to_write(arguments, message):
    with pytest.raises(evolve.EvolveError, match=message):
        evolve.run("circle_packing", **arguments)


@pytest.mark.parametrize(
    ("name", "program", "message"),
    [
        ("../other", "x = 1", r"a task is called '../other', wanted letters, digits"),
        ("", "x = 1", "a task is called '', wanted letters"),
        ("a b", "x = 1", "a task is called 'a b', wanted letters"),
        ("fine", "x = 1\ndef f(:\n", r"seed.py, line 2: invalid syntax. Try: mend the program"),
    ],
)
def test_a_task_that_cannot_work_is_not_made(tmp_path, monkeypatch, name, program, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TaskError, match=message):
        evolve.Task.make(name, brief="Find it.", program=program, evaluator="import evolve\n")
    assert list(tmp_path.iterdir()) == []
