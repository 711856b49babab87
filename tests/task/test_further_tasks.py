"""Facts about further task files of a folder: `softmax/triton` is the file `triton.toml` beside the `task.toml` of `softmax`."""

from pathlib import Path

import pytest

from evolve.campaign.workspace import new_path
from evolve.evaluation.provenance import check_version
from evolve.task import find, folders, list_bundled, load, name_of
from evolve.task.folders import list_own
from evolve.types import TaskError

FILES = {
    "task.toml": "schema = 1\n",
    "triton.toml": 'schema = 1\nprogram = { files = ["triton.py"], entry = "triton" }\n',
    "search.toml": 'schema = 1\ntask = "softmax"\n',
    "data.toml": "[a]\nschema_version = 2\n",
    "not a name.toml": "schema = 1\n",
    "README.md": "Be fast.\n",
    "seed.py": "x = 1\n",
    "triton.py": "y = 1\n",
    "evaluator.py": "",
}


def written(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`tasks/softmax` below the current folder."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "tasks" / "softmax")


def test_a_further_task_is_found_by_its_name_and_by_its_path(folder: Path) -> None:
    """With and without its suffix, from anywhere."""
    for reference in ("softmax/triton", "tasks/softmax/triton", "./tasks/softmax/triton.toml", folder / "triton.toml"):
        assert find(reference) == folder / "triton.toml"
    assert find("softmax") == find(folder / "task.toml") == folder
    assert name_of(find("softmax/triton")) == "softmax/triton"


def test_it_is_found_from_within_its_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And still called by both."""
    monkeypatch.chdir(folder)
    assert (find("triton"), load("triton").name, load(".").name) == (
        folder / "triton.toml",
        "softmax/triton",
        "softmax",
    )


def test_it_is_listed_beside_the_folder_s_own_task(folder: Path) -> None:
    """A campaign's file, another TOML file and one that cannot be a name are no tasks."""
    assert list_own() == (folder, folder / "triton.toml")


def test_a_wheel_holds_further_tasks_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by their names alone."""
    shipped = written(tmp_path / "evolve" / "_bundled" / "tasks" / "softmax")
    monkeypatch.setattr(folders, "_PACKAGE", tmp_path / "evolve")
    assert list_bundled() == ("softmax", "softmax/triton")
    assert find("softmax/triton") == shipped / "triton.toml"
    assert folders.is_bundled(Path(load("softmax/triton").folder))


def test_it_is_a_task_of_its_own(folder: Path) -> None:
    """With its own seed, in the same folder; what names it leads to it again."""
    first, second = load("softmax"), load("softmax/triton")
    assert (set(first.seed.files), set(second.seed.files)) == ({"seed.py"}, {"triton.py"})
    assert (second.folder, second.path, second.entry) == (str(folder), str(folder / "triton.toml"), "triton")
    assert load(second.path) == second
    assert (first.task_file, second.task_file) == ("", "triton.toml")


def test_its_version_is_its_own_and_covers_the_files_of_the_folder(folder: Path) -> None:
    """A change of any of them is another version of both, as nobody knows which of them a task reads."""
    before = load("softmax"), load("softmax/triton")
    assert before[0].version != before[1].version
    for task in before:
        check_version(task)
    (folder / "triton.py").write_text("y = 2\n")
    for task in before:
        assert load(task.path).version != task.version
        with pytest.raises(TaskError, match="has changed since the campaign began"):
            check_version(task)


def test_its_errors_name_its_own_file(folder: Path) -> None:
    """Not the task file beside it."""
    (folder / "triton.toml").write_text('schema = 1\nprogram = { files = ["tritton.py"], entry = "" }\n')
    with pytest.raises(TaskError) as caught:
        load("softmax/triton")
    assert str(caught.value).startswith(
        f"{folder / 'triton.toml'}: program.files: there is no file 'tritton.py'. Did you mean 'triton.py'?"
    )
    (folder / "triton.toml").write_text("schema = 1\nfoo = 2\n")
    with pytest.raises(TaskError, match=r"triton.toml: unknown key 'foo'"):
        load("softmax/triton")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("softmax/trition", "no task is called 'softmax/trition'. Did you mean 'softmax/triton'? Try: "),
        ("sofmax/triton", "no task is called 'sofmax/triton'. Did you mean 'softmax/triton'? Try: `evolve task list`"),
        ("tasks/softmax/search.toml", "Try: name the folder; a further task of a folder is a file of"),
        ("softmax/task", "no task is called 'softmax/task'."),
        ("softmax/search", "no task is called 'softmax/search'."),
    ],
)
def test_what_is_no_further_task_is_refused(reference: str, message: str, folder: Path) -> None:
    """With what could be meant."""
    with pytest.raises(TaskError) as caught:
        find(reference)
    assert message in str(caught.value)


def test_a_task_file_without_a_folder_s_own_task_is_none(folder: Path) -> None:
    """It lies beside a `task.toml`, or it is not looked at."""
    (folder / "task.toml").unlink()
    assert list_own() == ()
    with pytest.raises(TaskError, match="no task is called 'softmax/triton'"):
        find("softmax/triton")


def test_a_copy_has_all_tasks_of_the_folder(folder: Path) -> None:
    """And `run` wants the one that was named."""
    place = folders.copy("softmax/triton", Path("mine"))
    assert place == Path("mine/triton.toml")
    assert folders.list_files(place) == tuple(sorted(FILES))
    assert load(place).name == "mine/triton"


def test_a_campaign_on_it_has_a_name_that_is_a_file_s(tmp_path: Path) -> None:
    """The slash becomes a dash."""
    assert new_path(tmp_path, "softmax/triton", None) == tmp_path / "archive" / "campaigns" / "softmax-triton.db"
