"""What a comparison takes from a campaign."""

import math
from dataclasses import replace

import numpy as np
import pytest

from evolve.types import Constraint, Fitness, Outcome
from evolve_compare.outcomes import final_value, find_horizon, read_outcome, round_value, values_at
from tests.plugins.evolve_compare.example_outcomes import CONDITIONS, failed, run
from tests.written import Written, aiming_campaign, number_task, short_campaign


def marks(found) -> list[tuple[int, float]]:
    """Programs and fitness."""
    return [(mark.spent.programs, mark.fitness) for mark in found.milestones]


def test_a_course_is_the_best_so_far(tmp_path):
    """The seed, and two programs that were better; screened ones are not counted."""
    with short_campaign(tmp_path) as campaign:
        found = read_outcome(campaign)
    assert marks(found) == [(0, 5.0), (1, 6.0), (4, 6.5)]
    # The seed is an evaluation, too; a task without cases counts as one case.
    spent = [(one.spent.evaluations, one.spent.cases) for one in found.milestones]
    assert spent == [(1, 1), (2, 2), (5, 5)]
    assert (found.final, found.seed_value, found.record, found.trust) == (6.5, 5.0, "number/6", "witnessed")
    assert (found.status, found.has_ended, found.problem) == ("unfinished", False, "")
    assert (found.spent.programs, found.spent.screened, found.counted) == (4, 1, "programs")
    assert found.describe() == "6.5 (4 programs)"
    about = found.conditions
    assert (about.task, about.hardware, about.isolation, about.workers) == ("number", "one core", "reduced", 2)
    assert about.anchors == ((8.0, "Later 2025"), (3.0, "Early"))
    assert about.settings["strategy.name"] == "islands"
    assert not about.settings.keys() & {"seed", "budget", "workers", "sandbox", "task"}


def test_a_spent_budget_is_finished(tmp_path):
    """Nothing would come of going on."""
    written = Written(tmp_path, budget=["2programs"])
    written.seed(5.0)
    written.proposal(6.0)
    written.proposal(4.0)
    with written.campaign as campaign:
        assert read_outcome(campaign).status == "finished"


def test_a_seed_that_failed_is_a_failed_campaign(tmp_path):
    """With its outcome, and no value."""
    written = Written(tmp_path)
    written.failed_seed(Outcome.CRASHED, "")
    with written.campaign as campaign:
        found = read_outcome(campaign)
    assert (found.status, found.has_ended, found.final, found.milestones) == ("failed", True, None, ())
    assert found.problem == "its seed program failed: crashed"


def test_nothing_new_for_long_is_exhausted(tmp_path):
    """Five hundred proposals in a row that were screened, of all its operators."""
    written = Written(tmp_path, operators={"names": ["tune_literals"]})
    written.seed(5.0)
    written.proposal(6.0)
    for _ in range(499):
        written.failure(Outcome.SCREENED, "duplicate")
    assert read_outcome(written.campaign).status == "unfinished"
    written.failure(Outcome.SCREENED, "duplicate")
    with written.campaign as campaign:
        assert read_outcome(campaign).status == "exhausted"


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
        found = read_outcome(campaign)
    assert [mark.fitness for mark in found.milestones][:3] == pytest.approx([5.2, 7.0, 6.5])
    assert 9.0 not in [mark.fitness for mark in found.milestones]
    assert found.final is None or found.final < 8.0


def test_a_noisy_best_that_nobody_measured_again_is_no_value(tmp_path):
    """It is said why."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.proposal(50.0)
    with written.campaign as campaign:
        found = read_outcome(campaign)
    assert (found.final, found.problem) == (None, "its best was not measured again")
    assert found.describe() == "no value (1 program) [its best was not measured again]"


def test_constraints_come_first(tmp_path):
    """The program worth 9 misses one."""
    with aiming_campaign(tmp_path) as campaign:
        assert read_outcome(campaign).final == 7.0


def test_a_seed_that_misses_a_constraint_has_no_value_that_counts(tmp_path):
    """Nor does the campaign, before any program meets it."""
    written = Written(tmp_path, number_task(constraints=(Constraint("memory", at_most=200.0),)))
    written.seed(5.0, metrics={"memory": 300.0}, violation=100.0)
    with written.campaign as campaign:
        found = read_outcome(campaign)
    assert (found.seed_value, found.final, found.milestones, found.problem) == (None, None, (), "no program passed")


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
        found = read_outcome(campaign)
    assert [mark.fitness for mark in found.milestones][:3] == pytest.approx([8.0, 7.0, 7.1])


def test_a_value_holds_until_the_next_one():
    """From the program on that found it; before the first there is none."""
    one = run(0, (0, 1.0), (10, 2.0), (60, 3.0))
    found = values_at(one, np.array([0.0, 9.0, 10.0, 59.9, 60.0, 100.0]), "programs")
    assert found.tolist() == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    assert values_at(one, np.array([4.9, 5.0]), "seconds").tolist() == [1.0, 2.0]


def test_a_fitness_to_minimise_is_turned():
    """Larger is better inside."""
    found = values_at(
        run(0, (10, 2.0), conditions=replace(CONDITIONS, fitness=Fitness("excess", "min", 3))),
        np.array([10.0]),
        "programs",
    )
    assert found.tolist() == [-2.0]


def test_what_failed_has_no_value_anywhere():
    """Minus infinity, which is worse than all."""
    assert values_at(failed(0), np.array([0.0, 100.0]), "programs").tolist() == [-math.inf, -math.inf]
    assert final_value(failed(0), 100.0, "programs") == -math.inf


def test_all_are_looked_at_where_the_shortest_ends():
    """What failed, and what could not go on, is not waited for."""
    outcomes = [run(0, programs=80), run(1, programs=100), failed(2), run(3, programs=30, status="exhausted")]
    assert find_horizon(outcomes, "programs") == 80
    assert find_horizon([outcomes[3]], "programs") == 30
    assert find_horizon([failed(0)], "programs") == 0


def test_what_is_reported_counts_at_the_end_and_the_curve_before_it():
    """A noisy task's best may be worth less than it once seemed."""
    one = run(0, (10, 2.0), (60, 5.0), final=4.5)
    assert final_value(one, 100.0, "programs") == 4.5
    assert final_value(one, 50.0, "programs") == 2.0
    assert final_value(run(0, (10, 2.0), final=None), 100.0, "programs") == -math.inf


def test_a_budget_in_time_that_was_overshot_a_little_was_spent():
    """What is reported at the end counts; of programs none is evaluated too many."""
    one = run(0, (10, 2.0), (100, 5.0), final=4.5)
    assert final_value(one, 49.0, "seconds") == 4.5
    assert final_value(one, 40.0, "seconds") == 2.0
    assert final_value(one, 98.0, "programs") == 2.0


@pytest.mark.parametrize(("value", "expected"), [(2.54142135, 2.54), (-0.0012345, -0.00123), (-math.inf, -math.inf)])
def test_what_is_beyond_the_digits_is_no_difference(value, expected):
    """As many as the task shows."""
    assert round_value(value, Fitness("f", "max", 3)) == expected
