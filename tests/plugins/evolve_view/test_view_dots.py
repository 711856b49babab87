"""The picture of every program as a dot over time."""

import re

import numpy as np
import pytest

from benchmarks.large import make
from evolve import plugins
from evolve.campaign import Campaign
from evolve.types import Fitness, Outcome, TaskChanged
from evolve_view import dots
from evolve_view.dots import can_be_log, draw_dots, find_dot_scale
from tests.plugins.evolve_view.hostile import text_of, wrong_in
from tests.written import Written, aiming_campaign, number_task, short_campaign


def records(links):
    return sorted(link.record for link in links)


def place(path):
    x, y = path.removeprefix("M").removesuffix("h0").split()
    return float(x), float(y)


def test_each_program_is_a_dot_and_what_has_no_score_lies_in_the_strip(tmp_path):
    with short_campaign(tmp_path) as campaign:
        picture = draw_dots(campaign)
    assert (records(picture.links), records(picture.strip_links)) == ([1, 2, 3, 6], [4, 5])
    assert picture.drawn == 6
    places = {link.record: place(link.path) for link in picture.links}
    assert places[6][1] < places[2][1] < places[1][1] < places[3][1]
    assert places[1][0] < places[2][0] < places[3][0] < places[6][0]


def test_a_dot_says_what_it_is(tmp_path):
    with short_campaign(tmp_path) as campaign:
        picture = draw_dots(campaign)
    words = {link.record: link.words for link in (*picture.links, *picture.strip_links)}
    assert words[2] == "2: nearness 6, tune_literals"
    assert words[4] == "4: crashed, tune_literals"
    assert words[5] == "5: screened, tune_literals"


def test_where_less_is_better_the_axis_still_has_the_smaller_below(tmp_path):
    written = Written(tmp_path, number_task(fitness=Fitness("distance", "min", 6)))
    written.seed(5.0)
    written.proposal(2.0)
    with written.campaign as campaign:
        picture = draw_dots(campaign)
    (_, seed), (_, better) = (place(link.path) for link in picture.links)
    assert seed < better


def test_the_line_of_the_best_steps_where_a_better_one_came(tmp_path):
    with short_campaign(tmp_path) as campaign:
        picture = draw_dots(campaign)
    heights = {link.record: place(link.path)[1] for link in picture.links}
    assert [float(found) for found in re.findall(r"V([\d.]+)", picture.best)] == [heights[2], heights[6]]


def test_colours_are_those_of_operators_or_of_models(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    for number, model in enumerate(("small", "small", "large")):
        written.proposal(6.0 + number, operator="diff", model=model)
    with written.campaign as campaign:
        assert list(draw_dots(campaign).legend) == ["diff", "seed or import"]
        by_model = draw_dots(campaign, colour="model")
    assert set(by_model.legend) == {"small", "large", "no model"}
    assert {hue: path.count("M") for hue, path in by_model.passed.items()} == {
        by_model.legend["small"]: 2,
        by_model.legend["large"]: 1,
        by_model.legend["no model"]: 1,
    }


def test_what_misses_a_constraint_is_no_score_and_no_best(tmp_path):
    with aiming_campaign(tmp_path) as campaign:
        picture = draw_dots(campaign)
    assert records(picture.strip_links) == [6]
    assert picture.strip_links[0].words == "6: misses a constraint, tune_literals"


def test_a_measurement_is_no_program(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.again(1, 5.5)
    with written.campaign as campaign:
        assert draw_dots(campaign).drawn == 1


def test_scores_of_an_earlier_version_of_the_task_are_not_beside_those_of_this_one(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    with written.campaign as campaign:
        definition = next(campaign.log.events()).event.definition
        with campaign.log.transaction():
            campaign.write(TaskChanged("fedcba98" * 8, definition))
        written.proposal(7.0)
        picture = draw_dots(campaign)
    assert (records(picture.links), picture.earlier) == ([3], 2)


def test_against_seconds_a_dot_stands_where_it_settled(tmp_path):
    make(tmp_path, 40)
    with Campaign.open("large", plugins.load(), tmp_path) as campaign:
        picture, active = draw_dots(campaign, "seconds"), campaign.log.active_of(range(1, 41))
    for link in picture.links:
        assert place(link.path)[0] == pytest.approx(1000.0 * active[link.record] / active[40], abs=0.1)


def test_of_too_many_evenly_fewer_are_drawn_and_the_others_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(dots, "MOST", 100)
    make(tmp_path, 900)
    with Campaign.open("large", plugins.load(), tmp_path) as campaign:
        best = campaign.state.archive.best.record
        picture = draw_dots(campaign)
    assert picture.left_out == 900 - picture.drawn
    assert 100 <= picture.drawn < 250
    assert best in records(picture.links)


def test_of_dots_that_touch_the_best_is_opened(tmp_path):
    written = Written(tmp_path)
    written.seed(0.0)
    written.proposal(1000.0)
    for number in range(3, 203):
        written.proposal(1000.0 + number / 1e6)
    with written.campaign as campaign:
        links = draw_dots(campaign).links
        drawn = sum(path.count("M") for path in draw_dots(campaign).passed.values())
    assert drawn == 202
    assert len(links) < 150
    assert 202 in records(links)


@pytest.mark.parametrize(
    ("values", "direction", "chosen", "log"),
    [
        ([1.0, 2.0, 3.0], "max", "", False),
        ([1.0, 2.0, 3.0], "max", "log", True),
        ([0.001, 1.0, 100.0], "min", "", True),
        ([0.001, 1.0, 100.0], "min", "linear", False),
        ([-0.001, -1.0, -100.0], "max", "", True),
        ([-1.0, 1.0, 1000.0], "max", "log", False),
        ([0.0, 1.0, 1000.0], "max", "log", False),
        ([], "max", "log", False),
        ([3.0], "max", "log", True),
    ],
)
def test_an_axis_is_logarithmic_where_values_of_one_sign_want_it(values, direction, chosen, log):
    scale = find_dot_scale(np.array(values), direction, chosen)
    assert scale.log is log
    assert scale.low < scale.high
    shares = scale.shares(np.array(values))
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert list(np.argsort(shares)) == list(np.argsort(values))
    assert all(0.0 <= share <= 1.0 for share, _ in scale.labels())
    assert len(scale.labels()) <= 8


def test_one_value_next_to_nothing_makes_no_orders_of_magnitude():
    assert not find_dot_scale(np.array([1e-9, *np.linspace(1.0, 5.0, 100)]), "max").log


def test_the_worst_are_cut_off_where_they_would_press_the_others_flat():
    values = np.array([*np.linspace(1.0, 2.0, 99), -1e6])
    assert 0.5 < find_dot_scale(values, "max").low < 1.5
    assert find_dot_scale(-values, "min").high < -0.5
    assert find_dot_scale(values, "min").low < -1e5


@pytest.mark.parametrize(("value", "high"), [(0.0, 1.0), (5.0, 5.005)])
def test_of_one_value_there_is_a_little_around(value, high):
    scale = find_dot_scale(np.array([value]), "max")
    assert (scale.low, scale.high) == pytest.approx((2 * value - high, high))


def test_zero_has_no_place_on_a_logarithmic_axis():
    assert not can_be_log(np.array([0.0, 1.0]))
    assert not can_be_log(np.array([-1.0, 1.0]))


def test_the_picture_is_a_part_of_the_campaigns_page(browse, looked_at):
    client = browse(looked_at)
    assert 'hx-get="/c/number/dots?' in client.get("/c/number?x=programs").text
    page = client.get("/c/number/dots?time=seconds&axis=log")
    assert page.status_code == 200
    assert page.text.count('class="hit"') == 6
    assert 'href="/c/number/programs/6"' in page.text
    assert "on a logarithmic axis" in text_of(page.text)


def test_a_campaign_that_has_not_grown_is_not_drawn_again(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    page = browse(tmp_path)
    seen = re.search(r"seen=(\d+)", page.get("/c/number/dots").text)[1]
    assert page.get(f"/c/number/dots?seen={seen}").status_code == 204
    written.proposal(6.0)
    assert page.get(f"/c/number/dots?seen={seen}").status_code == 200
    written.campaign.close()


def test_a_campaign_without_programs_says_so(browse, tmp_path):
    Written(tmp_path, name="empty").campaign.close()
    assert "No program has settled yet" in text_of(browse(tmp_path).get("/c/empty/dots").text)


@pytest.mark.parametrize("query", ["time=never", "colour=blue", "axis=round", "seen=x"])
def test_what_is_no_choice_is_refused(browse, looked_at, query):
    assert browse(looked_at).get(f"/c/number/dots?{query}").status_code == 404


@pytest.mark.parametrize("query", ["", "?colour=model"])
def test_what_programs_and_operators_are_called_is_text(browse, hostile, query):
    assert wrong_in(browse(hostile).get(f"/c/hostile/dots{query}").text) == []


def test_a_failure_of_a_program_that_scored_nowhere_has_no_place_above(tmp_path):
    written = Written(tmp_path)
    written.failure(Outcome.CRASHED, "no", parents=())
    with written.campaign as campaign:
        picture = draw_dots(campaign)
    assert (picture.links, picture.best, list(picture.y_labels)) == ((), "", [])
    assert records(picture.strip_links) == [1]
