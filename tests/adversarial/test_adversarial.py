"""No cheat gains anything, and the honest program that looks most like it loses nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from adversary import Adversary, cheats, ending, markdown, profit, unfair
from cheat import Cheat

from evolve.types import Evaluation, Level, Outcome
from tests.promised import not_here

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

CHEATS = cheats()
PAGE = Path(__file__).with_name("CHEATS.md")


@pytest.fixture(scope="module")
def adversary() -> Iterator[Adversary]:
    """One for all, which judges the cheats of a task in one process."""
    made = Adversary()
    yield made
    made.close()


def timed(cheat: Cheat) -> bool:
    """Whether its task measures times: those cheats are evaluated by `test_adversarial_timed.py`, beside these."""
    return cheat.task.startswith("kernel_") or cheat.task in ("convolve2d", "psd_projection")


@pytest.mark.parametrize(
    "cheat", [pytest.param(cheat, id=f"{cheat.task}-{cheat.name}") for cheat in CHEATS if not timed(cheat)]
)
def test_a_cheat_gains_nothing_and_its_twin_passes(adversary: Adversary, cheat: Cheat) -> None:
    """By the task's own evaluator, at the strongest isolation that there is here."""
    found = adversary.verdict(cheat)
    if cheat.strict and found.isolation != Level.STRICT:
        not_here(f"documented for {found.isolation}: {found.said}")
    assert (found.profit, found.unfair) == ("", ""), found.said


def test_the_page_has_every_cheat() -> None:
    """`python tests/adversarial --docs` writes its table."""
    assert markdown(CHEATS) in PAGE.read_text("utf-8")


def test_every_cheat_has_a_name_of_its_own() -> None:
    """In its task."""
    names = [(cheat.task, cheat.name) for cheat in CHEATS]
    assert [name for name in names if names.count(name) > 1] == []


def cheat(**fields: object) -> Cheat:
    return Cheat("task", "name", "trick", "rule", {}, **fields)  # type: ignore[arg-type]


OK, TWIN = frozenset({Outcome.OK}), Evaluation.ok(2.0)


@pytest.mark.parametrize(
    ("cheats", "evaluation", "told"),
    [
        (cheat(), Evaluation.wrong("no"), ""),
        (cheat(), Evaluation.ok(0.0), "it ended as ok, wanted invalid or wrong"),
        (cheat(outcomes=OK), Evaluation.ok(2.0), ""),
        (cheat(outcomes=OK), Evaluation.ok(2.1), "its fitness is 2.1, wanted at most 2"),
        (cheat(outcomes=OK, at_most=3.0), Evaluation.ok(2.1), ""),
        (cheat(outcomes=OK, at_most=0.0), Evaluation.ok(1e-9), "its fitness is 1e-09, wanted at most 0"),
        (cheat(outcomes=OK, quarantined=True), Evaluation.ok(9.0, tag="late write"), ""),
        (cheat(quarantined=True), Evaluation.wrong("no"), "its evaluator did not tag it"),
    ],
)
def test_what_counts_as_a_gain(cheats: Cheat, evaluation: Evaluation, told: str) -> None:
    """So that the check of all cheats can fail."""
    assert profit(cheats, evaluation, TWIN) == told


@pytest.mark.parametrize(
    ("twin", "told"),
    [
        (TWIN, ""),
        (Evaluation.wrong("no"), "its twin ended as wrong"),
        (Evaluation.ok(2.0, tag="late write"), "its twin was tagged: late write"),
    ],
)
def test_what_is_unfair_to_an_honest_program(twin: Evaluation, told: str) -> None:
    """A judge that refuses everything catches every cheat, and is of no use."""
    assert unfair(twin) == told


def test_how_a_cheat_must_end_is_told_in_words() -> None:
    """In the order of the outcomes."""
    assert ending(cheat()) == "invalid or wrong"
    assert ending(cheat(outcomes=frozenset({Outcome.CRASHED, Outcome.OK}))) == "ok without a gain or crashed"
    assert ending(cheat(quarantined=True)) == "invalid or wrong, quarantined"
