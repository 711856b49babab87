"""Facts about the judge's loop of `online_bin_packing`."""

import math
from collections.abc import Callable
from typing import Any

import bin_packing_rules as rules
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_files import judging_files

packing = judging_files("online_bin_packing").packing
CAPACITY = 20


def choosing(source: str) -> Callable[[int, Any], int]:
    """A rule as the loop wants it, without judge and session."""
    score = rules.function(source)

    def choose(item: int, residual: Any) -> int:
        fitting = np.flatnonzero(residual >= item)
        return int(fitting[np.argmax(score(item, residual[fitting]))])

    return choose


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, CAPACITY), min_size=1, max_size=60))
@pytest.mark.parametrize(("source", "oracle"), [(rules.FIRST_FIT, rules.first_fit), (rules.BEST_FIT, rules.best_fit)])
def test_first_fit_and_best_fit_pack_as_they_do_elsewhere(source: str, oracle: Any, items: list[int]) -> None:
    """Bin by bin, as a packer of ten lines with lists."""
    found = packing.packed(items, CAPACITY, choosing(source))
    assert list(found.residuals) == oracle(items, CAPACITY)
    assert found.early == 0


def test_an_item_that_could_have_gone_elsewhere_counts_as_early() -> None:
    """A rule that always opens a bin: every item but the first, and but those that fit nowhere."""
    found = packing.packed([5, 5, 18, 5], CAPACITY, lambda item, residual: len(residual) - 1)
    assert (found.residuals, found.early) == ((15, 15, 2, 15), 2)


def test_a_choice_without_enough_room_is_a_fault() -> None:
    """Of the judge's own code: a program's answer never is a bin."""
    with pytest.raises(AssertionError, match="enough room"):
        packing.packed([15, 15], CAPACITY, lambda item, residual: 0)
    with pytest.raises(AssertionError, match="bins that were shown"):
        packing.packed([15], CAPACITY, lambda item, residual: -1)


def test_no_item_is_known_before_its_turn() -> None:
    """What the choice sees are the bins that are open, and one new one."""
    seen = []

    def choose(item: int, residual: Any) -> int:
        seen.append((item, residual.tolist()))
        return len(residual) - 1

    packing.packed([7, 9], CAPACITY, choose)
    assert seen == [(7, [20]), (9, [13, 20])]


def test_room_is_counted_over_all_packings() -> None:
    """An entry for each room from none to all."""
    one, other = packing.Packing((0, 2, 2), 0), packing.Packing((3,), 0)
    assert packing.room_left([one, other], 4) == [1, 0, 2, 1, 0]


@pytest.mark.parametrize(("counts", "bits"), [([7], 0.0), ([0, 4, 4], 1.0), ([1, 1, 1, 1], 2.0), ([3, 1], 0.811278)])
def test_the_entropy_of_the_rooms(counts: list[int], bits: float) -> None:
    """In bits, and never minus zero."""
    found = packing.entropy_bits(counts)
    assert found == pytest.approx(bits, abs=1e-6)
    assert math.copysign(1.0, found) == 1.0
