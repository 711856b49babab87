"""Where campaigns live, and what of it candidates may not see."""

from pathlib import Path

import pytest

from evolve.campaign import logs


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
