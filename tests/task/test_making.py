"""Facts about writing a task of one's own."""

from pathlib import Path

import pytest

from evolve.task import load, making
from evolve.types import TaskError


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", making.kinds())
def test_every_kind_is_a_task_that_loads(kind: str) -> None:
    """Below tasks/, under its name."""
    place = making.new("mine", kind)
    assert (place, load("mine").name) == (Path("tasks/mine"), "mine")
    assert "Do: " not in load("mine").brief


def test_the_kinds_are_those_of_the_command_line() -> None:
    """One folder each."""
    assert {"function", "one-file"} <= set(making.kinds())


def test_a_place_may_be_named(elsewhere: Path) -> None:
    """Also one whose folder is not there yet."""
    assert making.new("mine", "function", elsewhere / "a" / "b") == elsewhere / "a" / "b"
    assert making.files(elsewhere / "a" / "b") == ("README.md", "evaluator.py", "seed.py", "task.toml")


def test_a_copy_is_another_task_with_the_same_files() -> None:
    """Which decide the score: an untouched copy has the version of the original."""
    place = making.copy("circle_packing")
    assert place == Path("tasks/circle_packing")
    assert load(place).version == load(Path(making.__file__).parents[2] / "tasks" / "circle_packing").version
    assert making.copy("circle_packing", Path("mine")) == Path("mine")
    assert load("mine").name == "mine"


def test_a_task_in_one_file_is_copied_as_a_folder(elsewhere: Path) -> None:
    """With the file in it."""
    making.new("first", "one-file")
    (elsewhere / "tasks" / "first" / "problem.py").rename(elsewhere / "coffee.py")
    assert making.files(making.copy("coffee.py")) == ("problem.py",)
    assert load("coffee").path == str(elsewhere / "tasks" / "coffee" / "problem.py")


def test_what_is_no_part_of_a_task_is_not_copied(elsewhere: Path) -> None:
    """Caches, hidden files and campaigns."""
    place = making.new("mine", "function")
    for stray in ("__pycache__/x.pyc", ".git/HEAD", "archive/campaigns/mine.db"):
        (place / stray).parent.mkdir(parents=True, exist_ok=True)
        (place / stray).write_text("x")
    assert making.files(making.copy("mine", Path("other"))) == ("README.md", "evaluator.py", "seed.py", "task.toml")


def test_nothing_is_overwritten_and_nothing_half_written(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up leaves no folder behind."""
    making.new("mine", "function")
    with pytest.raises(TaskError, match=r"there is something at 'tasks/mine' already. Do: "):
        making.new("mine", "one-file")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    with pytest.raises(TaskError, match=r"cannot be written to 'tasks/other': No space left on device. Do: "):
        making.new("other", "function")
    assert [path.name for path in (elsewhere / "tasks").iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("name", "kind", "target", "message"),
    [
        ("a/b", "function", None, "a task's name is the name of its folder, got 'a/b'"),
        ("", "function", None, "a task's name is the name of its folder, got ''"),
        ("..", "function", None, "a task's name is the name of its folder"),
        ("mine", "funktion", None, "no kind of task is called 'funktion'. Did you mean 'function'?"),
        ("mine", "one-file", Path("mine.py"), "a task is written as a folder, got 'mine.py'"),
    ],
)
def test_what_cannot_be_meant_is_refused(name: str, kind: str, target: Path | None, message: str) -> None:
    """What, got, do this."""
    with pytest.raises(TaskError) as caught:
        making.new(name, kind, target)
    assert message in str(caught.value)
    assert "Do: " in str(caught.value)
