"""Facts about where tasks lie."""

from pathlib import Path

import pytest

from evolve.task import folders
from evolve.task.folders import bundled, find
from evolve.types import TaskError

CHECKOUT = Path(__file__).parents[2]


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text("schema = 1\n")
    return folder


def test_the_tasks_of_the_checkout_are_bundled() -> None:
    """In a wheel they lie inside the package, in a checkout beside it."""
    assert "circle_packing" in bundled()
    assert find("circle_packing") == CHECKOUT / "tasks" / "circle_packing"


def test_a_wheel_holds_its_tasks_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tasks/` is shipped as `evolve/_bundled/tasks`."""
    shipped = made(tmp_path / "evolve" / "_bundled" / "tasks" / "shipped_one")
    monkeypatch.setattr(folders, "_PACKAGE", tmp_path / "evolve")
    assert (bundled(), find("shipped_one")) == (("shipped_one",), shipped)


def test_a_path_a_task_file_and_a_name_below_tasks_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All name the same folder."""
    folder = made(tmp_path / "tasks" / "mine")
    monkeypatch.chdir(tmp_path)
    for reference in (folder, "tasks/mine", "./tasks/mine", "tasks/mine/task.toml", "mine"):
        assert find(reference) == folder


def test_an_own_task_hides_a_bundled_one_and_a_stray_folder_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder counts only with a task file in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circle_packing").mkdir()
    assert find("circle_packing") == CHECKOUT / "tasks" / "circle_packing"
    mine = made(tmp_path / "tasks" / "circle_packing")
    assert find("circle_packing") == mine


def test_an_unknown_name_is_answered_with_what_could_be_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Own tasks are among the suggestions; with nothing near, all are listed."""
    monkeypatch.chdir(tmp_path)
    made(tmp_path / "tasks" / "sorting")
    with pytest.raises(TaskError, match=r"no task is called 'sortin'. Did you mean 'sorting'"):
        find("sortin")
    with pytest.raises(TaskError, match=r"no task is called 'xyz'. Known: .*circle_packing.*sorting"):
        find("xyz")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("empty", "the folder 'empty' has no task.toml and no problem.py. Do: write one"),
        (".", "the folder '.' has no task.toml and no problem.py"),
        ("file.txt", "a task is a folder with a task.toml, or one Python file, got the file 'file.txt'"),
        (
            "nowhere/at/all",
            "there is no task folder 'nowhere/at/all'. Do: check the path, or name one of cfr_variant, circle_packing",
        ),
        ("gone.py", "there is no file 'gone.py'. Do: check the path"),
        ("~nobody", "no task is called '~nobody'"),
    ],
)
def test_what_is_no_task_folder_is_refused(
    reference: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what is there instead."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("")
    with pytest.raises(TaskError) as caught:
        find(reference)
    assert message in str(caught.value)
