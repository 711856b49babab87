"""The page about kernels says what the settings say, and its example is evaluated."""

import json
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest
from kernel_problems import needs_compiler, needs_linux

from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.task import load
from evolve.types import Outcome, Parameters, TextId, Trial
from evolve_kernel.compiled import FLAGS
from evolve_kernel.problem import FUNCTIONS
from evolve_kernel.problem import load as load_problem
from evolve_kernel.settings import KernelSettings
from tests.pages import read_chapter

PAGE = read_chapter("evaluators", "Kernels")
FILES = dict(re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def rows() -> list[str]:
    """The table of settings, as it must read."""
    return [
        f"| `{name}` | {'required' if field.is_required() else f'`{json.dumps(field.default)}`'} | {field.description} |"
        for name, field in KernelSettings.model_fields.items()
    ]


def test_every_setting_has_its_row() -> None:
    """With its default and what it means, and nothing else has one."""
    table = PAGE.partition("## Settings of a kernel task\n\n| setting | default | |\n|---|---|---|\n")[2].partition(
        "\n\n"
    )[0]
    assert table.splitlines() == rows()


def test_every_function_of_a_module_has_its_row() -> None:
    """With its arguments, and no other has one."""
    told = re.findall(r"^\| `(\w+)(\([^)]*\))` \|", PAGE.partition("## The module of a kernel task")[2], re.MULTILINE)
    assert dict(told) == FUNCTIONS


def test_the_flags_of_the_page_are_the_evaluators() -> None:
    """A program that is written for others would be slower."""
    told = re.search(r"The evaluator compiles with `([^`]*)`", PAGE)
    assert told is not None
    assert set(told[1].split()) <= set(FLAGS)


@pytest.mark.integration
@needs_compiler
@needs_linux
def test_the_task_of_the_page_can_be_evaluated(tmp_path: Path) -> None:
    """Its seed, and what the search makes of it."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, "utf-8")
    task = load(tmp_path)
    seed = task.seed.files["differences.c"]
    with closing(LocalExecutor(task, 1)) as executor:
        jobs = [
            Job("1.0", "evaluate", Trial(parameters=Parameters(task.parameters), limit=60.0), {"differences.c": source})
            for source in (seed, seed.replace("1 << 2", "1 << 4"), seed.replace("out[r] = sum;", "out[r] = 2000;"))
        ]
        found = [decode_report(executor.submit(job.id, encode_job(job)).result(90)) for job in jobs]
    assert [one.evaluation.outcome for one in found] == [Outcome.OK, Outcome.OK, Outcome.WRONG]
    assert "| rows 500, columns 4000 |" in found[1].texts[TextId(found[1].evaluation.feedback)]


def test_the_held_out_shapes_of_the_page_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other parameters, other shapes."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "problem.py").write_text(FILES["problem.py"])
    problem = load_problem(tmp_path, "problem.py")
    first, *_ = problem.shapes(Parameters(shapes="prime"))
    assert first == {"rows": 1009, "columns": 1999}
