"""The tracker keeps its promises, and writes what it says."""

from pathlib import Path

from evolve.testing import check_tracker, rehearse_tracking

from evolve_starter.tracker import Best


def test_it_keeps_the_promises_of_a_tracker(tmp_path: Path) -> None:
    """evolve's own suite: it takes records of every kind, closes what it opens, and loses nothing when a campaign goes on."""
    check_tracker(lambda: Best({}), tmp_path)


def test_each_better_program_is_a_line(tmp_path: Path) -> None:
    """In the file that the settings name."""
    path = tmp_path / "best.txt"
    rehearse_tracking(Best({"file": str(path)}), tmp_path)
    assert path.read_text("utf-8").splitlines() == ["2 2.5", "3 3.5"]
