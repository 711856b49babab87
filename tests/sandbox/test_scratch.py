"""The folder between two sessions."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evolve.sandbox.inner.scratch import Scratch


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
