"""All records as columns of plain values."""

import csv
from pathlib import Path

import pytest

from evolve import report
from evolve.types import Call
from tests.written import Written, aimed, aiming_task, short_campaign


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\n=1"])
def test_no_cell_of_csv_is_a_formula(tmp_path: Path, text: str) -> None:
    """A number below 0 is none."""
    report.write_csv({"record": [text], text: [-1.5]}, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["record", f"'{text}"], [f"'{text}", "-1.5"]]


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "a\nb"])
def test_a_line_end_in_a_cell_does_not_end_the_row(tmp_path: Path, text: str) -> None:
    """Whichever it is, it is a line feed."""
    report.write_csv({"record": [text]}, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["record"], ["a\nb"]]


def test_every_column_has_a_value_for_each_record(tmp_path: Path) -> None:
    """What a record has not is None."""
    with short_campaign(tmp_path) as campaign:
        table = report.columnar(campaign)
        active = campaign.log.active_of(range(1, 7))
    columns = table
    assert {len(column) for column in columns.values()} == {6}
    assert columns["fitness"] == [5.0, 6.0, 4.0, None, None, 6.5]
    assert columns["parents"] == ["", "1", "1", "1", "1", "2"]
    assert columns["outcome"] == ["ok", "ok", "ok", "crashed", "screened", "ok"]
    assert columns["kind"] == ["seed"] + ["proposal"] * 5
    assert columns["active"] == [active[record] for record in range(1, 7)]
    assert columns["metric.distance"] == [0.5, 0.5, 0.5, None, None, 0.5]
    assert columns["descriptor.size"] == [5.0, 6.0, 4.0, None, None, 6.5]
    assert columns["program"][4] is None
    assert columns["trust"] == ["witnessed"] * 4 + [None, "witnessed"]


def test_objectives_are_in_the_user_s_direction_and_costs_are_the_step_s(tmp_path: Path) -> None:
    """As everywhere."""
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1.0, 10.0))
    written.called(Call("alpha", prompt_tokens=10, completion_tokens=2, cost=0.5))
    written.proposal(6.0, operator="diff", model="alpha", **aimed(2.0, 8.0, 300.0))
    with written.campaign as campaign:
        columns = report.columnar(campaign)
    assert (columns["objective.length"], columns["objective.seconds"]) == ([1.0, 2.0], [10.0, 8.0])
    assert (columns["violation"], columns["metric.memory"]) == ([0.0, 0.5], [100.0, 300.0])
    assert (columns["calls"], columns["tokens"], columns["money"]) == ([0, 1], [0, 12], [0.0, 0.5])


def test_some_records_in_any_order(tmp_path: Path) -> None:
    """Those that are asked for."""
    with short_campaign(tmp_path) as campaign:
        table = report.columnar(campaign, [6, 1])
    assert (table["record"], table["fitness"]) == ([6, 1], [6.5, 5.0])


def test_a_campaign_without_records_is_a_line_of_names(tmp_path: Path) -> None:
    """In CSV."""
    with Written(tmp_path).campaign as campaign:
        report.write_csv(report.columnar(campaign), tmp_path / "n.csv")
    (names,) = csv.reader((tmp_path / "n.csv").read_text().splitlines())
    assert names[:2] == ["record", "fitness"]
