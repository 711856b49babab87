"""A campaign at a glance."""

import json
from dataclasses import asdict

from evolve import report
from evolve.campaign.campaign import best_confirmed
from evolve.types import Evaluation, Origin, Outcome, Record
from tests.written import Written, number_task, short_campaign


def test_an_overview_holds_progress_best_archive_and_machine(tmp_path):
    """Everything that fits on a page, ready for JSON."""
    with short_campaign(tmp_path) as campaign:
        page = report.overview(campaign)
    assert (
        page.name,
        page.events,
        page.records,
        page.programs,
        page.screened,
        page.measurements,
    ) == ("number", 8, 6, 4, 1, 0)
    assert (page.best.name, page.isolation, page.hardware, page.difference) == ("number/6", "reduced", "one core", "")
    assert page.outcomes == {"ok": 4, "crashed": 1, "screened": 1}
    assert page.cells > 0
    assert json.loads(json.dumps(asdict(page)))["settings"]["budget"] == ["30programs"]


def test_a_fresh_campaign_has_a_page_too(tmp_path):
    """Without a best program."""
    with Written(tmp_path).campaign as campaign:
        page = report.overview(campaign)
    assert (page.best, page.records, page.elites) == (None, 0, 0)


def test_it_names_the_operators_that_are_left_out(tmp_path):
    """Where judging the seed takes longer than they are meant for."""
    why = "meant for tasks whose seed is evaluated in less than 1 s, and this one's took 2 s"
    for seconds, left_out in ((0.5, {}), (2.0, {"mutate_ast": why})):
        written = Written(tmp_path / str(seconds))
        evaluation = Evaluation(Outcome.OK, 5.0, descriptors={"size": 5.0}, seconds=seconds)
        with written.campaign as campaign:
            with campaign.log.transaction():
                campaign.log.put_program(written.task.seed, "")
                campaign.append(campaign.state.settle(Record(1, Origin("seed", 0), written.task.seed.id, evaluation)))
            assert report.overview(campaign).left_out == left_out


def test_it_says_why_an_operator_that_is_refused_again_and_again_is_left_out(tmp_path):
    """From the eighth refusal in a row on, until something that it made is evaluated; other operators change nothing about it."""
    written = Written(tmp_path)
    written.seed(5.0)
    for _ in range(7):
        written.failure(Outcome.SCREENED, "no number in seed.py. Try: write one")
    with written.campaign as campaign:
        assert report.overview(campaign).left_out == {}
        written.failure(Outcome.SCREENED, "no number in seed.py. Try: write one")
        written.proposal(6.0, operator="mutate_ast")
        assert report.overview(campaign).left_out == {"tune_literals": "no number in seed.py"}
        written.proposal(4.0)
        assert report.overview(campaign).left_out == {}


def test_only_a_confirmed_fitness_reaches_a_goal(tmp_path):
    """A noisy task's best has none before it was measured again; a deterministic one's fitness needs no other."""
    for deterministic, left in ((True, "nearness 2 to reach, 6 now"), (False, "nearness 2 to reach, none yet")):
        task = number_task(deterministic=deterministic)
        written = Written(tmp_path / str(deterministic), task, budget=["fitness=2"])
        written.seed()
        written.proposal(6.0)
        with written.campaign as campaign:
            assert report.budget_left(campaign, now=0.0) == left


def test_a_goal_is_reached_by_the_measurements_after_the_win(tmp_path):
    """By their mean, and not by the lucky value that won."""
    written = Written(tmp_path, number_task(deterministic=False), budget=["fitness=6"])
    written.seed()
    program = written.proposal(9.0).record.program
    with written.campaign as campaign:
        for number, value in enumerate((9.0, 5.0, 5.5), start=3):
            again = Record(number, Origin("measurement", number, about=2), program, Evaluation(Outcome.OK, value))
            campaign.state.settle(again)
        best = campaign.state.archive.best
        assert (best.program, best.fitness > best.reported.mean) == (program, True)
        assert best_confirmed(campaign) == best.reported.mean
        assert "to reach" in report.budget_left(campaign, now=0.0)


def test_what_is_left_of_the_budget_is_told(tmp_path):
    """Four of thirty programs were evaluated."""
    with short_campaign(tmp_path) as campaign:
        assert report.budget_left(campaign, now=0.0) == "26 programs"
