"""A fitness that is the logarithm of a ratio to the seed, told as that ratio."""

import math
from pathlib import Path

import pytest

from evolve import report, wording
from evolve.cli.summary import format_best_program
from evolve.statistics import zero_floor
from evolve.types import Fitness, MachineMeasured
from tests.written import Written, number_task

SPEED = Fitness("ln speed-up", digits=4, log_ratio=True)


def campaign(home: Path, gain: float, *, again: bool = True, **fitness: object) -> Written:
    """A noisy one: the seed against itself three times, and a program with this gain."""
    written = Written(home, number_task(fitness=SPEED, deterministic=False, anchors=()), name="speed")
    seed = written.seed(0.01, standard_error=0.01)
    for value in (-0.02, 0.005):
        written.again(seed.record.id, value)
    with written.campaign.log.transaction():
        written.campaign.write(MachineMeasured("one core", 0.015, "reduced"))
    won = written.proposal(gain, standard_error=0.02)
    if again:
        written.again(won.record.id, gain - 0.1)
    return written


def test_it_is_told_as_a_factor_with_its_interval(tmp_path):
    """Of what was measured after the win."""
    with campaign(tmp_path, 0.5).campaign as opened:
        found = report.best(opened).ratio
    assert found.factor == pytest.approx(math.exp(0.4))
    assert found.low < found.factor < found.high
    assert found.low * found.high == pytest.approx(found.factor**2)
    assert (found.confirmed, found.clears_the_floor, found.seed_runs) == (True, True, 3)


def test_the_floor_is_how_far_from_one_the_seed_is_against_itself(tmp_path):
    """Its true ratio to itself is 1."""
    with campaign(tmp_path, 0.5).campaign as opened:
        found = report.best(opened).ratio
    assert found.floor == pytest.approx(math.expm1(zero_floor([0.01, -0.02, 0.005])))


def test_what_does_not_clear_the_floor_is_said_to_be_no_gain(tmp_path):
    """However narrow its own interval is."""
    with campaign(tmp_path, 0.11).campaign as opened:
        found = report.best(opened).ratio
    assert not found.clears_the_floor
    assert wording.ratio(found).endswith("(3 runs); this is within that, so no gain")


def test_a_win_that_was_not_measured_again_is_not_confirmed(tmp_path):
    """It may be luck."""
    with campaign(tmp_path, 0.5, again=False).campaign as opened:
        told = wording.ratio(report.best(opened).ratio)
    assert told.startswith("1.649 (")
    assert "by what made it win; not confirmed yet" in told


def test_before_the_seed_was_measured_twice_there_is_no_floor(tmp_path):
    """And none is made up."""
    written = Written(tmp_path, number_task(fitness=SPEED, deterministic=False))
    written.seed(0.01)
    with written.campaign as opened:
        found = report.best(opened).ratio
    assert (found.floor, found.clears_the_floor) == (None, False)
    assert "itself" not in wording.ratio(found)


def test_the_end_of_a_run_has_a_row_for_it_where_the_task_says_so(tmp_path):
    """And no other task has one."""
    with campaign(tmp_path, 0.5).campaign as opened:
        rows = dict(format_best_program(opened, report.best(opened), None))
    assert rows["ratio"].splitlines()[0].endswith("by what was measured after it won")
    plain = Written(tmp_path / "plain", number_task())
    plain.seed()
    with plain.campaign as opened:
        assert report.best(opened).ratio is None
        assert "ratio" not in dict(format_best_program(opened, report.best(opened), None))


@pytest.mark.parametrize("gain", [-900.0, 900.0])
def test_a_logarithm_may_be_anything(tmp_path, gain):
    """What a task of a user's own returns is no reason to fail."""
    with campaign(tmp_path, gain, again=False).campaign as opened:
        assert math.isfinite(report.best(opened).ratio.factor)
