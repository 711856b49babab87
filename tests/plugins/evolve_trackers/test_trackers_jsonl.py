"""The tracker `jsonl`, and what all bundled trackers are told."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evolve_trackers.jsonl import Jsonl, JsonlSettings
from tests.tracked import END, RECORD, a_run


def test_each_record_is_a_line_beside_the_log(tmp_path: Path) -> None:
    """Of its owner alone; a campaign that goes on adds to it."""
    for first in (1, 3):
        tracker = Jsonl(JsonlSettings())
        tracker.campaign_begun(a_run(tmp_path, first - 1))
        for number in (first, first + 1):
            tracker.record_settled(replace(RECORD, record=number))
        tracker.campaign_ended(END)
    path = tmp_path / "mine.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["record"] for line in lines] == [1, 2, 3, 4]
    assert (lines[0]["best"]["fitness"], lines[0]["outcome"], path.stat().st_mode & 0o777) == (2.5, "ok", 0o600)


def test_another_file_may_be_named_and_a_link_is_not_followed(tmp_path: Path) -> None:
    """A link may lead anywhere."""
    tracker = Jsonl(JsonlSettings(file=str(tmp_path / "other.jsonl")))
    tracker.campaign_begun(a_run(tmp_path))
    tracker.campaign_ended(END)
    assert (tmp_path / "other.jsonl").exists()
    (tmp_path / "mine.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        Jsonl(JsonlSettings()).campaign_begun(a_run(tmp_path))
    assert not (tmp_path / "elsewhere").exists()
