"""A program's files and its context's, as they lie in the working folder."""

from pathlib import Path

import pytest

from evolve.sandbox.folder import Folder, Missing


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(folder: Path) -> dict[str, str]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_context_wins_over_the_program() -> None:
    """In what is imported."""
    assert Folder({"a.h": "theirs", "a.c": "x"}, {"a.h": "ours"}).files == {"a.c": "x", "a.h": "ours"}


@pytest.mark.parametrize("name", ["a.h", "./a.h", ".//a.h"])
def test_the_context_wins_in_the_folder_however_a_file_is_named(here: Path, name: str) -> None:
    """A program that names the same place otherwise has nothing of it."""
    Folder({name: "theirs"}, {"a.h": "ours"}).write(modules=True)
    assert found(here) == {"a.h": "ours"}


def test_modules_are_written_when_they_are_needed(here: Path) -> None:
    """And what was written before is left as it is now."""
    folder = Folder({"part/b.py": "1", "data/x.txt": "größe"}, {"c.py": "2"})
    folder.write(modules=False)
    assert found(here) == {"data/x.txt": "größe"}
    (here / "data" / "x.txt").write_text("changed")
    folder.write(modules=True)
    assert found(here) == {"part/b.py": "1", "data/x.txt": "changed", "c.py": "2"}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ({"/elsewhere.txt": ""}, "leads out of the program's folder"),
        ({"../elsewhere.txt": ""}, "leads out of the program's folder"),
        ({"include": ""}, "'include/a.h' cannot lie beside the others: a name is that of a file and of a folder"),
        ({"include/a.h/b.h": ""}, "'include/a.h' cannot lie beside the others"),
        ({"include/a.h/..": ""}, "leads out"),
    ],
)
def test_a_program_whose_files_cannot_lie_there_is_refused(program: dict[str, str], message: str) -> None:
    """It is the program that is at fault: the task's own files can."""
    with pytest.raises(Missing, match=message):
        Folder(program, {"include/a.h": ""}).write(modules=True)
