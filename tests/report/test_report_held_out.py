"""What is left of a gain on held-out cases."""

import pytest

from evolve import report
from evolve.report.best import kept
from evolve.types import Fitness
from tests.plugins.evolve_view.reports import held_out_campaign


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
