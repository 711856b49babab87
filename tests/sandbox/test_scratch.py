"""The folder between two sessions."""

import os
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evolve.sandbox.inner.scratch import Scratch, clear, remove, remove_tree


def leave_files(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "c.txt").write_text("left")


def leave_closed_folders(folder: Path) -> None:
    leave_files(folder)
    for closed in ("a/b", "a"):
        (folder / closed).chmod(0)


def leave_closed_folders_and_a_link(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent.parent)
    leave_closed_folders(folder)


def close_the_folder(folder: Path) -> None:
    folder.chmod(0)


def leave_a_neighbour(folder: Path) -> None:
    (folder.parent / "neighbour").write_text("left")


def take_the_folder_away(folder: Path) -> None:
    folder.rmdir()


def put_another_in_its_place(folder: Path) -> None:
    folder.rename(folder.parent / "moved")
    folder.mkdir(0o700)


def put_a_file_in_its_place(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("left")


@pytest.mark.parametrize(
    "leave",
    [
        leave_files,
        leave_closed_folders,
        close_the_folder,
        leave_a_neighbour,
        take_the_folder_away,
        put_another_in_its_place,
        put_a_file_in_its_place,
    ],
)
def test_whatever_was_left_the_folder_is_fresh(tmp_path: Path, leave: Callable[[Path], None]) -> None:
    """Empty, ours, with nothing beside it."""
    scratch = Scratch(str(tmp_path))
    leave(Path(scratch.path))
    scratch.renew()
    assert [(path.name, oct(path.stat().st_mode & 0o777)) for path in tmp_path.iterdir()] == [("scratch", "0o700")]
    assert list(Path(scratch.path).iterdir()) == []


@pytest.mark.parametrize("leave", [leave_closed_folders, close_the_folder, leave_closed_folders_and_a_link])
def test_an_ordinary_user_gets_rid_of_closed_folders(users_home: Path, leave: Callable[[Path], None]) -> None:
    """By taking the rights back first, and not those of what a link points to."""
    precious = users_home.parent
    mode = precious.stat().st_mode
    scratch = Scratch(str(users_home))
    leave(Path(scratch.path))
    scratch.renew()
    assert [path.name for path in users_home.iterdir()] == ["scratch"]
    assert list(Path(scratch.path).iterdir()) == []
    assert precious.stat().st_mode == mode


def test_an_untouched_folder_is_kept(tmp_path: Path) -> None:
    """Renewal costs nothing where nothing was left."""
    scratch = Scratch(str(tmp_path))
    before = Path(scratch.path).stat().st_ino, Path(scratch.path).stat().st_ctime_ns
    scratch.renew()
    assert (Path(scratch.path).stat().st_ino, Path(scratch.path).stat().st_ctime_ns) == before


def test_a_planted_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    """What it points to is untouched, wherever the link stands."""
    precious, home = tmp_path / "precious", tmp_path / "home"
    precious.mkdir()
    (precious / "file").write_text("kept")
    home.mkdir()
    scratch = Scratch(str(home))
    Path(scratch.path, "inner").symlink_to(precious)
    scratch.renew()
    shutil.rmtree(scratch.path)
    Path(scratch.path).symlink_to(precious)
    scratch.renew()
    assert (precious / "file").read_text() == "kept"
    assert not Path(scratch.path).is_symlink()


def test_the_folder_is_held_where_it_goes(tmp_path: Path) -> None:
    """Another folder under the old name of its home is left alone."""
    home = tmp_path / "home"
    home.mkdir()
    scratch = Scratch(str(home))
    leave_files(Path(scratch.path))
    home.rename(tmp_path / "moved")
    home.mkdir()
    (home / "scratch").mkdir()
    (home / "scratch" / "file").write_text("kept")
    scratch.renew()
    assert (home / "scratch" / "file").read_text() == "kept"
    assert list((tmp_path / "moved" / "scratch").iterdir()) == []


def test_what_is_not_renewed_in_time_is_told(tmp_path: Path) -> None:
    """The folder is not to be used any more then."""
    scratch = Scratch(str(tmp_path))
    leave_files(Path(scratch.path))
    assert scratch.renew(0.0) is False


def test_a_folder_that_cannot_be_renewed_is_told(users_home: Path) -> None:
    """As where its owner has closed the one that it lies in."""
    scratch = Scratch(str(users_home))
    leave_files(Path(scratch.path))
    users_home.chmod(0o500)
    assert scratch.renew() is False
    users_home.chmod(0o700)


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
