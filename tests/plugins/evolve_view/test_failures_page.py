"""What went wrong, by classes and over time."""

import re

import pytest

from evolve.types import Outcome
from tests.plugins.evolve_view.hostile import text_of, wrong_in
from tests.written import Written


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """The seed, 60 crashes that differ in a number, 2 wrong answers, a screened one."""
    home = tmp_path_factory.mktemp("failing")
    written = Written(home, name="failing")
    written.seed()
    for number in range(60):
        written.failure(Outcome.CRASHED, f"index {number} is out of range\nat line {number}")
    written.failure(Outcome.WRONG, "not a number")
    written.failure(Outcome.WRONG, "not a number")
    written.failure(Outcome.SCREENED, "duplicate")
    written.campaign.close()
    return home


def words(answer):
    assert answer.status_code == 200
    return " ".join(text_of(answer.text).split())


def test_failures_that_differ_in_numbers_are_one_class_with_its_newest_examples(browse, failing):
    answer = browse(failing).get("/c/failing/failures")
    (row,) = [row for row in re.findall(r"<tr>.*?</tr>", answer.text, re.DOTALL) if "out of range" in row]
    cells = [" ".join(text_of(cell).split()).replace(" ,", ",") for cell in re.findall(r"<td.*?</td>", row)]
    assert cells == ["60", "crashed", "index 59 is out of range", "61, 60, 59, 58, 57"]
    assert 'href="/c/failing/programs/61"' in answer.text


def test_what_was_screened_is_there_when_asked_for(browse, failing):
    client = browse(failing)
    assert "duplicate" not in words(client.get("/c/failing/failures"))
    assert "duplicate" in words(client.get("/c/failing/failures?screened=1"))


def test_over_time_has_what_was_screened_where_that_is_chosen_and_else_not(browse, failing):
    client = browse(failing)
    assert "outcome=screened" not in client.get("/c/failing/failures").text
    assert "outcome=screened" in client.get("/c/failing/failures?screened=1").text


def test_each_outcome_has_its_share_over_time_and_leads_to_its_records(browse, failing):
    page = browse(failing).get("/c/failing/failures?screened=1").text
    rows = re.findall(r'programs\?outcome=(\w+)&amp;kind=any&amp;sort=id">\w+</a></td><td class="n">(\d+)</td>', page)
    assert sorted(rows) == [("crashed", "60"), ("screened", "1"), ("wrong", "2")]
    assert len(re.findall(r"<rect ", page)) >= 49
    assert "of 1</title>" in page or "of 2</title>" in page


def test_a_campaign_without_failures_says_so(browse, tmp_path):
    Written(tmp_path, name="clean").campaign.close()
    assert "No program has failed" in words(browse(tmp_path).get("/c/clean/failures"))


@pytest.mark.parametrize("query", ["", "?screened=1", "?screened=%3Cscript%3E"])
def test_what_was_said_is_text(browse, hostile, query):
    assert wrong_in(browse(hostile).get(f"/c/hostile/failures{query}").text) == []
