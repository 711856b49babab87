"""Operators and models, failures, lessons and hints."""

import re

import pytest

from evolve.campaign.inbox import Hint, Inbox
from evolve.types import Call, Outcome
from evolve_view.activity import HINT_CHARACTERS
from tests.plugins.evolve_view.conftest import ADDRESS
from tests.plugins.evolve_view.hostile import text_of, wrong_in
from tests.written import Written


@pytest.fixture
def home(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    written.called(Call("small", prompt_tokens=100, completion_tokens=20, cost=0.5))
    written.proposal(7.0, operator="diff", model="small")
    written.campaign.close()
    return tmp_path


def test_yields_costs_and_what_is_likely_next_stand_in_one_line(browse, home):
    page = " ".join(text_of(browse(home).get("/c/number/operators").text).split())
    assert "tune_literals 1 100 % 100.0 % (1) 0" in page
    assert "diff 1 100 % 100.0 % (1) 0 – 1 100 20 0.5 0.5" in page
    assert "small 1 100 % 100.0 % (1) 0" in page


def test_charts_have_a_line_for_each(browse, home):
    page = browse(home).get("/c/number/operators?shows=judged").text
    assert "programs judged against records. diff: 1 at 3; tune_literals: 1 at 3" in page
    assert "programs judged against records. small: 1 at 3" in page


def test_a_chart_of_something_else_is_refused(browse, home):
    assert browse(home).get("/c/number/operators?shows=fame").status_code == 404


def test_who_is_left_out_is_named_with_the_reason(browse, tmp_path):
    """Here and on the overview."""
    written = Written(tmp_path)
    written.seed(5.0)
    for _ in range(8):
        written.failure(Outcome.SCREENED, "no number in seed.py. Do: write one")
    written.campaign.close()
    browser = browse(tmp_path)
    assert "Left out: tune_literals, no number in seed.py" in text_of(browser.get("/c/number/operators").text)
    assert "tune_literals: no number in seed.py" in text_of(browser.get("/c/number").text)


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


HERE = {"origin": f"http://{ADDRESS}"}


@pytest.fixture
def learnt(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.reflection("small", "small numbers fail", "large ones do not")
    written.campaign.close()
    return tmp_path


def test_the_newest_lesson_is_the_first(browse, learnt):
    page = text_of(browse(learnt).get("/c/number/lessons").text)
    assert page.index("large ones do not") < page.index("small numbers fail")
    assert "A hint of your own" not in page


def test_a_hint_waits_in_the_inbox_until_somebody_writes_the_log(browse, learnt):
    client = browse(learnt, editing=True)
    assert "A hint of your own" in client.get("/c/number/lessons").text
    answer = client.post("/c/number/lessons", data={"text": " try seven \n"}, headers=HERE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/c/number/lessons")
    letters = Inbox(learnt / "archive" / "campaigns" / "number.db").letters()
    assert [letter.request.wish for letter in letters] == [Hint("try seven")]
    assert "waits to be taken: try seven" in text_of(client.get("/c/number/lessons").text)


@pytest.mark.parametrize("text", ["", "  \n", "x" * (HINT_CHARACTERS + 1)])
def test_a_hint_says_something_and_no_book(browse, learnt, text):
    answer = browse(learnt, editing=True).post("/c/number/lessons", data={"text": text}, headers=HERE)
    assert answer.status_code == 404
    assert "a hint has 1 to 4,000 characters" in text_of(answer.text)
    assert not (learnt / "archive" / "campaigns" / "number.inbox").exists()


def test_a_hint_for_a_campaign_that_is_not_there_makes_nothing(browse, learnt):
    before = sorted(learnt.rglob("*"))
    answer = browse(learnt, editing=True).post("/c/nowhere/lessons", data={"text": "try seven"}, headers=HERE)
    assert answer.status_code == 404
    assert sorted(learnt.rglob("*")) == before
