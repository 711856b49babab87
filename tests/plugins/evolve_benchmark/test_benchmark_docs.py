"""The page about the plugin says what its settings say, and its example runs."""

import json
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

from evolve.judge import Job, LocalExecutor, decode_report, encode_job
from evolve.task import load
from evolve.types import Outcome, Parameters, TextId, Trial
from evolve_benchmark.problem import FUNCTIONS
from evolve_benchmark.settings import BenchmarkSettings

PAGE = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text("utf-8")


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


@pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
def test_the_task_of_the_page_can_be_judged(tmp_path):
    """Its seed, which has no sense of order yet, and what the search makes of it."""
    for name, content in re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(content, "utf-8")
    task = load(tmp_path)
    seed = task.seed.files["seed.py"]
    largest_first = seed.replace("0.0 * numbers", "-1.0 * numbers")
    with closing(LocalExecutor(task, 1)) as executor:
        jobs = [
            Job("1.0", "evaluate", Trial(parameters=Parameters(task.parameters)), {"seed.py": source})
            for source in (seed, largest_first)
        ]
        one, better = (decode_report(executor.submit(job.id, encode_job(job)).result(60)) for job in jobs)
    assert (one.evaluation.outcome, better.evaluation.outcome) == (Outcome.OK, Outcome.OK)
    assert one.evaluation.fitness < better.evaluation.fitness < 1.0
    assert "| instance | score | value | reference | |" in one.texts[TextId(one.evaluation.feedback)]
