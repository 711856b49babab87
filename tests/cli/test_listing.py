"""`evolve program list` with options that choose records."""

import csv
import json

import pytest

from evolve.types import Outcome
from tests.written import Written


def ids(result):
    """The records of a listing in JSON."""
    return [json.loads(line)["id"] for line in result.output.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--outcome", "ok"), [6, 2, 1, 3]),
        (("--outcome", "ok", "--ascending"), [3, 1, 2, 6]),
        (("--sort", "id", "--ascending", "--limit", 2), [1, 2]),
        (("--search", "return 6.5"), [6]),
        (("--operator", "tune_literals", "--sort", "id", "--limit", "0"), [6, 4, 3, 2]),
        (("--insertion", "NOT_ADDED", "--outcome", "crashed"), [4]),
        (("--island", "3"), []),
        (("--model", "alpha"), []),
    ],
)
def test_records_are_chosen_and_sorted(call, short, words, expected):
    """Among the programs."""
    assert ids(call("program", "list", "number", *words, "--json")) == expected


def test_measurements_and_screened_proposals_are_listed_on_demand_alone(call, home):
    """They are records, and no programs."""
    written = Written(home)
    written.seed()
    written.again(1, 5.5)
    written.failure(Outcome.SCREENED, "no-op: it reads the same as its parent")
    written.proposal(6.0)
    written.campaign.close()
    assert ids(call("program", "list", "--sort", "id", "--ascending", "--json")) == [1, 4]
    assert ids(call("program", "list", "--all", "--sort", "id", "--ascending", "--json")) == [1, 2, 3, 4]
    assert ids(call("program", "list", "--outcome", "screened", "--json")) == [3]


def test_a_table_says_how_many_more_there_are(call, short):
    """On stderr."""
    result = call("program", "list", "--outcome", "ok", "--limit", "1")
    assert result.stdout.splitlines()[1].startswith("number/6*")
    assert result.stderr == "(1 of 4; --limit 0 lists all)\n"
    assert call("program", "list", "--search", "nowhere").output == "campaign number has no such record\n"


def test_what_is_listed_is_written_as_csv(call, short, tmp_path):
    """All of it; elites too."""
    target = tmp_path / "records.csv"
    result = call("program", "list", "number", "--outcome", "ok", "--csv", target)
    assert result.output == f"4 rows  {target}\n"
    rows = list(csv.DictReader(target.read_text().splitlines()))
    assert [(row["record"], row["fitness"], row["isolation"], row["trust"]) for row in rows] == [
        ("6", "6.5", "reduced", "witnessed"),
        ("2", "6.0", "reduced", "witnessed"),
        ("1", "5.0", "reduced", "witnessed"),
        ("3", "4.0", "reduced", "witnessed"),
    ]
    call("program", "list", "number", "--csv", target, "--limit", "1")
    assert [row["record"] for row in csv.DictReader(target.read_text().splitlines())] == ["6"]


def test_places_and_choices_exclude_each_other(call, short):
    """A usage error says so."""
    result = call("program", "list", "--elites", "--outcome", "ok")
    assert result.exit_code == 2
    assert "leave out one of them" in result.output


def test_an_outcome_that_there_is_not_is_an_error(call, short):
    """With the one that was meant."""
    result = call("program", "list", "--outcome", "crash")
    assert (result.exit_code, "Did you mean 'crashed'?" in result.stderr) == (1, True)
