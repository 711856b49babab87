"""Facts about violations and objectives."""

import numpy as np
import pytest
from archive_makers import Story

from evolve.archive.figures import Figures
from evolve.types import Evaluation, Objective, Outcome

AIMS = (Objective("length"), Objective("speed"))


def found(violation: float = 0.0, length: float = 0.0, speed: float = 0.0) -> Evaluation:
    return Evaluation(Outcome.OK, 1.0, objectives={"length": length, "speed": speed}, violation=violation)


def test_the_first_judging_counts_as_it_is_and_later_ones_by_their_mean() -> None:
    figures = Figures(AIMS)
    figures.take(0, found(0.0, 1.0, 5.0), 1)
    figures.take(0, found(0.5, 3.0, 5.0), 2)
    assert figures.objectives(0) == {"length": 2.0, "speed": 5.0}
    assert figures.violation(0) == 0.25


def test_only_the_latest_counts_where_every_judging_is_the_first() -> None:
    """So a task that is not noisy tells it."""
    figures = Figures(AIMS)
    figures.take(0, found(0.7, 1.0, 5.0), 1)
    assert (figures.violation(0), figures.feasible(0)) == (0.7, False)
    figures.take(0, found(0.0, 3.0, 2.0), 1)
    assert (figures.violation(0), figures.feasible(0)) == (0.0, True)
    assert list(figures.point(0)) == [3.0, 2.0]


def test_one_judging_that_missed_a_constraint_is_never_forgotten() -> None:
    figures = Figures(())
    for count, violation in enumerate([0.0, 0.4, 0.0, 0.0], 1):
        figures.take(0, found(violation), count)
    assert figures.violation(0) == pytest.approx(0.1)


def test_each_hardware_class_has_its_own_means() -> None:
    figures = Figures(AIMS)
    figures.take(0, found(0.5, 1.0), 1)
    figures.take(1, found(0.0, 2.0), 1)
    figures.move_to("here", [0, 1])
    figures.move_to("there", [])
    assert figures.violation(0) == 0.5
    figures.take(0, found(0.0, 9.0), 1)
    assert (figures.violation(0), figures.point(0)[0]) == (0.0, 9.0)
    figures.move_to("here", [0, 1])
    assert (figures.violation(0), figures.point(0)[0]) == (0.5, 1.0)


def test_many_programs_at_once() -> None:
    figures = Figures(AIMS)
    figures.take(0, found(0.0, 1.0, 2.0), 1)
    figures.take(1, found(0.3, 3.0, 4.0), 1)
    assert figures.missed(np.array([1, 0])).tolist() == [0.3, 0.0]
    assert figures.points().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_certificate_says_nothing_about_them() -> None:
    story = Story("certifies", objectives=AIMS)
    story.propose("a", 1.0, violation=0.0, objectives=[1.0, 2.0])
    story.certify("a", 1.0)
    assert story.archive.best.objectives == {"length": 1.0, "speed": 2.0}
