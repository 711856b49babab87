"""Facts about the task in an export."""

from pathlib import Path

import pytest
from exported_here import Found, task_at

import evolve.task
from evolve.types import ConfigError
from evolve_publish.task_files import folder_name, is_timed, load_exported_task, place_of_task, task_files


def test_hidden_and_compiled_files_stay_behind(tmp_path):
    task = task_at(tmp_path)
    for name in (".env", "__pycache__/evaluator.cpython-311.pyc", "archive/campaigns/x.db"):
        (tmp_path / "number" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "number" / name).write_text("mine")
    assert sorted(path.rpartition("/")[2] for path in task_files(task)) == [
        "README.md",
        "brief.md",
        "evaluator.py",
        "seed.py",
        "table.bin",
        "task.toml",
    ]


def test_a_task_that_is_one_file_is_that_file(tmp_path):
    file = tmp_path / "wave.py"
    (tmp_path / "other.txt").write_text("mine")
    file.write_text(ONE_FILE)
    task = evolve.task.load(file)
    assert place_of_task(task)[1].endswith("/wave.py")
    assert list(task_files(task)) == [place_of_task(task)[1]]


ONE_FILE = '''"""Find a number."""

# /// evolve
# schema = 1
# deterministic = true
# ///

from evolve import Candidate, Evaluation, Trial, evaluator

# EVOLVE-BLOCK-START
def value():
    return 5.0
# EVOLVE-BLOCK-END


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return Evaluation.ok(candidate.call("value"))
'''


def test_what_is_laid_down_is_the_same_version_and_gone_afterwards(tmp_path):
    made = Found(tmp_path).export()
    with load_exported_task(made.contents, made.claims.task) as task:
        assert task.version == made.claims.task.version
        folder = task.folder
        assert str(tmp_path) not in folder
    with pytest.raises(ConfigError, match="the export has no task"), load_exported_task({}, made.claims.task):
        pass
    assert not Path(folder).exists()


@pytest.mark.parametrize(("name", "folder"), [("softmax", "softmax"), ("softmax/triton", "softmax.triton")])
def test_programs_of_a_task_have_one_folder(name, folder):
    assert folder_name(name) == folder
    assert folder_name("../x").startswith("task-")


def test_seconds_decide_a_ratio_of_times_alone(tmp_path):
    assert is_timed(task_at(tmp_path / "a", deterministic=False, timed=True))
    assert not is_timed(task_at(tmp_path / "b"))
