"""Lessons with their dates; a hint goes through the inbox."""

import pytest

from evolve.campaign.inbox import Hint, Inbox
from evolve.web.pages.lessons import LONGEST
from tests.web.conftest import ADDRESS
from tests.web.hostile import text_of
from tests.written import Written

HERE = {"origin": f"http://{ADDRESS}"}


@pytest.fixture
def home(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.reflection("small", "small numbers fail", "large ones do not")
    written.campaign.close()
    return tmp_path


def test_the_newest_lesson_is_the_first(browse, home):
    page = text_of(browse(home).get("/c/number/lessons").text)
    assert page.index("large ones do not") < page.index("small numbers fail")
    assert "A hint of your own" not in page


def test_a_hint_waits_in_the_inbox_until_somebody_writes_the_log(browse, home):
    client = browse(home, editing=True)
    assert "A hint of your own" in client.get("/c/number/lessons").text
    answer = client.post("/c/number/lessons", data={"text": " try seven \n"}, headers=HERE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/c/number/lessons")
    letters = Inbox(home / "archive" / "campaigns" / "number.db").letters()
    assert [letter.request.wish for letter in letters] == [Hint("try seven")]
    assert "waits to be taken: try seven" in text_of(client.get("/c/number/lessons").text)


@pytest.mark.parametrize("text", ["", "  \n", "x" * (LONGEST + 1)])
def test_a_hint_says_something_and_no_book(browse, home, text):
    answer = browse(home, editing=True).post("/c/number/lessons", data={"text": text}, headers=HERE)
    assert answer.status_code == 404
    assert "a hint has 1 to 4,000 characters" in text_of(answer.text)
    assert not (home / "archive" / "campaigns" / "number.inbox").exists()


def test_a_hint_for_a_campaign_that_is_not_there_makes_nothing(browse, home):
    before = sorted(home.rglob("*"))
    answer = browse(home, editing=True).post("/c/nowhere/lessons", data={"text": "try seven"}, headers=HERE)
    assert answer.status_code == 404
    assert sorted(home.rglob("*")) == before
