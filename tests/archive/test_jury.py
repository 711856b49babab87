"""Facts about the rule of confirmation between two known programs."""

import pytest
from archive_makers import AXES, program

from evolve.archive.agenda import GIVE_UP, REFRESH
from evolve.archive.confirmation import Rule, Verdict
from evolve.archive.evidence import Evidence
from evolve.archive.grid import Grid
from evolve.archive.jury import Jury
from evolve.types import Evaluation, Origin, Outcome, Record


def jury_of(*fitnesses: float, noisy: bool) -> Jury:
    evidence = Evidence(Grid(AXES), pooling=noisy)
    for number, fitness in enumerate(fitnesses):
        found = Evaluation.ok(fitness, descriptors={"size": 0.0, "walls": 0.0})
        evidence.add(
            Record(number + 1, Origin("proposal", 1), program(number), found),
            program(number),
            fitness,
            quarantined=False,
        )
    return Jury(evidence, Rule(not noisy, not noisy, 2.0, 5.0, 0.1))


def certify(jury: Jury, number: int, fitness: float) -> None:
    jury.evidence.measure(number, 50, Evaluation(Outcome.OK, fitness=fitness, certified=True), fitness)


def test_both_sides_are_certified_the_incumbent_first() -> None:
    jury = jury_of(1.0, 2.0, noisy=False)
    assert jury.verdict(1, 0) is Verdict.PENDING
    assert jury.lacking(1, 0) == [0, 1]
    certify(jury, 0, 1.0)
    assert jury.lacking(1, 0) == [1]
    certify(jury, 1, 1.5)
    assert (jury.verdict(1, 0), jury.lacking(1, 0)) == (Verdict.ACCEPT, [])


def test_the_first_best_lacks_its_own_certificate() -> None:
    jury = jury_of(1.0, noisy=False)
    assert (jury.verdict(0, None, title=True), jury.lacking(0, None)) == (Verdict.PENDING, [0])


def test_a_noisy_challenger_is_measured_again() -> None:
    jury = jury_of(1.0, 1.1, noisy=True)
    assert (jury.verdict(1, 0), jury.lacking(1, 0)) == (Verdict.PENDING, [1])


def test_on_another_machine_the_noisy_incumbent_is_measured_before_the_challenger() -> None:
    jury = jury_of(1.0, 9.0, noisy=True)
    jury.evidence.move_to("first")
    jury.evidence.move_to("second")
    assert (jury.verdict(1, 0), jury.lacking(1, 0)) == (Verdict.PENDING, [0])


@pytest.mark.parametrize("side", [0, 1])
def test_a_contest_that_cannot_be_measured_is_lost(side: int) -> None:
    jury = jury_of(1.0, 2.0, noisy=False)
    for _ in range(GIVE_UP):
        jury.agenda.ended(side, measured=False)
    assert jury.verdict(1, 0) is Verdict.REJECT


@pytest.mark.parametrize(("noisy", "owed"), [(True, {0}), (False, set())])
def test_only_a_noisy_incumbent_is_owed_a_refresh(noisy: bool, owed: set[int]) -> None:
    jury = jury_of(1.0, noisy=noisy)
    jury.refresh(0)
    assert jury.agenda.refreshes == owed
    assert (jury.agenda.next(lambda entry: [entry.program] if entry.island == REFRESH else []) is None) is not noisy
