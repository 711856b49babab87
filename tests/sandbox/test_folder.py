"""A program's files and its context's, as they lie in the working folder."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evolve.sandbox.inner.folder import Missing, ProgramFolder, read_files


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
    assert ProgramFolder({"a.h": "theirs", "a.c": "x"}, {"a.h": "ours"}).files == {"a.c": "x", "a.h": "ours"}


@pytest.mark.parametrize("name", ["a.h", "./a.h", ".//a.h"])
def test_the_context_wins_in_the_folder_however_a_file_is_named(here: Path, name: str) -> None:
    """A program that names the same place otherwise has nothing of it."""
    ProgramFolder({name: "theirs"}, {"a.h": "ours"}).write(modules=True)
    assert found(here) == {"a.h": "ours"}


def test_modules_are_written_when_they_are_needed(here: Path) -> None:
    """And what was written before is left as it is now."""
    folder = ProgramFolder({"part/b.py": "1", "data/x.txt": "größe"}, {"c.py": "2"})
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
        ProgramFolder(program, {"include/a.h": ""}).write(modules=True)


def test_what_was_built_goes_before_the_programs_files_and_the_contexts(here: Path) -> None:
    """However they are named, and it may be run."""
    folder = ProgramFolder({"kernel.so": "theirs", "./a.txt": "theirs", "b.txt": "theirs"}, {"b.txt": "the context's"})
    folder.place({"kernel.so": b"\x7fELF", "a.txt": b"built", "b.txt": b"built", "out/c": b""})
    folder.write(modules=True)
    assert (here / "kernel.so").read_bytes() == b"\x7fELF"
    assert [(here / name).read_text() for name in ("a.txt", "b.txt", "out/c")] == ["built", "built", ""]
    assert os.access(here / "kernel.so", os.X_OK)


def test_a_text_that_was_built_can_be_read_and_others_not() -> None:
    """As the source of a module."""
    folder = ProgramFolder({"a.py": "theirs"}, {})
    folder.place({"a.py": "größe".encode(), "b.py": b"\xff"})
    assert [folder.text(name) for name in ("a.py", "none.py")] == ["größe", ""]
    with pytest.raises(Missing, match=r"the file 'b\.py' is no text"):
        folder.text("b.py")


def test_files_are_kept_as_bytes(here: Path) -> None:
    """From the folder and from folders in it, up to the limit for all together."""
    (here / "out").mkdir()
    (here / "a.so").write_bytes(b"\0\xff")
    (here / "out" / "b").write_bytes(b"xyz")
    assert read_files(["a.so", "out/b", "./a.so"], 7) == {"a.so": b"\0\xff", "out/b": b"xyz", "./a.so": b"\0\xff"}
    with pytest.raises(Missing, match="the file 'out/b' cannot be kept: that would be too many bytes"):
        read_files(["a.so", "out/b"], 4)
    assert read_files(["none", "a.so", "none/b"], 4, absent_ok=True) == {"a.so": b"\0\xff"}


def _linked_folder(here: Path) -> None:
    (here / "real").mkdir()
    (here / "real" / "x").write_text("secret")
    (here / "linked").symlink_to("real")


@pytest.mark.parametrize(
    ("make", "name", "why"),
    [
        (lambda here: None, "x", "No such file or directory"),
        (lambda here: (here / "x").symlink_to("/etc/hostname"), "x", "Too many levels of symbolic links"),
        (_linked_folder, "linked/x", "Not a directory"),
        (lambda here: (here / "x").mkdir(), "x", "it is no ordinary file"),
        (lambda here: os.mkfifo(here / "x"), "x", "it is no ordinary file"),
        (lambda here: (here / "x").symlink_to("/dev/zero"), "x", "Too many levels of symbolic links"),
        (lambda here: None, "x/y", "No such file or directory"),
    ],
    ids=["missing", "link", "linked folder", "folder", "pipe", "device", "in no folder"],
)
def test_only_ordinary_files_within_the_folder_are_kept(
    here: Path, make: Callable[[Path], object], name: str, why: str
) -> None:
    """No link is followed, nothing is waited for, and no descriptor is left."""
    make(here)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    with pytest.raises(Missing, match=f"the file '{name}' cannot be kept: {why}"):
        read_files([name], 100)
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208
