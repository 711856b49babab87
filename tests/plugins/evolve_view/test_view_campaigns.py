"""The list of campaigns, and campaigns of one task side by side."""

import pytest

from evolve.types import Call
from tests.plugins.evolve_view.hostile import text_of
from tests.written import Written, number_task, short_campaign


@pytest.fixture
def home(tmp_path):
    short_campaign(tmp_path, "one").close()
    written = Written(tmp_path, name="two")
    written.seed(5.0)
    written.proposal(5.5)
    written.campaign.close()
    other = Written(tmp_path, number_task(name="elsewhere"), name="three")
    other.seed(5.0)
    other.campaign.close()
    return tmp_path


def read(browse, home, path) -> str:
    answer = browse(home).get(path)
    assert answer.status_code == 200
    return " ".join(text_of(answer.text).split())


def test_an_empty_workspace_says_how_to_begin(browse, tmp_path):
    assert "evolve run online_bin_packing" in read(browse, tmp_path, "/")


def test_the_list_has_task_records_and_strategy_of_each(browse, home):
    page = read(browse, home, "/")
    assert "three elsewhere" in page
    assert page.index("three") < page.index("two") < page.index("one")


def test_a_log_that_cannot_be_read_is_a_line(browse, home):
    (home / "archive" / "campaigns" / "torn.db").write_bytes(b"no database")
    assert "torn cannot be read:" in read(browse, home, "/")


def test_campaigns_are_compared_at_as_many_programs(browse, home):
    """The one stands at 6 after one program; the other at 5.5."""
    page = read(browse, home, "/compare?campaign=one&campaign=two")
    assert "at 1 program" in page
    assert "one 6.5 reduced record 6 6 islands 4" in page
    assert "two 5.5 reduced record 2 5.5 islands 1" in page


def test_only_campaigns_of_the_same_task_are_offered_beside_it(browse, home):
    assert "<option>two</option></select>" in browse(home).get("/compare?campaign=one").text
    assert "<option>three</option>" in browse(home).get("/compare").text


def test_their_curves_are_in_one_chart(browse, home):
    page = browse(home).get("/compare?campaign=one&campaign=two").text
    assert "nearness against programs. one: 6.5 at 4; two: 5.5 at 1" in page


def test_what_models_cost_is_an_axis_only_where_models_were_called(browse, home, tmp_path):
    assert "x=tokens" not in browse(home).get("/compare?campaign=one&campaign=two").text
    written = Written(tmp_path)
    written.seed()
    written.called(Call("small", prompt_tokens=120, completion_tokens=30, cost=0.01))
    written.proposal(6.0, operator="diff", model="small")
    written.campaign.close()
    assert "6 at 150" in browse(tmp_path).get("/compare?campaign=number&x=tokens").text


def test_campaigns_of_two_tasks_are_not_compared(browse, home):
    answer = browse(home).get("/compare?campaign=one&campaign=three")
    assert answer.status_code == 404
    assert "only campaigns of one task are compared" in text_of(answer.text)


def test_more_campaigns_than_are_kept_open_are_not_compared(browse, home):
    query = "&".join(f"campaign={number}" for number in range(7))
    answer = browse(home).get(f"/compare?{query}")
    assert "at most 6 campaigns are compared here, got 7" in text_of(answer.text)
