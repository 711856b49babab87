"""No cheat gains anything where the score is a speed, and the honest program that looks most like it loses nothing."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from adversary import Adversary
from cheat import Cheat
from test_adversarial import CHEATS, timed

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]


@pytest.fixture(scope="module")
def adversary() -> Iterator[Adversary]:
    """One for all, which judges the cheats of a task in one process."""
    made = Adversary()
    yield made
    made.close()


def cases() -> Iterator[Any]:
    """Every cheat; the first of each task is tried by every change, the others take seconds each and are slow."""
    seen: set[str] = set()
    for cheat in filter(timed, CHEATS):
        marks = [pytest.mark.slow] if cheat.task in seen else []
        seen.add(cheat.task)
        yield pytest.param(cheat, id=f"{cheat.task}-{cheat.name}", marks=marks)


@pytest.mark.parametrize("cheat", list(cases()))
def test_a_cheat_is_no_faster_and_its_twin_passes(adversary: Adversary, cheat: Cheat) -> None:
    """By the task's own evaluator, at the strongest isolation that there is here."""
    found = adversary.verdict(cheat)
    assert (found.profit, found.unfair) == ("", ""), found.said
