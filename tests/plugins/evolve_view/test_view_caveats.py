"""Reasons for less trust in a result."""

from dataclasses import replace

import pytest

from evolve import report
from evolve.types import Call, Case, Fitness, Ruled
from evolve_view.caveats import list_caveats
from tests.plugins.evolve_view.reports import held_out_campaign
from tests.written import Written, number_task, short_campaign


def read_caveats(campaign, *, severe):
    """The severe ones, or the others, one in a line."""
    with campaign:
        found = list_caveats(campaign, report.overview(campaign))
    return "\n".join(one.text for one in found if one.severe is severe)


def test_severe_reasons_stand_first(tmp_path):
    with short_campaign(tmp_path) as campaign:
        found = [one.severe for one in list_caveats(campaign, report.overview(campaign))]
    assert found == sorted(found, reverse=True)
    assert True in found


def test_a_claimed_score_is_called_so(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(7.0, trust="claimed")
    assert "claimed: the program itself computed it" in read_caveats(written.campaign, severe=True)


def test_a_rescored_score_is_called_so(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(7.0, trust="rescored")
    assert "computed from files that the program saved" in read_caveats(written.campaign, severe=False)


@pytest.mark.parametrize(
    ("isolation", "words", "severe"),
    [
        ("reduced: a process", "at the level reduced only", True),
        ("standard: namespaces", "at the level standard, and not at strict", False),
        ("", "at the level unknown, and not at strict", False),
    ],
)
def test_isolation_below_strict_is_doubted(tmp_path, isolation, words, severe):
    written = Written(tmp_path)
    written.seed(5.0, isolation=isolation)
    assert words in read_caveats(written.campaign, severe=severe)


def test_a_proven_value_is_not_doubted(tmp_path):
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed(5.0)
    written.proposal(7.0)
    written.certificate(2, 7.0)
    found = read_caveats(written.campaign, severe=False)
    assert "deterministic" not in found
    assert "held out" not in found


def test_a_noisy_best_that_is_not_confirmed_is_luck_in_part(tmp_path):
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.proposal(7.0, standard_error=0.1)
    assert "it is the largest of 1 program, and some of that is luck." in read_caveats(written.campaign, severe=False)


def test_a_gain_that_may_be_luck_is_doubted(tmp_path):
    written = Written(tmp_path, number_task(fitness=Fitness("speed", log_ratio=True), deterministic=False))
    written.seed(0.0)
    for value in (0.1, -0.1):
        written.again(1, value)
    written.proposal(0.25, standard_error=0.1)
    assert "The seed's score lies within the limits of the best one" in read_caveats(written.campaign, severe=True)


def test_a_ratio_within_the_noise_of_the_seed_is_doubted(tmp_path):
    written = Written(tmp_path, number_task(fitness=Fitness("speed", log_ratio=True), deterministic=False))
    written.seed(0.0)
    for value in (0.1, -0.1):
        written.again(1, value)
    written.proposal(0.25, standard_error=0.01)
    assert "The gain is within the noise: 1.284" in read_caveats(written.campaign, severe=True)


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ((0.2, 0.2), "most of the gain is gone on held-out cases: 10% of it is left on average."),
        (
            (0.0, -1.0),
            "all of the gain is gone on held-out cases: on average the program is no better than the seed there.",
        ),
        (
            (2.0, 2.0, -0.1),
            "held-out cases keep 65% of the gain on average, but less than half of it is left on 1 of 3: case 2 (worse than the seed).",
        ),
        (
            (2.0, 0.1),
            "held-out cases keep 52% of the gain on average, but less than half of it is left on 1 of 2: case 1 (5%).",
        ),
    ],
)
def test_a_gain_that_vanishes_elsewhere_is_doubted(tmp_path, gains, words):
    assert words in read_caveats(held_out_campaign(tmp_path, *gains), severe=True)


def test_a_gain_that_holds_is_not_doubted(tmp_path):
    assert "held-out" not in read_caveats(held_out_campaign(tmp_path, 2.0, 1.5), severe=True)


def test_cases_that_nobody_measured_are_doubted(tmp_path):
    written = Written(tmp_path, number_task(held_out=(Case("large"),)))
    written.seed(5.0)
    written.proposal(7.0)
    assert "0 of 1 held-out case measured: what the gain is worth elsewhere" in read_caveats(
        written.campaign, severe=True
    )


def test_quarantine_and_estimated_costs_are_named(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.called(Call("small", prompt_tokens=9))
    best = written.proposal(9.0, operator="diff", model="small")
    with written.campaign.log.transaction():
        written.campaign.write(Ruled("quarantine", best.record.program, "bound", "beyond 8"))
    found = read_caveats(written.campaign, severe=False)
    assert "1 program in quarantine" in found
    assert "estimated for the others" in found


def test_a_replay_that_differs_and_an_earlier_version_of_the_task_are_severe(tmp_path):
    with short_campaign(tmp_path) as campaign:
        seen = replace(report.overview(campaign), difference="event 7", former_records=3, former_elites=2)
        first, second = (one.text for one in list_caveats(campaign, seen)[:2])
    assert first == "A replay gives another archive than the log says, first at event 7."
    assert second.startswith("3 records of an earlier version of the task are history")
    assert "2 of their elites are not evaluated" in second


def test_less_isolation_than_the_campaign_has_reached_is_severe(tmp_path):
    with short_campaign(tmp_path) as campaign:
        seen = report.overview(campaign)
        assert seen.best is not None
        found = list_caveats(campaign, replace(seen, best=replace(seen.best, weaker=True)))
    assert "evaluated under less isolation than the campaign has reached" in "".join(
        one.text for one in found if one.severe
    )


def test_a_gain_that_holds_on_average_and_not_on_every_case_is_doubted(tmp_path):
    """A program that no ruling has promoted."""
    with held_out_campaign(tmp_path, 2.0, 1.5) as campaign:
        seen = report.overview(campaign)
        assert seen.best is not None
        found = list_caveats(campaign, replace(seen, best=replace(seen.best, promoted=False)))
    assert "The gain does not hold on every held-out case" in "".join(one.text for one in found if one.severe)


def test_a_seed_that_nothing_beats_has_no_gain_to_doubt(tmp_path):
    written = Written(tmp_path, number_task(held_out=(Case("large"),)))
    written.seed(5.0)
    assert "held-out" not in read_caveats(written.campaign, severe=True)
