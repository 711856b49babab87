"""Programs by what their code says."""

from pathlib import Path

from evolve import report
from tests.written import Written, short_campaign


def test_a_program_is_found_by_its_words_once(tmp_path: Path) -> None:
    """By its first record, however often it was judged."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.25)
    written.again(2, 6.5)
    with written.campaign as campaign:
        assert [line.id for line in report.found(campaign, "6.25")] == [2]
        assert report.found(campaign, "elsewhere") == ()
        assert report.found(campaign, " ") == ()


def test_the_newest_programs_are_found_first(tmp_path: Path) -> None:
    with short_campaign(tmp_path) as campaign:
        assert [line.id for line in report.found(campaign, "value", 2)] == [6, 4]
