"""Which user candidates are."""

import os
from pathlib import Path

import pytest

from evolve.sandbox.machine import identity
from evolve.sandbox.machine.identity import FIRST, take


def test_two_at_a_time_are_two_users(tmp_path: Path) -> None:
    """And one that is given back is taken again."""
    one = take((tmp_path,))
    two = take((tmp_path,))
    assert (one.number, two.number) == (FIRST, FIRST + 1)
    one.close()
    again = take((tmp_path,))
    assert again.number == FIRST
    for each in (two, again):
        each.close()


@pytest.mark.integration
def test_the_end_of_a_process_gives_its_user_back(tmp_path: Path) -> None:
    """However it ends: the kernel keeps the lock."""
    child = os.fork()
    if child == 0:
        take((tmp_path,))
        os._exit(0)
    os.waitpid(child, 0)
    free = take((tmp_path,))
    assert free.number == FIRST
    free.close()


def test_a_folder_that_others_may_write_is_not_believed(tmp_path: Path) -> None:
    """Nor is a link, by which another user would choose where locks lie."""
    open_to_all, link = tmp_path / "a", tmp_path / "b"
    (open_to_all / "evolve-candidates").mkdir(parents=True)
    (open_to_all / "evolve-candidates").chmod(0o777)
    (link / "x").mkdir(parents=True)
    (link / "evolve-candidates").symlink_to(link / "x")
    with pytest.raises(OSError, match="no folder for locks"):
        take((open_to_all, link))
    taken = take((open_to_all, link, tmp_path))
    assert (tmp_path / "evolve-candidates" / str(taken.number)).exists()
    taken.close()


def test_none_left_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the folder in which the locks are."""
    monkeypatch.setattr(identity, "_MOST", 1)
    first = take((tmp_path,))
    with pytest.raises(OSError, match=f"all 1 users for candidates are taken: {tmp_path}"):
        take((tmp_path,))
    first.close()


@pytest.mark.parametrize(
    ("table", "known"),
    [
        ("         0          0 4294967295\n", True),
        ("         0       1000          1\n", False),
        ("0 1000 1\n1 100000 65536\n", True),
        ("nonsense", False),
    ],
)
def test_a_user_namespace_may_lack_users(tmp_path: Path, table: str, known: bool) -> None:
    """As where a container maps one user only."""
    (tmp_path / "uid_map").write_text(table)
    assert identity._is_mapped(FIRST, tmp_path / "uid_map") == known
    assert not identity._is_mapped(FIRST, tmp_path / "none")


@pytest.mark.parametrize(
    ("table", "root"),
    [("0 0 1\n", True), ("0 1000 1\n", False), ("nonsense", False), ("0 0 1\n1 100000 65536\n", True)],
)
def test_root_with_nobody_else_to_become_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, root: bool
) -> None:
    """A candidate would be root for the kernel there; where root is an ordinary user outside, it would not."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(identity, "can_choose", lambda: False)
    (tmp_path / "uid_map").write_text(table)
    assert identity.is_root_for_good(tmp_path / "uid_map") == root
