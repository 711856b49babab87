"""A score is stored under the version of the files that it was computed with."""

from dataclasses import replace
from pathlib import Path

import pytest
from judge_fakes import small_task, written_task

from evolve.evaluation.provenance import check_version, task_version
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
