"""Where campaigns live, and what of it candidates may not see."""

import os
from pathlib import Path

import pytest

from evolve.campaign import logs, secret_for, workspace
from evolve.types import ConfigError


def test_the_workspace_is_the_current_folder_or_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not the current folder has an `archive/` yet."""
    monkeypatch.delenv("EVOLVE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert workspace() == tmp_path
    monkeypatch.setenv("EVOLVE_HOME", str(tmp_path / "else"))
    assert workspace() == tmp_path / "else"


def test_what_a_workspace_keeps_is_named_before_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its absolute path."""
    monkeypatch.chdir(tmp_path)
    assert logs(Path("space")) == (str(tmp_path / "space" / "archive"),)


def test_a_log_elsewhere_is_named_with_its_own_files(tmp_path: Path) -> None:
    """And not the folder that they lie in, which may be anybody's."""
    for name in ("one.db", "one.db-wal", "other.db", "space/archive/campaigns/two.db"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    archive = str(tmp_path / "space" / "archive")
    one, inside = tmp_path / "one.db", tmp_path / "space" / "archive" / "campaigns" / "two.db"
    assert logs(tmp_path / "space", one) == (archive, str(one), f"{one}-wal")
    assert logs(tmp_path / "space", inside) == (archive,)


def test_a_task_has_one_secret_in_a_workspace(tmp_path: Path) -> None:
    """Made at first use; another task and another workspace have another one."""
    one = secret_for(tmp_path / "one", "softmax")
    assert (len(one), secret_for(tmp_path / "one", "softmax")) == (64, one)
    assert len({one, secret_for(tmp_path / "one", "topk"), secret_for(tmp_path / "two", "softmax")}) == 3


def test_only_the_owner_can_read_the_secret_and_no_candidate(tmp_path: Path) -> None:
    """Its file lies where a workspace keeps what programs may not see, and nothing is left beside it."""
    secret_for(tmp_path, "softmax")
    (file,) = (tmp_path / "archive").iterdir()
    assert (file.stat().st_mode & 0o777, str(file.parent) in logs(tmp_path)) == (0o600, True)


def test_a_secret_that_is_none_is_refused(tmp_path: Path) -> None:
    """As one that a full disk has left."""
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "secret").write_text("\n")
    with pytest.raises(ConfigError, match="holds no secret"):
        secret_for(tmp_path, "softmax")


def test_a_secret_that_is_no_file_is_refused(tmp_path: Path) -> None:
    """Nobody waits for what writes into a pipe, and nothing is read for ever."""
    (tmp_path / "archive").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for target in ("pipe", "/dev/urandom", "nowhere", "."):
        (tmp_path / "archive" / "secret").symlink_to(tmp_path / target)
        with pytest.raises(ConfigError, match="holds no secret"):
            secret_for(tmp_path, "softmax")
        (tmp_path / "archive" / "secret").unlink()
