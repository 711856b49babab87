"""What operators and models brought and cost."""

import pytest

from evolve.types import Call, Outcome
from tests.plugins.evolve_view.hostile import text_of
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
