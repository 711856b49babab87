"""The best program: its gain, its uncertainty, held-out cases, constraints and objectives; elites and the front."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from evolve import report, wording
from evolve.cli.summary import format_best_program
from evolve.report.best import kept, limits
from evolve.statistics import zero_floor
from evolve.types import Fitness, MachineMeasured
from tests.plugins.evolve_view.reports import held_out_campaign
from tests.written import Written, aimed, aiming_campaign, aiming_task, number_task, short_campaign


def test_an_unbegun_campaign_has_no_best(tmp_path):
    """None, not a zero."""
    with Written(tmp_path).campaign as campaign:
        assert report.best(campaign) is None


def test_the_best_is_compared_with_the_seed_and_the_anchors(tmp_path):
    """The gain is best minus seed; an anchor that the best is no worse than is reached."""
    with short_campaign(tmp_path) as campaign:
        best = report.best(campaign)
        assert report.certificate(campaign, best.record) == ""
    assert (best.name, best.fitness, best.seed, best.gain, best.improved) == ("number/6", 6.5, 5.0, 1.5, True)
    assert [(anchor.by, anchor.difference, anchor.reached) for anchor in best.anchors] == [
        ("Early", 3.5, True),
        ("Later", -1.5, False),
    ]
    assert not best.certified
    # `print(campaign.best)` in Python is one short line.
    assert repr(best) == "<Best number/6: 6.5, +1.5 to the seed>"


def test_a_seed_that_nothing_beats_is_no_improvement(tmp_path):
    """The seed itself is the best then."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(4.0)
    with written.campaign as campaign:
        best = report.best(campaign)
    assert (best.name, best.gain, best.improved) == ("number/1", 0.0, False)
    assert repr(replace(best, standard_error=0.01, measurements=4)) == (
        "<Best number/1: 5 +- 0.01 of 4 measurements, no better than the seed>"
    )


def test_a_task_that_minimises_is_told_in_its_own_direction(tmp_path):
    """A better fitness is smaller, so the gain is negative and the lower anchor is harder."""
    written = Written(tmp_path, number_task(fitness=Fitness("error", "min", 6)))
    written.seed(5.0)
    written.proposal(4.0)
    with written.campaign as campaign:
        best = report.best(campaign)
    assert (best.fitness, best.seed, best.gain, best.improved) == (4.0, 5.0, -1.0, True)
    assert [(anchor.by, anchor.reached) for anchor in best.anchors] == [("Later", True), ("Early", False)]


def test_a_certified_best_names_the_record_that_proves_it(tmp_path):
    """The certificate is a measurement, a record of its own."""
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed(5.0)
    written.certificate(1, 5.0)
    with written.campaign as campaign:
        best = report.best(campaign)
        assert (best.name, best.certified) == ("number/1", True)
        assert report.certificate(campaign, best.record) == "number/2"


@pytest.mark.parametrize(
    ("fitness", "expected"),
    [(2.0, ["Early"]), (3.0, ["Early", "Later"]), (5.0, ["Early", "Later"]), (9.0, ["Later"])],
)
def test_the_nearest_anchors_are_one_on_each_side(fitness, expected):
    """The hardest that is reached, the easiest that is not."""
    gaps = report.anchor_gaps(number_task(), fitness)
    assert expected == [anchor.by for anchor in report.nearest(gaps)]


def test_a_task_without_anchors_has_no_nearest():
    """Nothing is made up."""
    assert report.nearest(report.anchor_gaps(number_task(anchors=()), 1.0)) == ()


SPEED = Fitness("ln speed-up", digits=4, log_ratio=True)


def speed_campaign(home: Path, gain: float, *, again: bool = True, **fitness: object) -> Written:
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
    with speed_campaign(tmp_path, 0.5).campaign as opened:
        found = report.best(opened).ratio
    assert found.factor == pytest.approx(math.exp(0.4))
    assert found.low < found.factor < found.high
    assert found.low * found.high == pytest.approx(found.factor**2)
    assert (found.confirmed, found.clears_the_floor, found.seed_runs) == (True, True, 3)


def test_the_floor_is_how_far_from_one_the_seed_is_against_itself(tmp_path):
    """Its true ratio to itself is 1."""
    with speed_campaign(tmp_path, 0.5).campaign as opened:
        found = report.best(opened).ratio
    assert found.floor == pytest.approx(math.expm1(zero_floor([0.01, -0.02, 0.005])))


def test_what_does_not_clear_the_floor_is_said_to_be_no_gain(tmp_path):
    """However narrow its own interval is."""
    with speed_campaign(tmp_path, 0.11).campaign as opened:
        found = report.best(opened).ratio
    assert not found.clears_the_floor
    assert wording.ratio(found).endswith("(3 runs); this is within that, so no gain")


def test_a_win_that_was_not_measured_again_is_not_confirmed(tmp_path):
    """It may be luck."""
    with speed_campaign(tmp_path, 0.5, again=False).campaign as opened:
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
    with speed_campaign(tmp_path, 0.5).campaign as opened:
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
    with speed_campaign(tmp_path, gain, again=False).campaign as opened:
        assert math.isfinite(report.best(opened).ratio.factor)


@pytest.fixture
def best(tmp_path):
    written = Written(tmp_path, number_task(deterministic=False, fitness=Fitness("nearness")))
    written.seed(5.0)
    written.proposal(7.0, standard_error=0.1)
    with written.campaign as campaign:
        return report.best(campaign)


def test_few_measurements_make_wide_limits(best):
    """Of one, beside the prior degrees of freedom, Student's quantile is larger than the normal one."""
    found = limits(replace(best, standard_error=0.1, measurements=1))
    more = limits(replace(best, standard_error=0.1, measurements=1000))
    assert found.level == 0.95
    assert (found.low + found.high) / 2 == pytest.approx(7.0)
    assert more.high - more.low == pytest.approx(2 * 1.96 * 0.1, rel=0.01)
    assert found.high - found.low > more.high - more.low


def test_what_is_proven_or_not_known_has_none(best):
    assert limits(replace(best, standard_error=0.1, certified=True)) is None
    assert limits(replace(best, standard_error=None)) is None


def found(campaign):
    with campaign:
        best = report.best(campaign)
        return kept(best, campaign.state.cases.held_out, campaign.task.fitness)


@pytest.mark.parametrize(
    ("gains", "share", "verdict", "lost"),
    [
        ((2.0, 1.0), 0.75, "holds", []),
        ((2.0, 0.0), 0.5, "holds", ["case 1"]),
        ((20.0, 0.0), 0.5, "holds", ["case 1"]),
        ((0.2, 0.2), 0.1, "shrinks", ["case 0", "case 1"]),
        ((0.0,), 0.0, "gone", ["case 0"]),
        ((-1.0,), -0.5, "gone", ["case 0"]),
    ],
)
def test_the_verdict_follows_from_the_mean_share(tmp_path, gains, share, verdict, lost):
    """The search has gained 2; no case counts for more than all of that."""
    line = found(held_out_campaign(tmp_path, *gains))
    assert (pytest.approx(line.share), line.verdict) == (share, verdict)
    assert [each.case.case for each in line.lost] == lost
    assert [each.gain for each in line.lines] == [pytest.approx(gain) for gain in gains]


def test_without_a_case_there_is_no_verdict(tmp_path):
    line = found(held_out_campaign(tmp_path))
    assert (line.lines, line.wanted, line.share, line.verdict) == ((), 0, None, None)


def case(seed, fitness, outcome="ok"):
    return report.CaseScore("c", "n/3", outcome, fitness, seed, True)


def best_of(fitness, seed, *cases):
    return report.Best(
        name="n/2",
        record=2,
        program="p",
        fitness=fitness,
        standard_error=None,
        measurements=1,
        certified=False,
        isolation="strict",
        trust="witnessed",
        seed=seed,
        gain=fitness - seed,
        improved=True,
        anchors=(),
        cases=cases,
    )


def test_gains_are_compared_in_units_of_the_seed_and_in_its_direction():
    """From 4 to 2 is a half less; from 100 to 75 a quarter."""
    line = kept(best_of(2.0, 4.0, case(100.0, 75.0)), ["c"], Fitness("error", "min"))
    assert (line.share, line.lines[0].gain) == (0.5, -25.0)


def test_logarithms_are_compared_as_they_are():
    line = kept(best_of(0.4, 0.1, case(-0.1, 0.2)), ["c"], Fitness("speed", log_ratio=True))
    assert line.share == pytest.approx(1.0)


def test_a_case_on_which_the_program_failed_keeps_nothing():
    assert kept(best_of(2.0, 1.0, case(1.0, None, "crashed")), ["c"], Fitness()).verdict == "gone"


def test_a_seed_without_a_value_there_tells_nothing():
    line = kept(best_of(2.0, 1.0, case(None, 2.0)), ["c"], Fitness())
    assert (line.verdict, line.lost) == (None, ())


def test_where_nothing_was_gained_nothing_can_be_lost():
    assert kept(best_of(1.0, 1.0, case(1.0, 1.0)), ["c"], Fitness()).verdict is None


@pytest.fixture
def campaign(tmp_path):
    """Six records on a task with two objectives and a constraint."""
    with aiming_campaign(tmp_path) as campaign:
        yield campaign


def test_the_front_is_told_with_the_seeds_values_as_its_reference(campaign):
    """What is covered beyond length 1 and seconds 10, as steps: 2 * 1, then 1 * 1, then 0.5 * 3."""
    line = report.front_line(campaign)
    assert line == report.FrontLine(3, 2.0 * 1 + 1.0 * 1 + 0.5 * 3, {"length": 1.0, "seconds": 10.0})
    assert report.overview(campaign).front == line


def test_the_front_is_listed_with_each_objective(campaign):
    """The best in the first objective first; the cheat is not on it, and the dominated one neither."""
    lines = report.front(campaign)
    assert [line.record for line in lines] == [3, 2, 4]
    assert lines[0].objectives == (
        report.ObjectiveLine("length", 3.0, "max", 4),
        report.ObjectiveLine("seconds", 9.0, "min", 3),
    )
    assert [line.record for line in report.front(campaign, 1)] == [3]


def test_the_best_meets_the_constraints_and_has_its_objectives(campaign):
    """Although another program has a larger fitness."""
    best = report.best(campaign)
    assert (best.record, best.fitness, best.improved) == (2, 7.0, True)
    assert [(line.name, line.value) for line in best.objectives] == [("length", 2.0), ("seconds", 8.0)]
    assert report.closest(campaign) is None


def test_a_program_that_misses_a_constraint_comes_last_of_those_that_passed(campaign):
    """In the list of records, and of elites."""
    assert [line.id for line in report.page(campaign, report.Wanted()).lines] == [2, 3, 4, 5, 1, 6]
    assert [line.violation for line in report.page(campaign, report.Wanted()).lines][-1] == 0.5
    assert report.page(campaign, report.Wanted()).lines[0].objectives == {"length": 2.0, "seconds": 8.0}
    assert report.elites(campaign)[-1].violation == 0.5


def test_an_improvement_is_no_larger_fitness_that_misses_a_constraint(campaign):
    """So the operator's yield does not count it."""
    assert [line.improved for line in report.tally(campaign).operators] == [4]


def test_while_none_meets_the_constraints_the_closest_is_named(tmp_path):
    """With what it misses; the best that comes then is an improvement, whatever its fitness."""
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1.0, 10.0, 400.0))
    written.proposal(9.0, **aimed(2.0, 8.0, 300.0))
    missed = report.MissedLine("memory", 300.0, None, 200.0, 0.5)
    assert report.closest(written.campaign) == report.Closest("number/2", 2, 0.5, (missed,))
    assert report.best(written.campaign) is None
    written.proposal(1.0, **aimed(2.0, 8.0))
    with written.campaign as campaign:
        assert report.closest(campaign) is None
        assert report.best(campaign).improved


def test_before_anything_has_passed_nobody_is_close(tmp_path):
    """Nor is there a hypervolume."""
    with Written(tmp_path, aiming_task()).campaign as campaign:
        assert report.closest(campaign) is None
        assert report.front_line(campaign) == report.FrontLine(0, None, None)


def test_a_task_without_objectives_has_no_front(tmp_path):
    """None, not an empty one."""
    with short_campaign(tmp_path) as campaign:
        assert report.front_line(campaign) is None
        assert report.front(campaign) == ()


def test_elites_come_best_first_and_each_once(tmp_path):
    """The seed enters every island, and is one line all the same."""
    with short_campaign(tmp_path) as campaign:
        lines = report.elites(campaign)
    assert lines[0].name == "number/6"
    assert [True, *[False] * (len(lines) - 1)] == [line.best for line in lines]
    assert sorted((line.fitness for line in lines), reverse=True) == [line.fitness for line in lines]
    seed = next(line for line in lines if line.record == 1)
    assert (0, 1, 2, 3)[-len(seed.islands) :] == seed.islands
    assert (seed.operator, seed.descriptors) == ("", {"size": 5.0})


def test_a_limit_keeps_the_best(tmp_path):
    """The first lines."""
    with short_campaign(tmp_path) as campaign:
        assert [line.name for line in report.elites(campaign, 1)] == ["number/6"]


def test_a_fresh_campaign_has_no_elites(tmp_path):
    """Nothing has settled."""
    with Written(tmp_path).campaign as campaign:
        assert report.elites(campaign) == ()
