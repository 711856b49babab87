"""Facts about answers to `step_functions`, their repair, and what is told about them."""

import math
from typing import Any

import numpy as np
import pytest
import step_samples
from hypothesis import given, settings
from hypothesis import strategies as st
from task_files import judging_files

FILES = judging_files("step_functions")
steps = FILES.steps


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "must return a list of 3 numbers, got NoneType"),
        (0.5, "got float 0.5"),
        ("0.5, 0.5, 0.5", "got str of length 13"),
        ({"value": 1.0, "steps": [1.0, 1.0, 1.0]}, "got dict of length 2"),
        ([], "must return 3 numbers, got 0"),
        ([1.0, 1.0], "must return 3 numbers, got 2"),
        ([1.0] * 4, "must return 3 numbers, got 4"),
        ([1.0, float("nan"), 1.0], "step 1 must be a finite number, got nan"),
        ([1.0, 1.0, float("inf")], "step 2 must be a finite number, got inf"),
        ([-math.inf, 1.0, 1.0], "step 0 must be a finite number, got -inf"),
        ([1.0, 10**400, 1.0], "step 1 must be a finite number, got an integer of 1329 bits"),
        ([True, True, True], "step 0 must be a number, got bool True"),
        ([1.0, "1.0", 1.0], "step 1 must be a number, got str of length 3"),
        ([1.0, [1.0], 1.0], "step 1 must be a number, got list of length 1"),
        ([1.0, 1j, 1.0], "step 1 must be a number, got complex 1j"),
        ([1.0, None, 1.0], "step 1 must be a number, got NoneType"),
        (np.ones((3, 1)), r"must return 3 numbers, got an array of shape \(3, 1\)"),
        (np.zeros((1 << 39, 0), np.int8), r"must return 3 numbers, got an array of shape \(549755813888, 0\)"),
        (np.zeros((3, 1 << 39, 0), np.int8), r"got an array of shape \(3, 549755813888, 0\)"),
        ([1.0, np.zeros((1 << 39, 0), np.int8), 1.0], "step 1 must be a number, got ndarray"),
        (np.ones(3, dtype=bool), "step 0 must be a number, got bool True"),
        (np.array(1.0), r"got an array of shape \(\)"),
        ([0.0, 0.0, 0.0], "the steps add up to 0"),
        ([-1.0, 0.0, -2.0], "the steps add up to 0"),
    ],
)
def test_an_answer_of_another_form_is_refused(answer: object, message: str) -> None:
    """With what it was."""
    with pytest.raises(ValueError, match=message):
        steps.steps_from(answer, "c2", 3)


def test_a_subclass_of_a_number_is_refused() -> None:
    """It may compare as it likes."""

    class Sly(float):
        def __le__(self, other: object) -> bool:
            return True

    with pytest.raises(ValueError, match="step 1 must be a number, got Sly"):
        steps.steps_from([1.0, Sly("nan"), 1.0], "c2", 3)


@pytest.mark.parametrize("kind", ["c1", "c2", "c3abs"])
@pytest.mark.parametrize("height", [5e-324, 1e-161, 3, 1e300, 1.7e308, 2**1000])
def test_the_height_of_a_constant_does_not_matter(kind: str, height: float) -> None:
    """Neither denormal numbers nor huge ones gain anything: their squares never appear."""
    found = steps.steps_from([height] * 8, kind, 8)
    assert 0.5 <= found[0] < 1.0
    assert steps.ratio(kind, found) == pytest.approx(2 / 3 if kind == "c2" else 2.0, rel=1e-14)


def test_negligible_steps_count_as_zero() -> None:
    """Relative to the highest; the least that counts is 2 ** -64 of it, or a little more."""
    assert steps.steps_from([4.0, 1e-30, 5e-324], "c2", 3) == (0.5, 0.0, 0.0)
    assert steps.steps_from([1.0, 1e-16, 1e-15], "c2", 3) == (0.5, 0.5e-16, 0.5e-15)
    assert steps.steps_from([1e308, 1e-308, 1.0], "c1", 3)[1:] == (0.0, 0.0)


def test_arrays_of_numbers_are_taken() -> None:
    """Whatever their type; small integers do not overflow."""
    assert steps.steps_from(np.array([200, 200], dtype=np.uint8), "c1", 2) == (200 / 256, 200 / 256)
    assert steps.steps_from(np.array([0.5, 0.25], dtype=np.float32), "c1", 2) == (0.5, 0.25)
    assert steps.steps_from((1, 2), "c1", 2) == (0.25, 0.5)


def test_negative_steps_are_zero_but_for_c3abs() -> None:
    """Minus zero too."""
    assert steps.steps_from([-1.0, 0.5, -0.0], "c2", 3) == (0.0, 0.5, 0.0)
    assert str(steps.steps_from([-0.0, 0.5], "c1", 2)[0]) == "0.0"
    assert steps.steps_from([-1.0, 0.25, -0.0], "c3abs", 3) == (-0.5, 0.125, 0.0)


def test_steps_of_both_signs_that_cancel_are_refused() -> None:
    """The ratio would be infinite."""
    with pytest.raises(ValueError, match="the steps add up to 0"):
        steps.steps_from([1.0, -1.0], "c3abs", 2)


def test_erdos_is_moved_into_its_interval_and_balanced() -> None:
    """Steps in the middle are multiplied; those at 0 and 1 stay."""
    assert steps.steps_from([0.3] * 4, "erdos", 4) == (0.5,) * 4
    assert steps.steps_from([-3.0, 7.0, 0.2, 0.3], "erdos", 4) == (0.0, 1.0, pytest.approx(0.4), pytest.approx(0.6))
    assert steps.steps_from([0.0, 1.0], "erdos", 2) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 1.0], r"must add up to 1: \+1, and none between 0.1 and 0.9 can be changed"),
        ([0.0, 0.05, 0.0], "must add up to 1.5: -1.45, and none"),
        ([0.8, 0.0, 0.0, 0.0], "must add up to 2: -1.2 is too far"),
        ([1.0, 1.0, 1.0, 0.4], r"must add up to 2: \+1.4 is too far"),
    ],
)
def test_erdos_that_cannot_be_balanced_is_refused(values: list[float], message: str) -> None:
    """With how much is too much."""
    with pytest.raises(ValueError, match=message):
        steps.steps_from(values, "erdos", len(values))


@pytest.mark.parametrize("kind", ["c1", "c2", "c3abs"])
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_what_was_repaired_needs_no_repair(kind: str, data: st.DataObject) -> None:
    """Exactly."""
    values = data.draw(step_samples.steps_of(kind))
    once = steps.steps_from(values, kind, len(values))
    assert steps.steps_from(list(once), kind, len(values)) == once


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_what_passes_as_erdos_adds_up_but_for_rounding(values: list[float]) -> None:
    """Or it is refused."""
    try:
        found = steps.steps_from(values, "erdos", len(values))
    except ValueError:
        return
    assert math.fsum(found) == pytest.approx(len(values) / 2, abs=1e-14)
    assert all(0.0 <= step <= 1.0 for step in found)


def test_small_functions_have_the_ratios_that_a_hand_computes() -> None:
    """In floating point."""
    assert steps.ratio("c1", [0.5, 1.0]) == pytest.approx(16 / 9)
    assert steps.ratio("c2", [0.5, 1.0]) == pytest.approx(43 / 54)
    assert steps.ratio("c3abs", [-1.0, 2.0]) == pytest.approx(16.0)
    assert steps.ratio("erdos", [0.25, 0.75]) == pytest.approx(9 / 16)


def test_more_is_better_as_a_score() -> None:
    """Whatever the kind."""
    assert [steps.score(kind, 0.5) for kind in step_samples.KINDS] == [-0.5, 0.5, -0.5, -0.5]


def test_active_knots_are_those_within_a_thousandth() -> None:
    """The maximum itself is one."""
    assert steps.active(np.array([1.0, 0.9991, 0.998, -1.0])) == 3


def test_zeros_and_asymmetry() -> None:
    """Zeros at the ends are no asymmetry."""
    assert steps.zeros([0.0, 1.0, 0.0, 2.0]) == 0.5
    assert steps.asymmetry([0.0, 0.0, 1.0, 2.0, 1.0]) == 0.0
    assert steps.asymmetry([1.0, 3.0]) == 0.5
    assert steps.asymmetry([-1.0, 1.0]) == 1.0
    assert steps.trimmed([0.0, 1.0, 0.0, 2.0, 0.0]) == [1.0, 0.0, 2.0]


def test_rounding_leads_no_asymmetry_past_its_end() -> None:
    """These have nothing of a mirror image."""
    assert steps.asymmetry((0.3768173346184338, 0.4230291658317953, 0.21792241367975895, 0.0, 0.0, -0.5)) == 1.0


@pytest.mark.parametrize("kind", step_samples.KINDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_descriptors_are_shares(kind: str, data: st.DataObject) -> None:
    """Of whatever passes."""
    values = data.draw(step_samples.steps_of(kind))
    found = steps.steps_from(values, kind, len(values))
    assert 0.0 <= steps.zeros(found) <= 1.0
    assert 0.0 <= steps.asymmetry(found) <= 1.0


def hill(peak: float, count: int = 64) -> list[float]:
    """One bump."""
    return [math.exp(-(((index - peak) / 9.0) ** 2)) for index in range(count)]


def test_copies_have_the_same_fingerprint() -> None:
    """Mirrored, moved, multiplied and polished ones."""
    two = [one + 0.4 * other for one, other in zip(hill(20), hill(45), strict=True)]
    name = steps.fingerprint("c2", two)
    assert steps.fingerprint("c2", two[::-1]) == name
    assert steps.fingerprint("c2", [0.0, 0.0, *two, 0.0]) == name
    assert steps.fingerprint("c2", [3.0 * step for step in two]) == name
    assert steps.fingerprint("c2", [step + 1e-9 for step in two]) == name
    negative = [-step for step in two]
    assert steps.fingerprint("c3abs", negative) == steps.fingerprint("c3abs", two)


def test_other_outlines_and_kinds_have_other_fingerprints() -> None:
    """One peak, two peaks, a constant, a gap."""
    gap = [*[1.0] * 24, *[0.0] * 16, *[1.0] * 24]
    shapes: list[Any] = [hill(32), [a + b for a, b in zip(hill(8), hill(56), strict=True)], [1.0] * 64, gap]
    names = {steps.fingerprint(kind, shape) for shape in shapes for kind in ("c1", "c2")}
    assert len(names) == 8


def test_a_function_of_few_steps_has_a_fingerprint() -> None:
    """Fewer than the parts that it is cut in."""
    assert len(steps.fingerprint("c1", [1.0])) == 16
    assert steps.fingerprint("c1", [1.0]) == steps.fingerprint("c1", [0.5, 0.5, 0.5])
