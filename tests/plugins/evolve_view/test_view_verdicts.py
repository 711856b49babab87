"""What a reader of a report is told first."""

import pytest

from evolve.types import Fitness
from evolve_view.chapters import format_money
from evolve_view.verdicts import format_signed, format_time
from tests.plugins.evolve_view.reports import chapter, held_out_campaign
from tests.written import Written, aimed, aiming_task, number_task, short_campaign


def summary(campaign):
    with campaign:
        return chapter(campaign, "summary")


def test_the_score_comes_with_its_basis(tmp_path):
    told = summary(short_campaign(tmp_path))
    assert "nearness 6.5 (+1.5 to the seed) is what number/6 reaches." in told
    assert "Its score is witnessed, judged at the isolation level reduced." in told
    assert "Weak isolation: candidates were isolated at the level reduced only" in told


def test_an_open_campaign_is_running(tmp_path):
    assert "The campaign is running (process " in summary(short_campaign(tmp_path))


def test_nothing_was_judged_yet(tmp_path):
    assert "Nothing was judged yet. There is nothing to report." in summary(Written(tmp_path).campaign)


def test_a_seed_that_nothing_beats_is_told(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(4.0)
    assert "No improvement: the search found no program that is better than the seed" in summary(written.campaign)


def test_no_program_meets_the_constraints(tmp_path):
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1, 1, 400))
    told = "No program meets the constraints: the least violation 1, by number/1; memory 400, wanted at most 200."
    assert told in summary(written.campaign)


def test_a_claimed_score_is_called_so(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(7.0, trust="claimed")
    assert "Claimed: the program itself has computed this score" in summary(written.campaign)


def test_a_certified_value_names_its_proof(tmp_path):
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed(5.0)
    written.certificate(1, 5.0)
    written.proposal(7.0)
    written.certificate(3, 7.0)
    assert "a value that the task has proven in exact arithmetic (record number/4)" in summary(written.campaign)


def test_a_logarithm_is_told_as_a_ratio_and_luck_is_mentioned(tmp_path):
    written = Written(tmp_path, number_task(fitness=Fitness("speed", log_ratio=True), deterministic=False))
    written.seed(0.0)
    for value in (0.1, -0.1):
        written.again(1, value)
    written.proposal(0.25, standard_error=0.1)
    told = summary(written.campaign)
    assert "which is 1.284 times the seed, by the measurements that made it win, luck included" in told
    assert "Within the noise: the seed's 0 lies between the same limits, so that the gain may be luck." in told
    assert "the seed against itself: off by" in told


@pytest.mark.parametrize(
    ("gains", "told"),
    [
        ((0.2, 0.2), "Held out: most of the gain is gone on held-out cases: 10% of it is left on average."),
        (
            (0.0, -1.0),
            "Held out: all of the gain is gone on held-out cases: on average the program is no better than the seed there.",
        ),
        (
            (2.0, 2.0, -0.1),
            "Held out: the gain does not hold on every held-out case, so that the program is not promoted.",
        ),
        (
            (2.0, 0.1),
            "Held out: held-out cases keep 52% of the gain on average, but less than half of it is left on 1 of 2: case 1 (5%).",
        ),
        (
            (2.0, 2.0, 0.0),
            "Held out: held-out cases keep 67% of the gain on average, but less than half of it is left on 1 of 3: case 2 (equal to the seed).",
        ),
    ],
)
def test_a_gain_that_vanishes_elsewhere_is_told_at_once(tmp_path, gains, told):
    assert told in summary(held_out_campaign(tmp_path, *gains))


def test_a_gain_that_holds_needs_no_warning(tmp_path):
    told = summary(held_out_campaign(tmp_path, 2.0, 1.5))
    assert "It is promoted: on no held-out case is it worse than the seed." in told
    assert "Held out" not in told


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (format_signed(0.123456789, 6), "+0.1235"),
        (format_signed(-0.0000001, 3), "+0"),
        (format_signed(None, 3), "-"),
        (format_money(0.0), "0.00 usd"),
        (format_money(0.0123), "0.012 usd"),
        (format_money(1234.5), "1,234.50 usd"),
        (format_time(0.0123), "12.3 ms"),
        (format_time(125.0), "2 min 5 s"),
    ],
)
def test_a_number_has_the_digits_that_matter(told, expected):
    assert told == expected
