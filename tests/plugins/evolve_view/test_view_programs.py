"""The table of a campaign's records."""

import csv
import io
import re

import pytest

from evolve.types import Outcome
from tests.plugins.evolve_view.hostile import text_of, wrong_in
from tests.written import Written


def listed(answer):
    """The records of a table, in its order."""
    assert answer.status_code == 200, text_of(answer.text)
    return [
        int(found) for found in re.findall(r'<a data-line id="record-\d+" href="/c/[^"/]+/programs/(\d+)"', answer.text)
    ]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Records 1 to 120: the seed, then proposals whose fitness is their number, every tenth one a failure."""
    home = tmp_path_factory.mktemp("many")
    written = Written(home, name="many")
    written.seed(0.5)
    while written.next <= 120:
        if written.next % 10 == 0:
            written.failure(Outcome.CRASHED, f"it broke at {written.next}")
        else:
            written.proposal(
                float(written.next),
                operator="diff" if written.next % 2 else "tune_literals",
                seconds=1.0 / written.next,
            )
    written.campaign.close()
    return home


def test_the_fittest_are_first_and_failures_last(browse, many):
    assert listed(browse(many).get("/c/many/programs"))[:4] == [119, 118, 117, 116]
    assert listed(browse(many).get("/c/many/programs?start=100"))[-3:] == [100, 110, 120]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("sort=id", [120, 119, 118]),
        ("sort=id&order=asc", [1, 2, 3]),
        ("order=asc", [1, 2, 3]),
        ("sort=seconds", [2, 3, 4]),
        ("outcome=crashed&sort=id", [120, 110, 100]),
        ("operator=diff", [119, 117, 115]),
        ("kind=seed", [1]),
        ("text=1117", []),
        ("text=value+77.0", [77]),
        ("insertion=NEW&kind=seed", [1]),
        ("island=3&kind=seed", []),
    ],
)
def test_what_the_address_says_is_what_is_shown(browse, many, query, first):
    found = listed(browse(many).get(f"/c/many/programs?{query}"))
    assert found[: len(first)] == first
    assert bool(found) == bool(first)


def test_pages_follow_one_another_without_a_gap(browse, many):
    client = browse(many)
    pages = [listed(client.get(f"/c/many/programs?sort=id&order=asc&start={start}")) for start in (0, 50, 100)]
    assert [len(page) for page in pages] == [50, 50, 20]
    assert sum(pages, []) == list(range(1, 121))  # noqa: RUF017 three short lists


def test_links_to_other_pages_keep_the_rest_of_the_address(browse, many):
    page = browse(many).get("/c/many/programs?sort=id&operator=diff").text
    assert 'href="/c/many/programs?operator=diff&amp;sort=id&amp;start=50" rel="next"' in page
    assert "1 to 50 of 59 programs" in text_of(page)


def test_behind_the_last_record_the_page_says_so(browse, many):
    assert "this page begins behind them" in text_of(browse(many).get("/c/many/programs?start=500").text)


def test_each_program_is_one_line_unless_all_records_are_asked_for(browse, tmp_path):
    """Neither measurements nor proposals without a program of their own."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    written.again(2, 6.1)
    written.failure(Outcome.SCREENED, "a duplicate")
    written.campaign.close()
    client = browse(tmp_path)
    assert listed(client.get("/c/number/programs?sort=id")) == [2, 1]
    assert listed(client.get("/c/number/programs?sort=id&kind=any")) == [4, 3, 2, 1]
    assert listed(client.get("/c/number/programs?sort=id&kind=measurement")) == [3]
    rows = list(csv.DictReader(io.StringIO(client.get("/c/number/programs.csv?sort=id").text)))
    assert [row["record"] for row in rows] == ["2", "1"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("sort=colour", "there is no column to sort by 'colour'"),
        ("outcome=okay", "there is no outcome 'okay'"),
        ("island=x", "an island is a number"),
        ("start=-1", "start is a number"),
        ("start=" + "9" * 5000, "start is a number"),
    ],
)
def test_a_word_that_is_none_is_said(browse, many, query, said):
    answer = browse(many).get(f"/c/many/programs?{query}")
    assert answer.status_code == 404
    assert said in text_of(answer.text)


def test_an_answer_to_htmx_tells_the_address_without_what_says_nothing(browse, many):
    query = "text=&outcome=&operator=diff&island=&kind=&insertion="
    answer = browse(many).get(f"/c/many/programs?{query}", headers={"hx-request": "true", "hx-trigger": "choose"})
    assert answer.headers["hx-push-url"] == "/c/many/programs?operator=diff"


def test_best_leads_to_the_best_program(browse, looked_at):
    client = browse(looked_at)
    for query in ("", "?blame=1", "?against=2"):
        answer = client.get(f"/c/number/programs/best{query}")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/c/number/programs/6{query}")


def test_the_csv_has_what_the_address_asks_for_and_how_each_score_was_judged(browse, many):
    answer = browse(many).get("/c/many/programs.csv?operator=diff&sort=id&order=asc")
    assert answer.headers["content-disposition"] == 'attachment; filename="many.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["record"] for row in rows] == [str(record) for record in range(3, 121, 2)]
    assert len(rows) == 59
    assert (rows[0]["fitness"], rows[0]["trust"], rows[0]["isolation"]) == ("3.0", "witnessed", "reduced")


def test_no_cell_of_the_csv_is_a_formula(browse, tmp_path):
    written = Written(tmp_path, name="sums")
    written.seed()
    written.proposal(6.0, operator="=1+1")
    written.campaign.close()
    rows = list(csv.DictReader(io.StringIO(browse(tmp_path).get("/c/sums/programs.csv").text)))
    assert [row["operator"] for row in rows] == ["'=1+1", ""]


def test_a_campaign_without_records_says_so(browse, tmp_path):
    Written(tmp_path, name="empty").campaign.close()
    assert "Nothing has settled yet" in text_of(browse(tmp_path).get("/c/empty/programs").text)


@pytest.mark.parametrize(
    "query", ["", "?sort=id", "?text=%3Cscript%3E%22", "?marked=%22%3E%3Cscript%3E", "?operator=%22%3E%3Cscript%3E"]
)
def test_what_was_typed_and_what_was_proposed_is_text(browse, hostile, query):
    assert wrong_in(browse(hostile).get(f"/c/hostile/programs{query}").text) == []
