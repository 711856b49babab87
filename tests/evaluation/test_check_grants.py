"""Whether what a task grants can be given here, and may be."""

from dataclasses import replace
from pathlib import Path

import pytest

import evolve
from evolve.devices.inventory import Gpu
from evolve.evaluation import LocalExecutor
from evolve.evaluation.executor import check_grants
from evolve.types import EvaluatorSource, Grants, Limits, Program, Task, TaskError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A task's folder with data, its evaluator and a folder that somebody may not have."""
    for name in ("data", "judging"):
        (tmp_path / "task" / name).mkdir(parents=True)
    (tmp_path / "task" / "judging" / "evaluator.py").write_text("")
    (tmp_path / "task" / "numbers.txt").write_text("")
    return tmp_path / "task"


def task(folder: Path, **grants: object) -> Task:
    """A task there that grants this."""
    made = Task("number", str(folder), "0" * 64, "", Program({}), "seed", EvaluatorSource(path="judging/evaluator.py"))
    return replace(made, limits=Limits(grants=Grants(**grants)))


def why(found: Task, *hidden: Path) -> str:
    """The reason of a refusal, with a remedy."""
    with pytest.raises(TaskError, match=r"^task 'number' .*\. Try: ") as caught:
        check_grants(found, list(map(str, hidden)))
    return str(caught.value)


def test_what_is_there_may_be_granted(folder: Path) -> None:
    """And nothing, too."""
    check_grants(task(folder))
    check_grants(task(folder, read=(str(folder / "data"),)))


def test_what_is_not_there_is_named(folder: Path) -> None:
    """With what it is instead."""
    gone = str(folder / "gone")
    assert f"lets its programs read {gone!r} (sandbox.read), which is no folder that is there. Try: " in why(
        task(folder, read=(gone,))
    )
    assert "is no folder that is there" in why(task(folder, read=(str(folder / "numbers.txt"),)))


def test_what_judges_is_never_opened(folder: Path) -> None:
    """Neither its folder, nor one around it, nor by a link."""
    (folder / "data" / "link").symlink_to(folder / "judging")
    for place in (folder / "judging", folder, folder.parent, folder / "data" / "link"):
        assert "holds the task's evaluator" in why(task(folder, read=(str(place),)))


@pytest.mark.parametrize(
    "changes",
    [
        {"one_file": "problem.py", "evaluator": EvaluatorSource(path="problem.py")},
        {"evaluator": EvaluatorSource(plugin="kernel")},
    ],
)
def test_the_folder_of_any_task_stays_closed(folder: Path, changes: dict[str, object]) -> None:
    """Also of one in one file, and of one that a plugin judges; a folder in it may be opened."""
    assert "holds the task's evaluator" in why(replace(task(folder, read=(str(folder),)), **changes))
    check_grants(replace(task(folder, read=(str(folder / "judging"),)), **changes))


def test_homes_and_shared_folders_are_never_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in one may be."""
    monkeypatch.setenv("HOME", str(folder / "data"))
    for place in ("/", "/tmp", str(folder / "data")):
        assert "is somebody's home, or shared by the whole system" in why(task(folder, read=(place,)))


def test_the_engine_is_never_opened(folder: Path) -> None:
    """Nor a part of it; but data of a task that comes with it may be."""
    package = Path(evolve.__file__).parent
    for place in (package, package.parent, package / "evaluation"):
        assert "holds the engine, or is part of it" in why(task(folder, read=(str(place),)))
    inside = task(package / "task", read=(str(package / "task" / "starters"),))
    check_grants(replace(inside, evaluator=EvaluatorSource(path="evaluator.py")))


def test_logs_are_never_opened(folder: Path, tmp_path: Path) -> None:
    """Neither a folder around them, nor one among them, nor by a link, there yet or not; one beside them may be."""
    for name in ("data/archive/more", "data/sets"):
        (folder / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder / "data")
    logs = tmp_path / "link" / "archive"
    for place in (folder / "data", logs, logs / "more", tmp_path / "link"):
        assert f"holds logs of campaigns, or lies among them ({logs})" in why(task(folder, read=(str(place),)), logs)
    later = folder / "data" / "sets" / "archive"
    assert f"({later})" in why(task(folder, read=(str(folder / "data" / "sets"),)), logs, later)
    check_grants(task(folder, read=(str(folder / "data" / "sets"),)), [str(logs)])


def test_a_gpu_that_may_not_be_leased_is_one_clear_error(folder: Path) -> None:
    """Before anything is evaluated."""
    assert "gives its programs a GPU (sandbox.gpu), and none may be leased here" in why(task(folder, gpu=1))
    check_grants(task(folder, gpu=1), gpus=[Gpu(0, "GPU-a", "H100")])


def test_the_executor_refuses_at_its_start(folder: Path) -> None:
    """No process is started."""
    with pytest.raises(TaskError, match="is no folder that is there"):
        LocalExecutor(task(folder, read=(str(folder / "gone"),)), 1)
    with pytest.raises(TaskError, match="which holds logs of campaigns"):
        LocalExecutor(task(folder, read=(str(folder / "data"),)), 1, hidden=(str(folder / "data"),))
