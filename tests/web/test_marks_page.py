"""Stars, tags and comments by forms."""

import pytest

from evolve.store.comments import Comments
from tests.web.hostile import EVIL, text_of, wrong_in
from tests.written import short_campaign

ORIGIN = {"origin": "http://127.0.0.1:8421"}
HTMX = {**ORIGIN, "hx-request": "true"}
PLACE = "/c/number/programs/2/marks"


@pytest.fixture
def home(tmp_path):
    short_campaign(tmp_path).close()
    return tmp_path


def kept(home):
    return Comments(home / "archive" / "campaigns" / "number.db").of(2)


def test_a_star_is_set_and_taken(browse, home):
    client = browse(home, editing=True)
    answer = client.post(PLACE, data={"what": "star", "on": "1"}, headers=HTMX)
    assert answer.status_code == 200
    assert "starred" in text_of(answer.text)
    assert kept(home).starred
    client.post(PLACE, data={"what": "star", "on": "0"}, headers=HTMX)
    assert not kept(home).starred


def test_a_tag_is_added_and_removed(browse, home):
    client = browse(home, editing=True)
    client.post(PLACE, data={"what": "tag", "tag": " simple "}, headers=HTMX)
    client.post(PLACE, data={"what": "tag", "tag": "fast"}, headers=HTMX)
    assert sorted(kept(home).tags) == ["fast", "simple"]
    client.post(PLACE, data={"what": "tag", "tag": "fast", "on": "0"}, headers=HTMX)
    assert kept(home).tags == ("simple",)


def test_a_comment_is_written_shown_and_removed(browse, home):
    client = browse(home, editing=True)
    answer = client.post(PLACE, data={"what": "comment", "text": f"look at {EVIL}"}, headers=HTMX)
    (comment,) = kept(home).comments
    assert comment.text == f"look at {EVIL}"
    assert comment.by
    assert wrong_in(answer.text) == []
    client.post(PLACE, data={"what": "remove", "at": repr(comment.at)}, headers=HTMX)
    assert kept(home).comments == ()


def test_without_htmx_the_answer_leads_back_to_the_program(browse, home):
    answer = browse(home, editing=True).post(PLACE, data={"what": "star"}, headers=ORIGIN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/c/number/programs/2")


def test_marks_are_shown_where_nothing_may_be_changed(browse, home):
    marks = Comments(home / "archive" / "campaigns" / "number.db")
    marks.star(2, True)
    marks.comment(2, "the first that counts", "me", 1_700_000_000.0)
    page = browse(home).get("/c/number/programs/2").text
    assert "the first that counts" in text_of(page)
    assert '<form method="post"' not in page


def test_who_only_looks_makes_no_file(browse, home):
    browse(home, editing=True).get("/c/number/programs/2")
    browse(home).get("/c/number/programs")
    assert [path.name for path in (home / "archive" / "campaigns").glob("*comments*")] == []


@pytest.mark.parametrize("editing", [False, True])
@pytest.mark.parametrize("headers", [{}, {"origin": "http://evil.example"}, {"origin": "null"}])
def test_a_form_of_another_page_changes_nothing(browse, home, headers, editing):
    answer = browse(home, editing=editing).post(PLACE, data={"what": "star"}, headers=headers)
    assert answer.status_code == 403
    assert not kept(home).starred


@pytest.mark.parametrize("known", [False, True])
def test_nothing_changes_without_edit_or_without_the_token(browse, home, known):
    answer = browse(home, editing=not known, known=known).post(PLACE, data={"what": "star"}, headers=ORIGIN)
    assert answer.status_code == 403
    assert not kept(home).starred


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"what": "quarantine"}, "a mark is a star, a tag or a comment"),
        ({}, "a mark is a star, a tag or a comment"),
        ({"what": "tag", "tag": ""}, "a tag is one line of 1 to 60 characters"),
        ({"what": "tag", "tag": "x" * 61}, "a tag is one line of 1 to 60 characters"),
        ({"what": "comment", "text": "  "}, "a comment is a text"),
        ({"what": "comment", "text": "x" * 20_000}, "a comment is a text of 1 to 10,000 characters"),
        ({"what": "comment", "text": "x" * 80_000}, "a form has at most 64,000 bytes"),
        ({"what": "remove", "at": "now"}, "a comment is named by its time"),
    ],
)
def test_what_is_no_mark_is_said(browse, home, words, said):
    answer = browse(home, editing=True).post(PLACE, data=words, headers=HTMX)
    assert answer.status_code == 404
    assert said in text_of(answer.text)


def test_what_is_wrong_with_a_part_of_a_page_is_told_at_its_top(browse, home):
    """The part stays as it was, and what is told is not a page in a page."""
    answer = browse(home, editing=True).post(PLACE, data={"what": "tag", "tag": EVIL * 9}, headers=HTMX)
    told = {name: answer.headers[name] for name in ("hx-retarget", "hx-reswap", "hx-reselect")}
    assert told == {"hx-retarget": "#told", "hx-reswap": "innerHTML", "hx-reselect": "#wrong"}
    assert answer.text.startswith('<p id="wrong"')
    assert wrong_in(answer.text) == []


def test_a_record_that_there_is_not_gets_no_mark(browse, home):
    answer = browse(home, editing=True).post("/c/number/programs/99/marks", data={"what": "star"}, headers=HTMX)
    assert answer.status_code == 404
    assert not list((home / "archive" / "campaigns").glob("*comments*"))


def test_a_mark_is_no_page(browse, home):
    assert browse(home, editing=True).get(PLACE).status_code == 405
