"""`evolve campaign table`."""

import csv
import json

import pytest


def test_all_records_as_csv(call, short, tmp_path):
    """In their order."""
    target = tmp_path / "number.csv"
    assert call("campaign", "table", "number", target).output == f"6 rows, 23 columns  {target}\n"
    rows = list(csv.DictReader(target.read_text().splitlines()))
    assert [row["outcome"] for row in rows] == ["ok", "ok", "ok", "crashed", "screened", "ok"]
    assert [row["fitness"] for row in rows] == ["5.0", "6.0", "4.0", "", "", "6.5"]


def test_json_names_the_columns(call, short, tmp_path):
    """And the file."""
    told = json.loads(call("campaign", "table", "number", tmp_path / "n.csv", "--json").output)
    assert (told["rows"], told["file"], told["columns"][:3]) == (
        6,
        str(tmp_path / "n.csv"),
        ["record", "fitness", "violation"],
    )


@pytest.mark.parametrize("name", ["n.txt", "n"])
def test_another_kind_of_file_is_an_error(call, short, tmp_path, name):
    """It says which kinds there are."""
    result = call("campaign", "table", "number", tmp_path / name)
    assert result.stderr.startswith("evolve: error: a table is written to a file that ends in .csv or .parquet, got ")
    assert not (tmp_path / name).exists()


def test_a_place_that_cannot_be_written_is_an_error(call, short, tmp_path):
    """No traceback."""
    result = call("campaign", "table", "number", tmp_path / "no" / "n.csv")
    assert result.stderr.startswith("evolve: error: the table cannot be written to ")
