"""A campaign to read in Python."""

from pathlib import Path

import numpy as np
import pytest

import evolve
from evolve import Campaign, report
from evolve.types import ConfigError
from tests.written import Written, number_task, short_campaign


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """The workspace with the campaign `number` of six records."""
    short_campaign(tmp_path).close()
    return tmp_path


def test_a_campaign_is_opened_by_its_name_or_its_log(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the workspace of the command line, where none is named."""
    with Campaign.open("number", short) as campaign:
        assert campaign.name == "number"
    with Campaign.open(short / "archive" / "campaigns" / "number.db") as campaign:
        assert campaign.name == "number"
    monkeypatch.setenv("EVOLVE_HOME", str(short))
    with evolve.Campaign.open() as campaign:
        assert repr(campaign) == "<Campaign 'number': 6 records, best number/6 6.5 (1 measured, witnessed, reduced)>"
    with pytest.raises(ConfigError, match="no campaign 'nothing'"):
        Campaign.open("nothing")


def test_a_record_is_a_whole_number(short: Path) -> None:
    """Also one of numpy's, as a data frame has them."""
    with Campaign.open("number", short) as campaign:
        assert campaign.lineage(np.int64(2)) == campaign.lineage(2)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match=r"^a record is named by its whole number, got 'x'\. Try: "):
            campaign.lineage("x")  # type: ignore[arg-type]


def test_it_says_what_the_reports_say(short: Path) -> None:
    """In the same values."""
    with Campaign.open("number", short) as campaign:
        assert campaign.best == report.best(campaign.engine)
        assert campaign.elites(1) == report.elites(campaign.engine, 1)
        assert (campaign.front(), campaign.costs()) == ((), None)
        assert [line.id for line in campaign.records()] == [6, 2, 1, 3, 4, 5]
        assert [line.id for line in campaign.records(2)] == [6, 2]
        assert [line.id for line in campaign.search("6.5")] == [6]
        assert [point.fitness for point in campaign.curve()] == [5.0, 6.0, 6.5, 6.5]
        assert [step.record for step in campaign.lineage()] == [1, 2, 6]
        assert [line.record for line in campaign.blame()] == [1, 6]
        assert [one.outcome for one in campaign.failures()] == ["crashed"]
        assert campaign.record(4).feedback == "it divided by zero"
        assert campaign.overview().records == 6


def test_a_program_is_its_files(short: Path) -> None:
    """The best one's, without a number."""
    with Campaign.open("number", short) as campaign:
        assert campaign.program() == {"seed.py": "def value():\n    return 6.5\n"}
        assert campaign.program(1) == {"seed.py": "def value():\n    return 5\n"}
        with pytest.raises(ConfigError, match="number/5 has no program"):
            campaign.program(5)
        with pytest.raises(ConfigError, match="no record 7"):
            campaign.lineage(7)


def test_it_follows_a_campaign_that_runs(tmp_path: Path) -> None:
    """When it is told to."""
    written = Written(tmp_path)
    with written.campaign, Campaign.open("number", tmp_path) as campaign:
        assert (campaign.best, campaign.elites(), repr(campaign)) == (
            None,
            (),
            "<Campaign 'number': 0 records, no best program yet>",
        )
        with pytest.raises(ConfigError, match="no best program yet"):
            campaign.program()
        written.seed(5.0)
        assert campaign.refresh() == 1
        assert [line.record for line in campaign.elites()] == [1]


def test_an_uncertain_score_is_shown_with_its_standard_error(tmp_path: Path) -> None:
    """And with the number of its measurements."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    for fitness in (4.0, 6.0):
        written.again(1, fitness)
    with written.campaign, Campaign.open("number", tmp_path) as campaign:
        assert repr(campaign) == "<Campaign 'number': 3 records, best number/1 5 ± 1 (2 measured, witnessed, reduced)>"


def test_a_closed_campaign_says_so_and_how_to_go_on(short: Path) -> None:
    with Campaign.open("number", short) as campaign:
        pass
    assert (campaign.name, repr(campaign)) == ("number", "<Campaign 'number': closed>")
    with pytest.raises(ConfigError, match="campaign 'number' is closed"):
        campaign.overview()
    with pytest.raises(ConfigError, match="Try: open it again"):
        campaign.refresh()
    campaign.close()


def test_all_records_as_files(short: Path) -> None:
    """CSV needs no further library."""
    with Campaign.open("number", short) as campaign:
        campaign.to_csv(short / "n.csv")
    assert len((short / "n.csv").read_text().splitlines()) == 7


def test_all_records_as_a_data_frame(short: Path) -> None:
    """Its index is the record; times are times."""
    pytest.importorskip("pandas")
    with Campaign.open("number", short) as campaign:
        frame = campaign.to_dataframe()
    assert list(frame.index) == [1, 2, 3, 4, 5, 6]
    assert frame.fitness.max() == 6.5
    assert str(frame["at"].dtype).startswith("datetime64[")
