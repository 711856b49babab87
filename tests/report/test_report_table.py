"""Records page by page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evolve import report
from evolve.campaign import Campaign
from evolve.report import Wanted
from evolve.types import ConfigError
from tests.written import Written, short_campaign


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """Six records: the seed 5, 6, 4, a crash, a screened one, 6.5 from the second."""
    with short_campaign(tmp_path) as campaign:
        yield campaign


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Wanted(), [6, 2, 1, 3, 4, 5]),
        (Wanted(descending=False), [3, 1, 2, 6, 4, 5]),
        (Wanted(sort="id", descending=False), [1, 2, 3, 4, 5, 6]),
        (Wanted(sort="id"), [6, 5, 4, 3, 2, 1]),
        (Wanted(sort="seconds"), [1, 2, 3, 6, 4, 5]),
        (Wanted(outcome="ok"), [6, 2, 1, 3]),
        (Wanted(outcome="crashed"), [4]),
        (Wanted(kind="seed"), [1]),
        (Wanted(operator="tune_literals", sort="id"), [6, 5, 4, 3, 2]),
        (Wanted(operator="none of them"), []),
        (Wanted(model="alpha"), []),
        (Wanted(island=1), []),
        (Wanted(insertion="NOT_ADDED", sort="id"), [5, 4, 3]),
        (Wanted(text="return 6.5"), [6]),
        (Wanted(text="def value", outcome="ok"), [6, 2, 1, 3]),
        (Wanted(text="nowhere"), []),
    ],
)
def test_records_are_sorted_and_filtered(campaign: Campaign, wanted: Wanted, ids: list[int]) -> None:
    """Of equals the earlier comes first."""
    found = report.page(campaign, wanted)
    assert ([line.id for line in found.lines], found.total, found.cut) == (ids, len(ids), False)


def test_a_page_is_some_of_all_lines(campaign: Campaign) -> None:
    """And says how many there are."""
    page = report.page(campaign, Wanted(), start=2, limit=3)
    assert ([line.id for line in page.lines], page.total, page.start) == ([1, 3, 4], 6, 2)
    assert report.page(campaign, Wanted(), start=99).lines == ()


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(sort="fitnes"), "no column to sort by 'fitnes'. Did you mean 'fitness'"),
        (Wanted(outcome="crash"), "no outcome 'crash'. Did you mean 'crashed'"),
        (Wanted(kind="import "), "no kind 'import '"),
        (Wanted(insertion="new"), "no insertion 'new'"),
    ],
)
def test_a_word_that_is_none_of_those_which_there_are_is_an_error(
    campaign: Campaign, wanted: Wanted, said: str
) -> None:
    """It says which was meant."""
    with pytest.raises(ConfigError, match=said):
        report.page(campaign, wanted)


def test_a_campaign_without_records_has_an_empty_page(tmp_path: Path) -> None:
    """Whatever it is sorted by."""
    with Written(tmp_path).campaign as campaign:
        for sort in report.SORTS:
            assert report.page(campaign, Wanted(sort=sort)).lines == ()
