"""What a candidate left is removed, whatever it is; what it links to is not."""

import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from evolve.sandbox.inner.scratch import clear, remove, remove_tree

_DEEPER_THAN_PYTHON_RECURSES = 2000
_DESCRIPTORS = 200


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """The open folder of what is removed."""
    number = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield number
    os.close(number)


def test_folders_inside_one_another_are_removed_however_deep(tmp_path: Path, folder: int) -> None:
    """Deeper than Python recurses, than descriptors are open at a time, and than a path may be long."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(_DEEPER_THAN_PYTHON_RECURSES):
        os.mkdir("deeper", dir_fd=here)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    remove("deeper", folder)
    assert list(tmp_path.iterdir()) == []


def test_many_folders_beside_one_another_are_removed(tmp_path: Path, folder: int) -> None:
    """With what is in them, and no descriptor is left open."""
    before = os.open(os.devnull, os.O_RDONLY)
    os.close(before)
    for number in range(_DESCRIPTORS):
        (tmp_path / "wide" / str(number) / "inner").mkdir(parents=True)
        (tmp_path / "wide" / str(number) / "file").write_text("left")
    remove("wide", folder)
    after = os.open(os.devnull, os.O_RDONLY)
    os.close(after)
    assert (list(tmp_path.iterdir()), after) == ([], before)


@pytest.mark.parametrize("kind", ["file", "pipe", "link", "broken link", "link to itself"])
def test_what_is_no_folder_is_removed(tmp_path: Path, folder: int, kind: str) -> None:
    """A link is, and not what it leads to."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("kept")
    left = tmp_path / "left"
    if kind == "file":
        left.write_text("left")
    elif kind == "pipe":
        os.mkfifo(left)
    else:
        left.symlink_to({"link": tmp_path / "kept", "broken link": "nowhere", "link to itself": "left"}[kind])
    remove("left", folder)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == ["kept", "kept/file"]


def test_a_link_inside_a_folder_is_not_followed(tmp_path: Path, folder: int) -> None:
    """Nor is one in the place of a folder."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("kept")
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "link").symlink_to(tmp_path / "kept")
    remove("left", folder)
    assert (tmp_path / "kept" / "file").read_text() == "kept"
    assert not (tmp_path / "left").exists()


def test_a_folder_is_removed_by_its_path(tmp_path: Path) -> None:
    """With what is in it; where there is none, nothing happens."""
    (tmp_path / "left" / "inner").mkdir(parents=True)
    remove_tree(str(tmp_path / "left"))
    remove_tree(str(tmp_path / "left"))
    remove_tree(str(tmp_path / "no" / "such"))
    assert list(tmp_path.iterdir()) == []


def test_what_takes_too_long_is_left_for_another_time(tmp_path: Path, folder: int) -> None:
    """It goes on where it was; no descriptor is left open."""
    for number in range(_DESCRIPTORS):
        (tmp_path / "wide" / str(number)).mkdir(parents=True)
    ticks = iter(range(1000))
    before = os.listdir("/dev/fd")  # noqa: PTH208 names are wanted
    assert clear(folder, _DESCRIPTORS + 100, lambda: float(next(ticks))) is False
    assert 0 < len(list(tmp_path.rglob("*"))) < _DESCRIPTORS
    assert remove("wide", folder, 0.0) is False
    assert clear(folder) is True
    assert (list(tmp_path.iterdir()), os.listdir("/dev/fd")) == ([], before)  # noqa: PTH208


def test_many_long_names_take_no_memory(tmp_path: Path, folder: int) -> None:
    """Fewer than they come to together, be they of files or of folders."""
    (tmp_path / "left").mkdir()
    for number in range(4000):
        (tmp_path / "left" / f"{number:0250}").touch()
        if number % 8 == 0:
            (tmp_path / "left" / f"{number:0250}f" / "inner").mkdir(parents=True)
    tracemalloc.start()
    remove("left", folder)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert list(tmp_path.iterdir()) == []
    assert most < 400_000
