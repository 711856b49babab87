"""The page about the plugin says what its settings say, and its example runs."""

import json
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.task import load
from evolve.types import Outcome, Parameters, Task, TextId, Trial
from evolve_benchmark.problem import OPTIONAL, REQUIRED
from evolve_benchmark.settings import BenchmarkSettings
from tests.pages import read_chapter

pytestmark = pytest.mark.integration

PAGE = read_chapter("evaluators", "Benchmarks")
SORTED = """
import numpy as np


def solve(numbers, gap):
    ordered = np.sort(numbers)
    return int(np.sum(np.searchsorted(ordered, ordered + gap, side="right") - np.arange(1, len(ordered) + 1)))
"""


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
    assert dict(told) == {**REQUIRED, **OPTIONAL}


def example(heading: str, folder: Path) -> Task:
    """The task whose files stand below a heading of the page."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    files = re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in files] == ["README.md", "seed.py", "problem.py", "task.toml"]
    for name, content in files:
        (folder / name).write_text(content, "utf-8")
    return load(folder)


def reports(task: Task, *sources: str) -> list[Report]:
    """What becomes of programs in one judge."""
    with closing(LocalExecutor(task, 1)) as executor:
        jobs = [
            Job(f"1.{place}", "evaluate", Trial(parameters=Parameters(task.parameters)), {"seed.py": source})
            for place, source in enumerate(sources)
        ]
        return [decode_report(executor.submit(job.id, encode_job(job)).result(60)) for job in jobs]


@pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
def test_the_task_of_the_page_can_be_judged(tmp_path):
    """Its seed, which has no sense of order yet, and what the search makes of it."""
    task = example("A complete benchmark", tmp_path)
    seed = task.seed.files["seed.py"]
    one, better = reports(task, seed, seed.replace("0.0 * numbers", "-1.0 * numbers"))
    assert (one.evaluation.outcome, better.evaluation.outcome) == (Outcome.OK, Outcome.OK)
    assert one.evaluation.fitness < better.evaluation.fitness < 1.0
    assert "| instance | score | value | reference | |" in one.texts[TextId(one.evaluation.feedback)]


@pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
def test_the_speed_of_the_page_can_be_measured(tmp_path):
    """A program that sorts is many times as fast as one that compares all pairs; the answer must be right."""
    task = example("A complete benchmark of speed", tmp_path)
    fast, wrong = reports(task, SORTED, SORTED.replace("gap, side", "gap / 2, side"))
    assert fast.evaluation.outcome is Outcome.OK
    assert fast.evaluation.fitness > 1.0
    assert "| instances | times as fast |" in fast.texts[TextId(fast.evaluation.feedback)]
    assert wrong.evaluation.outcome is Outcome.INVALID
