"""A campaign at a glance says a score with how it was judged."""

import pytest

from evolve.types import Outcome, Paused
from tests.pages.told import held_out_campaign
from tests.web.hostile import text_of
from tests.written import Written, number_task, short_campaign


def read(browse, home, path="/c/number") -> str:
    """The page's words, each separated by one space."""
    answer = browse(home).get(path)
    assert answer.status_code == 200
    return " ".join(text_of(answer.text).split())


def test_the_best_is_said_with_its_isolation_and_its_gain(browse, looked_at):
    page = read(browse, looked_at)
    assert "best nearness 6.5 reduced" in page
    assert "against the seed +1.5 seed 5" in page
    assert "Later 2025 arXiv:1 8 -1.5" in page


def test_what_is_claimed_is_said_to_be_claimed(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0, trust="claimed")
    written.campaign.close()
    assert "best nearness 6 claimed reduced" in read(browse, tmp_path)


def test_a_noisy_score_has_its_uncertainty(browse, tmp_path):
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    for value in (5.2, 4.8, 5.1, 4.9):
        written.again(1, value)
    written.campaign.close()
    page = read(browse, tmp_path)
    assert "±" in page
    assert "measurements" in page


@pytest.mark.parametrize(
    ("gains", "warning"),
    [
        (
            (0.1, 0.1),
            "The best program is promoted; but most of the gain is gone on held-out cases: 5% of it is left on average.",
        ),
        ((2.0, -1.0), "The best program is not promoted: on held-out cases it is worse than the seed (case 1)."),
    ],
)
def test_what_held_out_cases_say_against_the_best_stands_above_its_score(browse, tmp_path, gains, warning):
    held_out_campaign(tmp_path, *gains).close()
    page = read(browse, tmp_path)
    assert -1 < page.find(warning) < page.find("best nearness")


def test_what_holds_on_held_out_cases_is_no_warning(browse, tmp_path):
    held_out_campaign(tmp_path, 2.0, 1.9).close()
    page = read(browse, tmp_path)
    assert "The best program is" not in page


def test_outcomes_and_a_budget_that_is_used_are_there(browse, looked_at):
    page = read(browse, looked_at)
    assert "ok 4 (66.7 %)" in page
    assert "30programs 26 programs left" in page


def test_while_nobody_writes_the_time_stands_still(browse, looked_at):
    client = browse(looked_at)
    assert "running" in client.get("/c/number").text
    assert "every 2s" not in client.get("/c/number").text


def test_a_campaign_that_a_person_paused_is_called_paused_while_it_runs(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    with written.campaign.log.transaction():
        written.campaign.write(Paused(True))
    page = read(browse, tmp_path)
    assert "number paused" in page
    assert "nothing new is started until evolve campaign unpause number" in page
    written.campaign.close()
    assert "number not running" in read(browse, tmp_path)


def test_a_run_that_ended_while_it_was_paused_is_not_called_paused(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    with written.campaign.log.transaction():
        written.campaign.write(Paused(True))
    written.campaign.close()
    page = read(browse, tmp_path)
    assert "Its run ended while it was paused: evolve run --continue number goes on." in page
    assert "A person has paused it" not in page


def test_a_campaign_without_a_score_says_so(browse, tmp_path):
    written = Written(tmp_path)
    written.failure(Outcome.CRASHED, "it broke")
    written.campaign.close()
    page = read(browse, tmp_path)
    assert "No program has passed yet, not even the seed." in page
    assert browse(tmp_path).get("/c/number/curve.json").json()["series"][0]["x"] == []


def test_a_campaign_without_a_record_opens(browse, tmp_path):
    Written(tmp_path).campaign.close()
    for path in ("/c/number", "/c/number/archive", "/c/number/operators", "/c/number/lessons", "/c/number/settings"):
        assert browse(tmp_path).get(path).status_code == 200
    for path in ("curve", "throughput", "operators-over-time", "models-over-time"):
        assert browse(tmp_path).get(f"/c/number/{path}.json").status_code == 200


def test_the_curve_is_data(browse, looked_at):
    chart = browse(looked_at).get("/c/number/curve.json?x=programs").json()
    assert chart["series"][0]["y"] == [5.0, 6.0, 6.5, 6.5]
    assert chart["levels"][0] == {"name": "Early", "value": 3.0, "low": None, "high": None}


def test_a_campaign_that_grows_is_seen_to(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    client = browse(tmp_path)
    before = client.get("/c/number/curve.json").json()["series"][0]["y"]
    written.proposal(7.0)
    assert (before, client.get("/c/number/curve.json").json()["series"][0]["y"]) == ([5.0, 5.0], [5.0, 7.0, 7.0])
    written.campaign.close()


@pytest.mark.parametrize("named", ["number", "another-name"])
def test_links_lead_to_the_campaign_by_the_name_of_its_log(browse, tmp_path, named):
    """Whatever it was called when it began."""
    short_campaign(tmp_path).close()
    campaigns = tmp_path / "archive" / "campaigns"
    (campaigns / "number.db").rename(campaigns / f"{named}.db")
    assert f'href="/c/{named}/programs/6"' in browse(tmp_path).get(f"/c/{named}").text
