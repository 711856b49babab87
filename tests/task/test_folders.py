"""Facts about where tasks lie, and about writing a task of one's own."""

from pathlib import Path

import pytest

from evolve.task import folders, load
from evolve.task.folders import find, list_bundled
from evolve.types import TaskError

CHECKOUT = Path(__file__).parents[2]


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text("schema = 1\n")
    return folder


def test_the_tasks_of_the_checkout_are_bundled() -> None:
    """In a wheel they lie inside the package, in a checkout beside it."""
    assert "circle_packing" in list_bundled()
    assert find("circle_packing") == CHECKOUT / "tasks" / "circle_packing"


def test_a_wheel_holds_its_tasks_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tasks/` is shipped as `evolve/_bundled/tasks`."""
    shipped = made(tmp_path / "evolve" / "_bundled" / "tasks" / "shipped_one")
    monkeypatch.setattr(folders, "_PACKAGE", tmp_path / "evolve")
    assert (list_bundled(), find("shipped_one")) == (("shipped_one",), shipped)


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
        ("empty", "the folder 'empty' has no task.toml and no problem.py. Try: write one"),
        (".", "the folder '.' has no task.toml and no problem.py"),
        ("file.txt", "a task is a folder with a task.toml, or one Python file, got the file 'file.txt'"),
        (
            "nowhere/at/all",
            "there is no task folder 'nowhere/at/all'. Try: check the path, or name one of cache_policy, cfr_variant, circle_packing",
        ),
        ("gone.py", "there is no file 'gone.py'. Try: check the path"),
        ("fil.py", "there is no file 'fil.py'. Did you mean 'file.py'? Try: check the path"),
        ("./mien", "there is no task folder './mien'. Did you mean 'mine'?"),
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
    (tmp_path / "file.py").write_text("")
    made(tmp_path / "mine")
    with pytest.raises(TaskError) as caught:
        find(reference)
    assert message in str(caught.value)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", folders.starter_kinds())
def test_every_kind_is_a_task_that_loads(kind: str) -> None:
    """Below tasks/, under its name."""
    place = folders.create("mine", kind)
    assert (place, load("mine").name) == (Path("tasks/mine"), "mine")
    assert "Try: " not in load("mine").brief


def test_the_kinds_are_those_of_the_command_line() -> None:
    """One folder each."""
    assert {"function", "one-file"} <= set(folders.starter_kinds())


def test_a_place_may_be_named(elsewhere: Path) -> None:
    """Also one whose folder is not there yet."""
    assert folders.create("mine", "function", elsewhere / "a" / "b") == elsewhere / "a" / "b"
    assert folders.list_files(elsewhere / "a" / "b") == ("README.md", "evaluator.py", "seed.py", "task.toml")


def test_a_copy_is_another_task_with_the_same_files() -> None:
    """Which decide the score: an untouched copy has the version of the original."""
    place = folders.copy("circle_packing")
    assert place == Path("tasks/circle_packing")
    assert load(place).version == load(Path(folders.__file__).parents[2] / "tasks" / "circle_packing").version
    assert folders.copy("circle_packing", Path("mine")) == Path("mine")
    assert load("mine").name == "mine"


def test_a_task_in_one_file_is_copied_as_a_folder(elsewhere: Path) -> None:
    """With the file in it."""
    folders.create("first", "one-file")
    (elsewhere / "tasks" / "first" / "problem.py").rename(elsewhere / "coffee.py")
    assert folders.list_files(folders.copy("coffee.py")) == ("problem.py",)
    assert load("coffee").path == str(elsewhere / "tasks" / "coffee" / "problem.py")


def test_what_is_no_part_of_a_task_is_not_copied(elsewhere: Path) -> None:
    """Caches, hidden files and campaigns."""
    place = folders.create("mine", "function")
    for stray in ("__pycache__/x.pyc", ".git/HEAD", "archive/campaigns/mine.db"):
        (place / stray).parent.mkdir(parents=True, exist_ok=True)
        (place / stray).write_text("x")
    assert folders.list_files(folders.copy("mine", Path("other"))) == (
        "README.md",
        "evaluator.py",
        "seed.py",
        "task.toml",
    )


def test_nothing_is_overwritten_and_nothing_half_written(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up leaves no folder behind."""
    folders.create("mine", "function")
    with pytest.raises(TaskError, match=r"there is something at 'tasks/mine' already. Try: "):
        folders.create("mine", "one-file")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    with pytest.raises(TaskError, match=r"cannot be written to 'tasks/other': No space left on device. Try: "):
        folders.create("other", "function")
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
        folders.create(name, kind, target)
    assert message in str(caught.value)
    assert "Try: " in str(caught.value)
