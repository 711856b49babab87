"""The pages "your first task in five minutes" and "from one file to a package": every example in them runs as it stands."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import evolve.task
from evolve.task import folders
from tests.pages import read_chapter

DOCS = Path(__file__).parents[1] / "docs"
FIRST = read_chapter("quick-start", "Your first task in five minutes")
PACKAGE = read_chapter("quick-start", "From one file to a package")
SHORT = {"10s": "30programs", "20s": "40programs"}
"""Budgets that a page gives in seconds, in what a test spends."""


def blocks(page: str, language: str) -> list[str]:
    """The blocks of code in a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def named_files(page: str) -> dict[str, list[str]]:
    """The files that a page tells to write, by their paths; one that is changed later has several texts."""
    found: dict[str, list[str]] = {}
    for name, text in re.findall(r"`([\w./]+)`(?: becomes)?:\n\n```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        found.setdefault(name, []).append(text)
    return found


def written(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")


def commands(page: str) -> list[list[str]]:
    """What the page says to type, with short budgets."""
    lines = [line for block in blocks(page, "") for line in block.splitlines() if line.startswith("evolve ")]
    return [[SHORT.get(word, word) for word in shlex.split(line)[1:]] for line in lines]


def run(folder: Path, *words: str) -> str:
    """The command line in a process of its own; what it prints, where it ends well."""
    inherited = {key: value for key, value in os.environ.items() if key != "EVOLVE_DEBUG"}
    done = subprocess.run(
        [sys.executable, "-m", "evolve", *words],
        cwd=folder,
        env={**inherited, "EVOLVE_HOME": str(folder / "home"), "PYTHONPATH": str(folder / "site")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def seed_of(folder: Path, task: str) -> float:
    """The seed's fitness, by a judge."""
    (*_, last) = run(
        folder, "program", "evaluate", str(seed_file(folder / task)), "--task", task, "--json"
    ).splitlines()
    mean: float = json.loads(last)["mean"]
    return mean


def seed_file(task: Path) -> Path:
    return task if task.is_file() else task / "seed.py"


@pytest.mark.integration
def test_the_file_of_the_page_is_what_the_command_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the letter."""
    monkeypatch.chdir(tmp_path)
    assert (folders.create("coffee", "one-file") / "problem.py").read_text("utf-8") == blocks(FIRST, "python")[0]


@pytest.mark.slow
def test_the_first_task_runs_on_the_first_try(tmp_path: Path) -> None:
    """Everything that the page says to type ends well, in its order."""
    problem, mine = blocks(FIRST, "python")
    written(tmp_path, "problem.py", problem)
    written(tmp_path, "mine.py", mine)
    lines = commands(FIRST)
    assert ["run", "problem.py", "--budget", "30programs"] in lines
    said = [run(tmp_path, *words) for words in lines]
    (best,) = re.findall(r"^best .* largest error ([\d.]+) \(-[\d.]+ to the seed\)$", said[0], re.MULTILINE)
    assert 0 < float(best) < 9
    evaluated = said[-1]
    assert ": better than the seed" in evaluated
    assert seed_of(tmp_path, "problem.py") == pytest.approx(9.0)


@pytest.mark.slow
def test_the_one_file_becomes_a_folder_and_then_several_files(tmp_path: Path) -> None:
    """Each form judges the seed alike."""
    files = named_files(PACKAGE)
    for name, texts in files.items():
        if name.startswith("coffee/") and name != "coffee/curve.py":
            written(tmp_path, name, texts[0])
    lines = [words for words in commands(PACKAGE) if "./coffee" in words]
    assert [words[0] for words in lines] == ["task", "run"]
    for words in lines:
        run(tmp_path, *words)
    assert seed_of(tmp_path, "coffee") == pytest.approx(9.0)

    (program,) = re.findall(r"^program = .*$", PACKAGE, re.MULTILINE)
    toml = (tmp_path / "coffee" / "task.toml").read_text("utf-8")
    written(tmp_path, "coffee/task.toml", toml.replace("[fitness]", f"{program}\n\n[fitness]", 1))
    written(tmp_path, "coffee/curve.py", files["coffee/curve.py"][0])
    written(tmp_path, "coffee/seed.py", files["coffee/seed.py"][1])
    assert set(evolve.task.load(tmp_path / "coffee").seed.files) == {"seed.py", "curve.py"}
    for words in lines:
        run(tmp_path, *words)
    assert seed_of(tmp_path, "coffee") == pytest.approx(9.0)


@pytest.mark.slow
def test_a_judge_becomes_a_package(tmp_path: Path) -> None:
    """It is installed by pip, listed, and judges a task that has only numbers."""
    files = named_files(PACKAGE)
    for name in ("evolve_cooling/pyproject.toml", "evolve_cooling/evolve_cooling/__init__.py", "tea/task.toml"):
        written(tmp_path, name, files[name][0])
    for name in ("README.md", "seed.py"):
        written(tmp_path, f"tea/{name}", files[f"coffee/{name}"][0])
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    offline = ["--no-build-isolation", "--target", str(tmp_path / "site"), str(tmp_path / "evolve_cooling")]
    subprocess.run([*pip, *offline], check=True, capture_output=True, timeout=120)
    lines = [words for words in commands(PACKAGE) if "./coffee" not in words]
    assert lines[0] == ["plugin", "list"]
    said = [run(tmp_path, *words) for words in lines]
    assert "cooling" in said[0]
