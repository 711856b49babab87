"""Check sums as `sha256sum` writes and reads them."""

from pathlib import Path

from evolve.publish.paper.sums import sums

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_every_file_but_the_list_has_a_line(tmp_path: Path) -> None:
    """By its path, in a fixed order."""
    (tmp_path / "b").mkdir()
    for name in ("c", "b/a", "SHA256SUMS"):
        (tmp_path / name).write_bytes(b"")
    assert sums(tmp_path) == f"{EMPTY}  b/a\n{EMPTY}  c\n"


def test_a_name_that_would_break_the_list_is_escaped(tmp_path: Path) -> None:
    """As `sha256sum` does: a line break, and a backslash."""
    (tmp_path / "a\nb\\c").write_bytes(b"")
    assert sums(tmp_path) == f"\\{EMPTY}  a\\nb\\\\c\n"
