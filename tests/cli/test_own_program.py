"""A person's files as a program, for `evolve program judge`."""

from pathlib import Path

import pytest

from evolve.cli.program_evaluate import read_program
from evolve.types import ConfigError, EvaluatorSource, Program, Task


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("mine")
    (tmp_path / "folder" / "lib").mkdir(parents=True)
    for name in ("main.py", "lib/part.py", "lib/more.py", "notes.txt"):
        (tmp_path / "folder" / name).write_text(name)
    return tmp_path


def task(*files: str, **fields: object) -> Task:
    return Task(
        "made", "", "1", "Be.", Program(dict.fromkeys(files, "seed")), "main", EvaluatorSource("evaluator.py"), **fields
    )


def files(task: Task, *given: str) -> dict[str, str]:
    return dict(read_program(task, given).files)


def test_a_single_file_takes_the_place_of_a_single_file() -> None:
    """Whatever it is called."""
    assert files(task("seed.py"), "mine.py") == {"seed.py": "mine"}


def test_several_files_are_known_by_their_names() -> None:
    """What is not given is the seed's."""
    several = task("main.py", "lib/part.py")
    assert files(several, "folder/main.py") == {"main.py": "main.py", "lib/part.py": "seed"}
    assert files(several, "folder/lib/part.py", "folder/main.py") == {
        "main.py": "main.py",
        "lib/part.py": "lib/part.py",
    }


def test_a_folder_is_a_whole_program() -> None:
    """Of its files those that a program may have; new ones where the task allows them."""
    several = task("main.py", "lib/part.py", "lib/rest.py")
    assert files(several, "folder") == {"main.py": "main.py", "lib/part.py": "lib/part.py", "lib/rest.py": "seed"}
    allowed = task("main.py", new_files=("lib/*.py",))
    assert files(allowed, "folder") == {
        "main.py": "main.py",
        "lib/part.py": "lib/part.py",
        "lib/more.py": "lib/more.py",
    }


def test_of_a_task_in_one_file_the_blocks_are_taken(elsewhere: Path) -> None:
    """So a changed problem.py is judged as it stands."""
    block = "# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n"
    (elsewhere / "mine.py").write_text(f'"""Brief."""\n{block}y = 2\n')
    assert files(task("seed.py", one_file="problem.py"), "mine.py") == {"seed.py": block}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("gone.py", "folder/main.py"), "gone.py cannot be read: No such file or directory"),
        (("mine.py",), "it is not clear which of the program's files 'mine.py' is. Did you mean 'main.py'?"),
        (("empty",), "'empty' has none of the program's files. Do: name a folder with lib/part.py, main.py"),
    ],
)
def test_what_is_no_program_is_refused(elsewhere: Path, given: tuple[str, ...], message: str) -> None:
    """What, got, do this."""
    (elsewhere / "empty").mkdir()
    with pytest.raises(ConfigError) as caught:
        read_program(task("main.py", "lib/part.py"), given)
    assert message in str(caught.value)
    assert "Do: " in str(caught.value)
