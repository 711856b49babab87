"""Evidence on programs: fitness, constraints and objectives."""

from collections.abc import Sequence

import numpy as np
import pytest
from archive_makers import AXES, Story, make_program

from evolve.archive.evidence import FAILED, QUARANTINED, Estimate, Evidence
from evolve.types import Evaluation, Objective, Origin, Outcome, Record


def evidence_of(*fitnesses: float, pooling: bool = True) -> Evidence:
    """One program per fitness, in the records 1, 2, 3, ..."""
    evidence = Evidence(len(AXES), pooling=pooling)
    for number, fitness in enumerate(fitnesses):
        found = Evaluation.ok(fitness, descriptors={"size": 1.5, "walls": 1.0})
        record = Record(number + 1, Origin("proposal", number, island=2), make_program(number), found)
        evidence.add(record, fitness, 1, (1.5, 1.0), quarantined=False)
    return evidence


def again(evidence: Evidence, number: int, fitness: float, *, certified: bool = False, record: int = 90) -> None:
    evidence.measure(number, record, Evaluation(Outcome.OK, fitness=fitness, certified=certified), fitness)


def test_a_program_is_found_by_its_id_and_by_its_records() -> None:
    evidence = evidence_of(1.0, 2.0)
    again(evidence, 1, 2.5, record=40)
    assert [evidence.find(make_program(1)), evidence.find(make_program("other")), evidence.find(None)] == [
        1,
        None,
        None,
    ]
    assert [evidence.of_record(record) for record in (-1, 0, 1, 2, 3, 39, 40, 41)] == [
        None,
        None,
        0,
        1,
        None,
        None,
        1,
        None,
    ]


def test_a_noisy_program_is_worth_the_mean_of_its_measurements() -> None:
    evidence = evidence_of(1.0)
    again(evidence, 0, 2.0)
    assert evidence.estimate(0, None) == Estimate(1.5, pytest.approx(0.5), 2)


def test_a_deterministic_program_is_worth_its_latest_measurement() -> None:
    evidence = evidence_of(1.0, pooling=False)
    again(evidence, 0, 2.0)
    assert evidence.estimate(0, None) == Estimate(2.0, 0.0, 1)
    assert evidence.report(0, None) == Estimate(2.0, 0.0, 1)


@pytest.mark.parametrize("pooling", [False, True])
def test_the_latest_certified_value_is_the_estimate(pooling: bool) -> None:
    evidence = evidence_of(1.0, pooling=pooling)
    again(evidence, 0, 0.9, certified=True)
    again(evidence, 0, 5.0)
    again(evidence, 0, 0.8, certified=True)
    assert evidence.estimate(0, 0.1) == evidence.report(0, 0.1) == Estimate(0.8, 0.0, 1, certified=True)


def test_only_measurements_after_the_win_are_reported() -> None:
    evidence = evidence_of(9.0)
    again(evidence, 0, 8.0)
    evidence.forget_reported(0)
    assert evidence.report(0, 0.1) is None
    again(evidence, 0, 5.0)
    reported = evidence.report(0, 0.1)
    assert reported is not None
    assert (reported.mean, reported.count) == (5.0, 1)


def test_each_hardware_class_has_its_own_pool() -> None:
    evidence = evidence_of(1.0)
    evidence.move_to("first")
    assert (evidence.judgings(0), evidence.values[0]) == (1, 1.0)
    evidence.move_to("second")
    assert (evidence.judgings(0), evidence.values[0]) == (0, 1.0)
    again(evidence, 0, 7.0)
    assert (evidence.judgings(0), evidence.values[0]) == (1, 7.0)
    evidence.move_to("first")
    assert (evidence.judgings(0), evidence.values[0]) == (1, 1.0)
    pools = {hardware: one["pools"] for hardware, one in evidence.state()["classes"].items()}
    assert pools == {"first": [[0, 1, 1.0, 0.0, 0.0]], "second": [[0, 1, 7.0, 0.0, 0.0]]}


def test_a_report_never_mixes_two_hardware_classes() -> None:
    evidence = evidence_of(9.0)
    evidence.move_to("first")
    evidence.forget_reported(0)
    again(evidence, 0, 5.0)
    evidence.move_to("second")
    assert evidence.report(0, 0.1) is None
    again(evidence, 0, 50.0)
    reported = evidence.report(0, 0.1)
    assert reported is not None
    assert (reported.mean, reported.count) == (50.0, 1)
    evidence.move_to("first")
    reported = evidence.report(0, 0.1)
    assert reported is not None
    assert (reported.mean, reported.count) == (5.0, 1)


def test_who_wins_on_one_machine_is_reported_anew_on_all() -> None:
    evidence = evidence_of(9.0)
    evidence.move_to("first")
    again(evidence, 0, 5.0)
    evidence.move_to("second")
    evidence.forget_reported(0)
    evidence.move_to("first")
    assert evidence.report(0, 0.1) is None


def test_a_place_on_the_axes_is_kept() -> None:
    assert list(evidence_of(1.0, 2.0).point(1)) == [1.5, 1.0]


def test_the_strongest_is_alive_not_excluded_and_the_first_of_equals() -> None:
    evidence = evidence_of(5.0, 4.0, 3.0, 3.0, 1.0)
    evidence.status[0] |= QUARANTINED
    assert evidence.strongest([4, 3, 2, 1, 0], [1]) == 3
    assert evidence.strongest([0, 1], [1]) is None
    assert evidence.strongest([]) is None
    evidence.status[1] |= FAILED
    assert [evidence.alive(number) for number in range(3)] == [False, False, True]
    assert evidence.strongest_of_all(certified=False, judgings=0) == 2


def test_the_strongest_of_all_can_be_asked_to_be_confirmed() -> None:
    evidence = evidence_of(5.0, 4.0, 3.0)
    again(evidence, 1, 4.0)
    again(evidence, 2, 3.0, certified=True)
    assert evidence.strongest_of_all(certified=False, judgings=2) == 1
    assert evidence.strongest_of_all(certified=True, judgings=0) == 2
    assert evidence.strongest_of_all(certified=True, judgings=2) is None
    assert Evidence(len(AXES), pooling=True).strongest_of_all(certified=False, judgings=0) is None


def test_columns_can_grow_after_they_were_searched() -> None:
    """numpy's views of the columns must be gone, or an append would raise."""
    evidence = evidence_of(1.0)
    assert evidence.strongest_of_all(certified=True, judgings=1) is None
    assert evidence.strongest([0]) == 0
    evidence.add(
        Record(2, Origin("proposal", 2), make_program("x"), Evaluation.ok(2.0, descriptors={"size": 0, "walls": 0})),
        2.0,
        0,
        (0.0, 0.0),
        quarantined=True,
    )
    assert not evidence.alive(1)


AIMS = (Objective("length"), Objective("speed"))


def aiming(*, pooling: bool = True, objectives: Sequence[Objective] = AIMS) -> Evidence:
    return Evidence(len(AXES), pooling=pooling, objectives=objectives)


def judge(evidence: Evidence, name: int, violation: float = 0.0, length: float = 0.0, speed: float = 0.0) -> None:
    """Another judging of program number `name`, the first one adds it."""
    evaluation = Evaluation(
        Outcome.OK,
        1.0,
        descriptors={"size": 0.0, "walls": 0.0},
        objectives={"length": length, "speed": speed},
        violation=violation,
    )
    if name < len(evidence):
        evidence.measure(name, name + 1, evaluation, 1.0)
    else:
        record = Record(name + 1, Origin("proposal", 1), make_program(name), evaluation)
        evidence.add(record, 1.0, 0, (0.0, 0.0), quarantined=False)


def test_in_noise_objectives_and_violations_are_means() -> None:
    evidence = aiming()
    judge(evidence, 0, 0.0, 1.0, 5.0)
    judge(evidence, 0, 0.5, 3.0, 5.0)
    assert evidence.figures.objectives(0) == {"length": 2.0, "speed": 5.0}
    assert evidence.figures.violation(0) == 0.25


def test_without_noise_the_latest_judging_counts() -> None:
    evidence = aiming(pooling=False)
    judge(evidence, 0, 0.7, 1.0, 5.0)
    assert (evidence.figures.violation(0), evidence.figures.feasible(0)) == (0.7, False)
    judge(evidence, 0, 0.0, 3.0, 2.0)
    assert (evidence.figures.violation(0), evidence.figures.feasible(0)) == (0.0, True)
    assert list(evidence.figures.point(0)) == [3.0, 2.0]


def test_one_judging_that_missed_a_constraint_is_never_forgotten() -> None:
    evidence = aiming(objectives=())
    for violation in [0.0, 0.4, 0.0, 0.0]:
        judge(evidence, 0, violation)
    assert evidence.figures.violation(0) == pytest.approx(0.1)


@pytest.mark.parametrize("objectives", [AIMS, ()])
def test_each_hardware_class_has_its_own_means(objectives: Sequence[Objective]) -> None:
    evidence = aiming(objectives=objectives)
    judge(evidence, 0, 0.5, 1.0)
    judge(evidence, 1, 0.0, 2.0)
    evidence.move_to("here")
    evidence.move_to("there")
    assert evidence.figures.violation(0) == 0.5
    judge(evidence, 0, 0.0, 9.0)
    assert (evidence.figures.violation(0), [*evidence.figures.point(0)][:1]) == (0.0, [9.0] if objectives else [])
    evidence.move_to("here")
    assert (evidence.figures.violation(0), [*evidence.figures.point(0)][:1]) == (0.5, [1.0] if objectives else [])


def test_many_programs_at_once() -> None:
    evidence = aiming()
    judge(evidence, 0, 0.0, 1.0, 2.0)
    judge(evidence, 1, 0.3, 3.0, 4.0)
    assert evidence.figures.violations_of(np.array([1, 0])).tolist() == [0.3, 0.0]
    assert evidence.figures.points().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_certificate_says_nothing_about_them() -> None:
    story = Story("certifies", objectives=AIMS)
    story.propose("a", 1.0, violation=0.0, objectives=[1.0, 2.0])
    story.certify("a", 1.0)
    assert story.archive.best.objectives == {"length": 1.0, "speed": 2.0}
