"""A campaign at a glance, and its settings."""

import time

import pytest

from evolve.report import Best, Point
from evolve.stop import Target, any_of
from evolve.types import Outcome, Paused
from evolve_view import overview
from evolve_view.figures import draw_curve
from tests.plugins.evolve_view.hostile import text_of
from tests.plugins.evolve_view.reports import held_out_campaign
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


def test_severe_caveats_stand_above_the_score(browse, tmp_path):
    held_out_campaign(tmp_path, 0.1, 0.1).close()
    page = read(browse, tmp_path)
    assert -1 < page.find("most of the gain is gone on held-out cases: 5% of it") < page.find("best nearness")


def test_outcomes_and_a_budget_that_is_used_are_there(browse, looked_at):
    page = read(browse, looked_at)
    assert "ok 4 67%" in page
    assert "30programs 26 programs left" in page


def test_while_nobody_writes_the_time_stands_still(browse, looked_at):
    client = browse(looked_at)
    assert "running" in client.get("/c/number").text
    assert "every 2s" not in client.get("/c/number").text


def test_while_a_run_waits_for_an_answer_its_time_goes_on(browse, tmp_path, monkeypatch):
    """Of a run that has told nothing for two hours, too; of one that has ended it is that of its last event."""
    written = Written(tmp_path)
    written.seed(5.0)
    now = time.time
    monkeypatch.setattr(overview.time, "time", lambda: now() + 7200.0)
    assert "time 2 h" in read(browse, tmp_path)
    written.campaign.close()
    assert "time 2 h" not in read(browse, tmp_path)


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
    assert "No program has passed, not even the seed." in page
    assert "nothing to show yet" in page


def test_a_campaign_without_a_record_opens(browse, tmp_path):
    Written(tmp_path).campaign.close()
    for path in ("/c/number", "/c/number/archive", "/c/number/operators", "/c/number/lessons", "/c/number/settings"):
        assert browse(tmp_path).get(path).status_code == 200


@pytest.mark.parametrize(("against", "end"), [("programs", "6.5 at 4"), ("calls", "6.5 at 0")])
def test_the_curve_is_drawn_against_what_was_spent_with_seed_and_anchors(browse, looked_at, against, end):
    page = read(browse, looked_at, f"/c/number?x={against}")
    assert f"best so far: {end}" in page
    assert "Later 2025 8" in page
    assert "seed 5" in page


def test_a_curve_against_something_else_is_refused(browse, looked_at):
    assert browse(looked_at).get("/c/number?x=fame").status_code == 404


def test_the_best_of_a_noisy_task_is_drawn_with_its_limits():
    best = Best("number/1", 1, "program", 5.0, 0.1, 4, False, "strict", "witnessed", 5.0, 0.0, False, ())
    points = (Point(1, 0, 0.0, 0, 0, 0.0, 5.0, True), Point(1, 4, 2.0, 0, 0, 0.0, 5.0, True))
    figure = draw_curve(points, best, number_task(deterministic=False, anchors=()), any_of([]), "seconds")
    assert [(one.marks, list(one.x)) for one in figure.series] == [(False, [0.0, 2.0]), (True, [0.0])]
    assert (figure.levels[-1].low, figure.levels[-1].high) == (4.8, 5.2)


def test_seed_hardest_anchor_and_target_are_the_lines_of_a_curve():
    best = Best("number/1", 1, "program", 5.0, 0.0, 1, False, "strict", "witnessed", 4.0, 1.0, True, ())
    task = number_task()
    figure = draw_curve((), best, task, any_of([Target(7.5, task.fitness)]))
    assert [(line.value, line.name) for line in figure.levels] == [
        (4.0, "seed 4"),
        (8.0, "Later 2025 8"),
        (7.5, "target 7.5"),
    ]


def test_a_campaign_that_grows_is_seen_to(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    client = browse(tmp_path)
    assert "best so far: 5 at 0" in client.get("/c/number").text
    written.proposal(7.0)
    assert "best so far: 7 at 1" in client.get("/c/number").text
    written.campaign.close()


@pytest.mark.parametrize("named", ["number", "another-name"])
def test_links_lead_to_the_campaign_by_the_name_of_its_log(browse, tmp_path, named):
    """Whatever it was called when it began."""
    short_campaign(tmp_path).close()
    campaigns = tmp_path / "archive" / "campaigns"
    (campaigns / "number.db").rename(campaigns / f"{named}.db")
    assert f'href="/c/{named}/programs/6"' in browse(tmp_path).get(f"/c/{named}").text


def test_a_later_setting_is_the_one_that_is_shown(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.campaign.change({"budget": ["77programs"]})
    written.campaign.close()
    page = " ".join(text_of(browse(tmp_path).get("/c/number/settings").text).split())
    assert 'budget ["77programs"]' in page
    assert 'changed: budget = ["77programs"]' in page
    assert "archive.islands 4" in page
    assert "a run on one core, isolation reduced" in page
    assert "Find the number." in page
