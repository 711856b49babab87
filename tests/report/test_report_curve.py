"""How good the best was when."""

from pathlib import Path

import pytest

from evolve import report
from evolve.types import Call, Fitness, Outcome, Ruled
from tests.written import Written, aiming_task, number_task

CALL = Call("alpha", prompt_tokens=100, completion_tokens=20, cost=0.5)


def test_there_is_no_curve_before_the_first_score(tmp_path: Path) -> None:
    """A failure is no point."""
    written = Written(tmp_path)
    with written.campaign as campaign:
        assert report.curve(campaign) == ()
        written.failure(Outcome.CRASHED, "no", ())
        assert report.curve(campaign) == ()


def test_a_point_for_each_that_was_better_than_all_before_it_and_one_for_now(tmp_path: Path) -> None:
    """With what had been spent when it settled."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.called(CALL, CALL)
    written.proposal(6.0, operator="diff", model="alpha")
    written.proposal(5.5)
    written.failure(Outcome.SCREENED, "duplicate")
    written.called(CALL)
    written.proposal(7.0, operator="diff", model="alpha")
    written.failure(Outcome.WRONG, "no")
    with written.campaign as campaign:
        points = report.curve(campaign)
        assert [(one.record, one.programs, one.calls, one.tokens, one.money, one.fitness) for one in points] == [
            (1, 0, 0, 0, 0.0, 5.0),
            (2, 1, 2, 240, 1.0, 6.0),
            (5, 3, 3, 360, 1.5, 7.0),
            (5, 4, 3, 360, 1.5, 7.0),
        ]
        active = campaign.log.active_of([1, 2, 5])
        assert [one.seconds for one in points] == [active[1], active[2], active[5], campaign.state.seconds]
        assert {(one.isolation, one.trust, one.confirmed) for one in points} == {("reduced", "witnessed", True)}


def test_what_is_minimised_falls(tmp_path: Path) -> None:
    """Fitness is as the user thinks of it."""
    written = Written(tmp_path, number_task(fitness=Fitness("length", "min")))
    written.seed(5.0)
    for value in (4.0, 6.0, 3.0):
        written.proposal(value)
    with written.campaign as campaign:
        assert [one.fitness for one in report.curve(campaign)] == [5.0, 4.0, 3.0, 3.0]


def test_what_misses_a_constraint_and_what_is_quarantined_is_not_on_it(tmp_path: Path) -> None:
    """Neither can be the best."""
    written = Written(tmp_path, aiming_task())
    aims = {"objectives": {"length": 1.0, "seconds": -1.0}}
    written.seed(5.0, **aims)
    written.proposal(9.0, **aims, violation=0.5)
    cheat = written.proposal(8.0, **aims)
    written.proposal(6.0, **aims)
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Ruled("quarantine", cheat.record.program, "person"))
        assert [one.fitness for one in report.curve(campaign)] == [5.0, 6.0, 6.0]


def test_a_noisy_programs_point_is_its_first_judging_and_says_whether_it_was_measured_again(tmp_path: Path) -> None:
    """Later measurements are no points, however lucky."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.proposal(6.0)
    written.again(2, 9.0)
    written.proposal(7.0)
    with written.campaign as campaign:
        points = report.curve(campaign)
    assert [(one.record, one.fitness, one.confirmed) for one in points[:-1]] == [
        (1, 5.0, False),
        (2, 6.0, True),
        (4, 7.0, False),
    ]


def test_what_is_claimed_is_never_confirmed(tmp_path: Path) -> None:
    """And says so."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0, trust="claimed")
    with written.campaign as campaign:
        assert [(one.trust, one.confirmed) for one in report.curve(campaign)[:2]] == [
            ("witnessed", True),
            ("claimed", False),
        ]


@pytest.mark.parametrize("again", [5.0, 6.5])
def test_after_a_change_of_the_task_the_curve_begins_anew(tmp_path: Path, again: float) -> None:
    """Numbers of two versions are not compared; a program that is evaluated again is a first judging."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(9.0)
    with written.campaign as campaign:
        campaign.state.columns.since = 2
        written.again(1, again)
        written.proposal(7.0)
        assert [(one.record, one.fitness) for one in report.curve(campaign)] == [(3, again), (4, 7.0), (4, 7.0)]
