"""Facts about files and folders that appear whole."""

import os
import tempfile
from pathlib import Path

import pytest

from evolve.atomic_write import atomic_write


def test_a_file_is_there_at_the_end_and_not_before(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "told.txt") as made:
        made.write_text("whole")
        assert not (tmp_path / "told.txt").exists()
    assert _files(tmp_path) == {"told.txt": "whole"}


def test_a_folder_is_there_at_the_end_and_not_before(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "told") as made:
        (made / "below").mkdir(parents=True)
        (made / "below" / "a.txt").write_text("whole")
        assert not (tmp_path / "told").exists()
    assert _files(tmp_path) == {"told/below/a.txt": "whole"}


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_midway_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    """Whatever it is: of a program that writes, or of a person who has waited enough."""

    def fail(made: Path) -> None:
        made.mkdir()
        (made / "a.txt").write_text("half")
        raise failure

    with pytest.raises(failure), atomic_write(tmp_path / "told") as made:
        fail(made)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["file", "folder", "link"])
def test_what_is_there_is_refused_and_stays(tmp_path: Path, there: str) -> None:
    """Also what came while the new one was made, and a link that leads nowhere."""
    target = tmp_path / "told"
    come = {"file": target.touch, "folder": target.mkdir, "link": lambda: target.symlink_to("nowhere")}[there]
    with pytest.raises(FileExistsError, match="told"), atomic_write(target) as made:
        _ = made.touch(), come()
    assert [each.name for each in tmp_path.iterdir()] == ["told"]
    assert [target.is_file(), target.is_dir(), target.is_symlink()] == [
        there == kind for kind in ("file", "folder", "link")
    ]


def test_a_file_and_a_folder_are_replaced_where_that_is_meant(tmp_path: Path) -> None:
    """Nothing of a former folder is left."""
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "told").mkdir()
    (tmp_path / "told" / "old.txt").write_text("old")
    with atomic_write(tmp_path / "a.txt", replace=True) as made:
        made.write_text("new")
    with atomic_write(tmp_path / "told", replace=True) as made:
        made.mkdir()
        (made / "new.txt").write_text("new")
    assert _files(tmp_path) == {"a.txt": "new", "told/new.txt": "new"}


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_replaces_what_is_of_another_kind(tmp_path: Path, kind: str) -> None:
    """A folder that a file should replace keeps all that is in it."""
    target = tmp_path / "told"
    if kind == "file":
        target.write_text("old")
    else:
        target.mkdir()
        (target / "old.txt").write_text("old")
    before = _files(tmp_path)
    with pytest.raises(OSError, match="irectory"), atomic_write(target, replace=True) as made:
        made.mkdir() if kind == "file" else made.write_text("new")
    assert _files(tmp_path) == before


def test_a_link_is_replaced_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "link").symlink_to("mine.txt")
    with atomic_write(tmp_path / "link", replace=True) as made:
        made.write_text("new")
    assert (_files(tmp_path), (tmp_path / "link").is_symlink()) == ({"link": "new", "mine.txt": "mine"}, False)


def test_a_device_is_written_into_and_stays(tmp_path: Path) -> None:
    """Also one that a link leads to: nothing is made beside it."""
    (tmp_path / "null").symlink_to(os.devnull)
    with atomic_write(tmp_path / "null", replace=True) as made:
        made.write_text("gone")
    assert [(each.name, each.is_symlink()) for each in tmp_path.iterdir()] == [("null", True)]


def test_what_a_process_has_open_is_written_into(tmp_path: Path) -> None:
    """As `/dev/stdout` is, be it a file."""
    with (tmp_path / "a.txt").open("w") as file:
        (tmp_path / "link").symlink_to(f"/proc/self/fd/{file.fileno()}")
        with atomic_write(tmp_path / "link", replace=True) as made:
            made.write_text("told")
    assert ((tmp_path / "a.txt").read_text(), (tmp_path / "link").is_symlink()) == ("told", True)


def test_where_nothing_was_made_what_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "told").mkdir()
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "told", replace=True):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["told"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_where_a_new_folder_cannot_move_the_former_one_comes_back() -> None:
    """One that its maker may not write to moves to no other folder."""
    nobody = 65534
    with tempfile.TemporaryDirectory() as place:
        os.chown(place, nobody, nobody)
        os.seteuid(nobody)
        try:
            target = Path(place, "told")
            target.mkdir()
            (target / "old.txt").write_text("old")
            with pytest.raises(PermissionError), atomic_write(target, replace=True) as made:
                _ = made.mkdir(), made.chmod(0o555)
        finally:
            os.seteuid(0)
        assert _files(Path(place)) == {"told/old.txt": "old"}


def test_permissions_are_those_of_any_other_file_of_the_process(tmp_path: Path) -> None:
    """While it is made, its owner alone sees it."""
    mask = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "a.txt") as made:
            made.write_text("whole")
            hidden = made.parent.stat().st_mode & 0o777
        with atomic_write(tmp_path / "told") as made:
            made.mkdir()
    finally:
        os.umask(mask)
    found = [(tmp_path / name).stat().st_mode & 0o777 for name in ("a.txt", "told")]
    assert (hidden, *found) == (0o700, 0o640, 0o750)


def test_a_name_may_be_as_long_as_the_file_system_lets_it(tmp_path: Path) -> None:
    with atomic_write(tmp_path / ("a" * 255)) as made:
        made.write_text("whole")
    assert _files(tmp_path) == {"a" * 255: "whole"}


def _files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
