"""What was tried before, and who may say so."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.sandbox.machine import memo
from evolve.sandbox.machine.host import Host
from evolve.sandbox.machine.memo import Memo, cache_folder, key
from evolve.sandbox.means import PLAIN, Means

HOST = Host("linux", "x86_64")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cache folder that is not there yet."""
    return tmp_path / "cache" / "evolve"


def file(folder: Path, key: str = "a") -> Path:
    return folder / f"sandbox-probe-{key}"


def test_a_key_is_known_once_it_is_kept(folder: Path) -> None:
    """The file is this user's alone."""
    kept = Memo(folder)
    before = kept.has("a")
    kept.keep("a")
    kept.keep("b")
    assert (before, kept.has("a"), kept.has("b"), kept.has("c")) == (False, True, True, False)
    assert file(folder).stat().st_mode & 0o777 == 0o600


def test_only_so_many_are_kept(folder: Path) -> None:
    """The latest."""
    kept = Memo(folder)
    for number in range(20):
        kept.keep(str(number))
    assert [number for number in range(20) if kept.has(str(number))] == list(range(4, 20))


@pytest.mark.parametrize("mode", [0o660, 0o606])
def test_a_file_that_others_may_touch_counts_for_nothing(folder: Path, mode: int) -> None:
    """They could have written it."""
    Memo(folder).keep("a")
    file(folder).chmod(mode)
    assert Memo(folder).has("a") is False


def test_a_file_of_another_user_counts_for_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever that is."""
    Memo(folder).keep("a")
    monkeypatch.setattr(os, "geteuid", lambda: file(folder).stat().st_uid + 1)
    assert Memo(folder).has("a") is False


def test_a_link_counts_for_nothing(folder: Path, tmp_path: Path) -> None:
    """It could lead anywhere."""
    Memo(folder).keep("a")
    file(folder).rename(tmp_path / "other")
    file(folder).symlink_to(tmp_path / "other")
    assert Memo(folder).has("a") is False


def test_a_folder_that_others_may_write_counts_for_nothing(folder: Path) -> None:
    """They could have made a link to any file of this user's."""
    Memo(folder).keep("a")
    folder.chmod(0o777)
    assert Memo(folder).has("a") is False


def test_where_nothing_can_be_kept_nothing_is_known(tmp_path: Path) -> None:
    """It is tried again the next time."""
    (tmp_path / "file").touch()
    for place in (None, tmp_path / "file" / "cache"):
        Memo(place).keep("a")
        assert Memo(place).has("a") is False


def test_the_key_is_another_for_whatever_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpreter, facts, means, boot and kernel."""
    keys = {
        key("python", HOST, PLAIN),
        key("other", HOST, PLAIN),
        key("python", replace(HOST, chooses_user=True), PLAIN),
        key("python", HOST, Means(seccomp=True)),
    }
    monkeypatch.setattr(memo, "_boot", lambda: "another")
    keys.add(key("python", HOST, PLAIN))
    monkeypatch.setattr(memo.platform, "release", lambda: "another")
    keys.add(key("python", HOST, PLAIN))
    assert len(keys) == 6


def test_the_key_is_the_same_for_a_machine_that_is_the_same() -> None:
    """Whatever name a control group had that could not be made."""
    first, second = replace(HOST, cgroup_error="no evolve-1-1"), replace(HOST, cgroup_error="no evolve-2-8")
    assert key("python", first, PLAIN) == key("python", second, PLAIN)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, Path("/x/evolve")),
        ({"HOME": "/h"}, Path("/h/.cache/evolve")),
        ({"HOME": ""}, None),
        ({}, None),
    ],
)
def test_the_folder_is_the_users_cache(environment: dict[str, str], folder: Path | None) -> None:
    """Where there is one."""
    assert cache_folder(environment) == folder
