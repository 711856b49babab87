"""The tree of a private box, without its mounts, which `test_boxed.py` looks at."""

from pathlib import Path

import pytest

from evolve.sandbox.walls.root import RootTree


def test_what_a_private_tree_copies_is_bounded(tmp_path: Path) -> None:
    """Nothing else bounds it: its memory is given back by no pressure."""
    (tmp_path / "data").write_bytes(b"12345678")
    tree = object.__new__(RootTree)
    tree.room = 10
    tree.copy_file(tmp_path / "data", tmp_path / "first")
    with pytest.raises(OSError, match="half of the memory"):
        tree.copy_file(tmp_path / "data", tmp_path / "second")
    assert [path.exists() for path in (tmp_path / "first", tmp_path / "second")] == [True, False]
