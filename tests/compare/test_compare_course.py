"""What a comparison takes from a campaign."""

import pytest

from evolve.compare import course
from evolve.types import Constraint, Evaluation, Origin, Outcome
from tests.written import Written, aiming_campaign, number_program, number_task, short_campaign


def marks(found) -> list[tuple[int, float]]:
    """Programs and fitness."""
    return [(mark.programs, mark.fitness) for mark in found.marks]


def test_a_course_is_the_best_so_far(tmp_path):
    """The seed, and two programs that were better; screened ones are not counted."""
    with short_campaign(tmp_path) as campaign:
        found = course(campaign)
    assert marks(found) == [(0, 5.0), (1, 6.0), (4, 6.5)]
    assert (found.final, found.seed_value, found.record, found.trust) == (6.5, 5.0, "number/6", "witnessed")
    assert (found.status, found.ended, found.problem) == ("unfinished", False, "")
    assert (found.spent.programs, found.spent.screened, found.budget) == (4, 1, ("30programs",))
    assert found.told() == "6.5 (4 programs)"
    about = found.circumstances
    assert (about.task, about.hardware, about.isolation, about.judges) == ("number", "one core", "reduced", 2)
    assert about.anchors == ((8.0, "Later 2025"), (3.0, "Early"))
    assert about.settings["strategy.name"] == "islands"
    assert not about.settings.keys() & {"seed", "budget", "judges", "sandbox", "task"}


def test_a_spent_budget_is_finished(tmp_path):
    """Nothing would come of going on."""
    written = Written(tmp_path, budget=["2programs"])
    written.seed(5.0)
    written.proposal(6.0)
    written.proposal(4.0)
    with written.campaign as campaign:
        assert course(campaign).status == "finished"


def test_a_seed_that_failed_is_a_failed_campaign(tmp_path):
    """With its outcome, and no value."""
    written = Written(tmp_path)
    written._settle(Origin("seed", 0), number_program(5), Evaluation.failed(Outcome.CRASHED, "", isolation="reduced"))
    with written.campaign as campaign:
        found = course(campaign)
    assert (found.status, found.ended, found.final, found.marks) == ("failed", True, None, ())
    assert found.problem == "its seed program failed: crashed"


def test_nothing_new_for_long_is_exhausted(tmp_path):
    """Five hundred proposals in a row that were screened, of all its operators."""
    written = Written(tmp_path, operators={"names": ["tune_literals"]})
    written.seed(5.0)
    written.proposal(6.0)
    for _ in range(499):
        written.failure(Outcome.SCREENED, "duplicate")
    assert course(written.campaign).status == "unfinished"
    written.failure(Outcome.SCREENED, "duplicate")
    with written.campaign as campaign:
        assert course(campaign).status == "exhausted"


def test_of_a_noisy_task_only_what_was_measured_again_counts(tmp_path):
    """The lucky first value 9 is nowhere, and the mean of both later ones is what it is worth."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.again(1, 5.2)
    written.proposal(9.0)
    written.again(3, 7.0)
    written.proposal(8.0)
    written.again(3, 6.0)
    with written.campaign as campaign:
        found = course(campaign)
    assert [mark.fitness for mark in found.marks][:3] == pytest.approx([5.2, 7.0, 6.5])
    assert 9.0 not in [mark.fitness for mark in found.marks]
    assert found.final is None or found.final < 8.0


def test_a_noisy_best_that_nobody_measured_again_is_no_value(tmp_path):
    """It is said why."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.proposal(50.0)
    with written.campaign as campaign:
        found = course(campaign)
    assert (found.final, found.problem) == (None, "its best was not measured again")
    assert found.told() == "no value (1 program) [its best was not measured again]"


def test_constraints_come_first(tmp_path):
    """The program worth 9 misses one."""
    with aiming_campaign(tmp_path) as campaign:
        assert course(campaign).final == 7.0


def test_a_seed_that_misses_a_constraint_has_no_value_that_counts(tmp_path):
    """Nor does the campaign, before any program meets it."""
    written = Written(tmp_path, number_task(constraints=(Constraint("memory", at_most=200.0),)))
    written.seed(5.0, metrics={"memory": 300.0}, violation=100.0)
    with written.campaign as campaign:
        found = course(campaign)
    assert (found.seed_value, found.final, found.marks, found.problem) == (None, None, (), "no program passed")


def test_the_best_of_a_noisy_task_is_another_one_when_its_own_mean_falls(tmp_path):
    """Of two programs that were measured again, the second is the best once the first turns out to be worse."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.proposal(8.0)
    written.again(2, 8.0)
    written.proposal(7.5)
    written.again(4, 7.0)
    written.again(2, 5.0)
    written.again(4, 7.2)
    with written.campaign as campaign:
        found = course(campaign)
    assert [mark.fitness for mark in found.marks][:3] == pytest.approx([8.0, 7.0, 7.1])
