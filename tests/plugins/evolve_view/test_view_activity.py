"""Operators and models, failures, lessons and hints."""

import re

import pytest

from evolve.campaign.inbox import Hint, Inbox, Request
from evolve.types import Call, Outcome
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


def test_who_is_left_out_is_named_with_the_reason(browse, tmp_path):
    """Here and on the overview."""
    written = Written(tmp_path)
    written.seed(5.0)
    for _ in range(8):
        written.failure(Outcome.SCREENED, "no number in seed.py. Try: write one")
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


def test_a_campaign_without_failures_says_so(browse, tmp_path):
    Written(tmp_path, name="clean").campaign.close()
    assert "No program has failed" in words(browse(tmp_path).get("/c/clean/failures"))


@pytest.mark.parametrize("query", ["", "?screened=1", "?screened=%3Cscript%3E"])
def test_what_was_said_is_text(browse, hostile, query):
    assert wrong_in(browse(hostile).get(f"/c/hostile/failures{query}").text) == []


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


def test_a_hint_that_no_run_has_read_is_shown(browse, learnt):
    Inbox(learnt / "archive" / "campaigns" / "number.db").put(Request("a" * 32, Hint("try seven")), 0.0)
    assert "waits to be taken: try seven" in text_of(browse(learnt).get("/c/number/lessons").text)
