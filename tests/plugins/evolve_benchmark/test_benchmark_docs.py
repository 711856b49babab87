"""The page about the plugin says what its settings say, and its example runs."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evolve_benchmark
from evolve_benchmark.problem import FUNCTIONS
from evolve_benchmark.settings import BenchmarkSettings

PAGE = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text("utf-8")
PUBLIC = {"evolve", "evolve.hookspecs", "evolve.protocols", "evolve.types"}


def rows() -> list[str]:
    """The table of settings, as it must read."""
    return [
        f"| `{name}` | {'required' if field.is_required() else f'`{json.dumps(field.default)}`' if field.default is not None else 'none'} | {field.description} |"
        for name, field in BenchmarkSettings.model_fields.items()
    ]


def test_every_setting_has_its_row():
    """With its default and what it means, and nothing else has one."""
    table = PAGE.partition("| setting | default | |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == rows()


def test_every_function_of_a_module_has_its_row():
    """With its arguments, and no other has one."""
    told = re.findall(r"^\| `(\w+)(\([^)]*\))` \|", PAGE, re.MULTILINE)
    assert dict(told) == FUNCTIONS


def test_the_plugin_imports_what_is_public_and_nothing_else():
    """As a third party's would."""
    folder = Path(evolve_benchmark.__file__).parent
    names = {
        node.module
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert {name for name in names if name.partition(".")[0] == "evolve"} <= PUBLIC


@pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
def test_the_task_of_the_page_runs_on_the_first_try(tmp_path):
    """Programs are judged, and the best has a table."""
    (tmp_path / "split").mkdir()
    for name, content in re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / "split" / name).write_text(content, "utf-8")

    def cli(*words: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "evolve", *words],
            cwd=tmp_path,
            env={**os.environ, "EVOLVE_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    cli("run", "./split", "--budget", "10programs", "--json")
    assert "| instance | score | value | reference | |" in cli("program", "show", "best", "--feedback")
