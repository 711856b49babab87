"""Columns as arrays."""

from pathlib import Path

import numpy as np

from evolve.report.curve import flag_quarantined, strictly_better
from evolve.report.frame import frame
from evolve.report.outcomes import encode, flag_improved
from evolve.types import Insertion, Outcome, Ruled
from tests.written import Written, aimed, aiming_task, short_campaign


def test_a_frame_is_a_copy_of_what_had_settled(tmp_path: Path) -> None:
    """Records that come later do not change it, and are not hindered by it."""
    written = Written(tmp_path)
    written.seed(5.0)
    with written.campaign as campaign:
        before = frame(campaign)
        written.proposal(6.0)
        assert (len(before), len(frame(campaign))) == (1, 2)
        assert before.fitness.tolist() == [5.0]


def test_conditions_are_flags(tmp_path: Path) -> None:
    """One for each record."""
    with short_campaign(tmp_path) as campaign:
        columns = frame(campaign)
        assert columns.outcome(Outcome.CRASHED).tolist() == [False, False, False, True, False, False]
        assert columns.kind("seed").tolist() == [True, False, False, False, False, False]
        assert columns.flag_programs().tolist() == [False, True, True, True, False, True]
        assert columns.insertion(Insertion.NOT_ADDED).tolist() == [False, False, True, True, True, False]
        assert columns.best_first().tolist() == [5, 1, 0, 2, 3, 4]
        assert flag_improved(campaign, columns).tolist() == [True, True, False, False, False, True]


def test_what_the_machinery_failed_is_no_program_of_a_budget(tmp_path: Path) -> None:
    """Here as in what the campaign has spent."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.failure(Outcome.INTERNAL, "the judge process ended")
    written.proposal(6.0)
    with written.campaign as campaign:
        evaluated = frame(campaign).flag_programs()
        assert evaluated.tolist() == [False, False, True]
        assert evaluated.sum() == campaign.state.progress.programs


def test_constraints_come_before_fitness(tmp_path: Path) -> None:
    """Whoever meets them is better than everybody who does not."""
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1.0, 10.0, 300.0))
    written.proposal(9.0, **aimed(1.0, 10.0, 400.0))
    written.proposal(4.0, **aimed(1.0, 10.0))
    written.proposal(4.0, number=4.5, **aimed(1.0, 10.0))
    with written.campaign as campaign:
        columns = frame(campaign)
        everybody = np.ones(4, np.bool_)
        assert columns.best_first().tolist() == [2, 3, 0, 1]
        assert flag_improved(campaign, columns).tolist() == [True, False, True, True]
        assert strictly_better(columns, everybody).tolist() == [0, 2]
        assert strictly_better(columns, ~everybody).tolist() == []


def test_versions_of_the_task_each_begin_anew(tmp_path: Path) -> None:
    """Their numbers do not compare."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(9.0)
    with written.campaign as campaign:
        campaign.state.columns.since = 2
        written.proposal(6.0)
        written.proposal(7.0)
        columns = frame(campaign)
        assert strictly_better(columns, np.ones(4, np.bool_)).tolist() == [0, 1, 2, 3]


def test_records_of_quarantined_programs_are_flagged(tmp_path: Path) -> None:
    """However often they were evaluated."""
    written = Written(tmp_path)
    written.seed(5.0)
    cheat = written.proposal(6.0)
    written.again(2, 6.0)
    with written.campaign as campaign:
        assert flag_quarantined(campaign).tolist() == [False, False, False]
        with campaign.log.transaction():
            campaign.write(Ruled("quarantine", cheat.record.program, "person"))
        assert flag_quarantined(campaign).tolist() == [False, True, True]


def test_names_are_coded_in_the_order_in_which_they_come(tmp_path: Path) -> None:
    """Each by its place."""
    codes, names = encode(["b", "a", "b", ""])
    assert (codes.tolist(), names) == ([0, 1, 0, 2], ["b", "a", ""])
