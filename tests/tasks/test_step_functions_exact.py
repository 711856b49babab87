"""Facts about exact ratios of step functions, and their certificates."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import step_samples
from hypothesis import given, settings
from hypothesis import strategies as st
from task_files import judging_files

FILES = judging_files("step_functions")
exact, steps = FILES.exact, FILES.steps

FOLDER = Path(exact.__file__).parent


def exactly(kind: str, values: list[float]) -> Fraction:
    """The certified ratio, after a journey as JSON."""
    return exact.verify(json.loads(json.dumps(exact.certificate(kind, values))))


@pytest.mark.parametrize("count", [1, 2, 7, 256])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [("c1", Fraction(2)), ("c2", Fraction(2, 3)), ("c3abs", Fraction(2)), ("erdos", Fraction(1, 2))],
)
def test_a_constant_has_the_ratio_of_the_indicator_function(kind: str, expected: Fraction, count: int) -> None:
    """However many steps it is cut in: the trivial values of the literature."""
    assert exactly(kind, [0.5] * count) == expected


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("c1", [1.0, 1.0, 0.0, 0.0], Fraction(4)),  # knots 1 2 1: 8 * 2 / 2 ** 2
        ("c1", [1.0, 2.0], Fraction(16, 9)),  # knots 1 4 4: 4 * 4 / 3 ** 2
        ("c2", [1.0, 2.0], Fraction(43, 54)),  # (1 + 21 + 48 + 16) / 3 / (9 * 4)
        ("c2", [1.0, 0.0, 1.0], Fraction(2, 3) * Fraction(6, 8)),  # knots 1 0 2 0 1: 12 / 3 / (4 * 2)
        ("c3abs", [2.0, -1.0], Fraction(16)),  # knots 4 -4 1: 4 * 4 / 1
        ("c3abs", [1.0, -3.0], Fraction(9)),  # knots 1 -6 9: 4 * 9 / 4
        ("erdos", [1.0, 0.0], Fraction(1)),
        ("erdos", [0.0, 1.0, 1.0, 0.0], Fraction(1, 2)),
        ("erdos", [0.25, 0.75], Fraction(9, 16)),
    ],
)
def test_small_functions_have_the_ratios_that_a_hand_computes(
    kind: str, values: list[float], expected: Fraction
) -> None:
    """The formulas of the brief."""
    assert exactly(kind, values) == expected


numbers = st.integers(-(10**6), 10**6) | st.integers(-(2**200), 2**200) | st.just(0)


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=20), st.lists(numbers, min_size=1, max_size=20))
def test_one_multiplication_gives_the_convolution(ones: list[int], others: list[int]) -> None:
    """Of whole numbers of any size and sign."""
    assert exact.convolved(ones, others) == step_samples.by_hand(ones, others)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("bits", [1, 3, 4, 7, 8, 16, 53])
def test_coefficients_at_the_edge_of_their_place_stand_apart(bits: int, sign: int) -> None:
    """The largest that so many bits allow, one beside the other."""
    ones = [2**bits - 1] * 9
    assert exact.convolved(ones, [sign * one for one in ones]) == step_samples.by_hand(
        ones, [sign * one for one in ones]
    )


@pytest.mark.parametrize("kind", step_samples.KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_exact_ratio_is_near_that_in_floating_point(kind: str, data: st.DataObject) -> None:
    """For whatever steps pass."""
    values = data.draw(step_samples.steps_of(kind))
    repaired = steps.steps_from(values, kind, len(values))
    assert steps.ratio(kind, repaired) == pytest.approx(float(exactly(kind, list(repaired))), rel=1e-12)


@pytest.mark.parametrize("kind", step_samples.KINDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data(), parts=st.integers(2, 4))
def test_cutting_every_step_in_parts_changes_nothing(kind: str, data: st.DataObject, parts: int) -> None:
    """It is the same function. So nothing is larger between the knots than at them, and the sums are the integrals."""
    values = data.draw(step_samples.steps_of(kind))
    finer = [value for value in values for _ in range(parts)]
    assert exactly(kind, finer) == exactly(kind, values)


@pytest.mark.parametrize("kind", step_samples.KINDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_mirror_image_has_the_same_ratio(kind: str, data: st.DataObject) -> None:
    """Exactly."""
    values = data.draw(step_samples.steps_of(kind))
    assert exactly(kind, values[::-1]) == exactly(kind, values)


@pytest.mark.parametrize("kind", ["c1", "c2", "c3abs"])
@settings(max_examples=30, deadline=None)
@given(data=st.data(), factor=st.integers(1, 10**6))
def test_a_multiple_has_the_same_ratio(kind: str, data: st.DataObject, factor: int) -> None:
    """Exactly; a multiple of a float is rounded, so the whole numbers are multiplied."""
    proof = exact.certificate(kind, data.draw(step_samples.steps_of(kind)))
    multiple = proof | {"steps": [str(factor * int(step)) for step in proof["steps"]]}
    assert exact.verify(multiple) == exact.verify(proof)


@pytest.mark.parametrize("kind", ["c1", "c2", "c3abs"])
@settings(max_examples=30, deadline=None)
@given(data=st.data(), zeros=st.integers(1, 5))
def test_moving_a_function_changes_nothing(kind: str, data: st.DataObject, zeros: int) -> None:
    """Zeros may stand before it or behind it; to c2 it makes no difference whether they are there."""
    values = data.draw(step_samples.steps_of(kind))
    before, behind = [0.0] * zeros + values, values + [0.0] * zeros
    assert exactly(kind, before) == exactly(kind, behind)
    assert kind != "c2" or exactly(kind, before) == exactly(kind, values)


@settings(max_examples=30, deadline=None)
@given(step_samples.steps_of("erdos"))
def test_the_overlap_is_that_of_its_definition(values: list[float]) -> None:
    """Shift by shift, in fractions."""
    proof = exact.certificate("erdos", values)
    fractions = [Fraction(int(step), int(proof["scale"])) for step in proof["steps"]]
    shifts = range(1 - len(values), len(values))
    assert exact.verify(proof) == max(step_samples.overlap(fractions, shift) for shift in shifts)


@pytest.mark.parametrize("kind", step_samples.KINDS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_function_passes_a_bound(kind: str, data: st.DataObject) -> None:
    """They are proven."""
    value = exactly(kind, data.draw(step_samples.steps_of(kind)))
    assert 0 < value <= 1 if kind == "c2" else value >= exact.BOUNDS[kind]


def test_negative_steps_count_as_zero() -> None:
    """Of c1 and c2; c3abs is the kind that has them."""
    for kind in ("c1", "c2"):
        assert exactly(kind, [1.0, -0.5, 2.0]) == exactly(kind, [1.0, 0.0, 2.0])
    assert exactly("c3abs", [1.0, -0.5, 2.0]) != exactly("c3abs", [1.0, 0.0, 2.0])


def test_erdos_is_balanced_exactly() -> None:
    """What lies in the middle is multiplied; what is at 0 or 1 stays."""
    proof = exact.certificate("erdos", [0.0, 1.0, 0.3, 0.6])
    assert [Fraction(int(step), int(proof["scale"])) for step in proof["steps"]][:2] == [0, 1]
    assert 2 * sum(map(int, proof["steps"])) == 4 * int(proof["scale"])
    rounded = [0.1, 0.7, 0.4, 0.8]
    assert sum(map(Fraction, rounded)) != 2
    assert exact.verify(exact.certificate("erdos", rounded)) > 0


@pytest.mark.parametrize("values", [[1.0, 1.0], [0.0, 0.0, 1.0], [0.9, 0.9, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0]])
def test_erdos_that_cannot_be_balanced_is_refused(values: list[float]) -> None:
    """Nothing in the middle, or not enough of it."""
    with pytest.raises(ValueError, match="half their number"):
        exact.certificate("erdos", values)


def test_a_function_that_adds_up_to_nothing_has_no_ratio() -> None:
    """It would divide by 0."""
    for kind, values in (("c1", [0.0, -1.0]), ("c2", [0.0, 0.0]), ("c3abs", [1.0, -1.0])):
        with pytest.raises(ValueError, match="add up to 0"):
            exact.certificate(kind, values)


GOOD = {"kind": "c2", "scale": "2", "steps": ["1", "2"], "value": "43/54"}
HALVES = {"kind": "erdos", "scale": "4", "steps": ["1", "3"], "value": "9/16"}


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (GOOD | {"value": "44/54"}, "the ratio is 43/54, not 44/54"),
        (GOOD | {"kind": "c1"}, "the ratio is 16/9, not 43/54"),
        (GOOD | {"kind": "c4"}, "there is no kind 'c4'"),
        (GOOD | {"steps": ["1", "-2"]}, "a step of kind c2 is negative"),
        (GOOD | {"steps": ["0", "0"]}, "add up to 0"),
        (GOOD | {"steps": ["1", "2.5"]}, "this is no whole number"),
        (GOOD | {"steps": ["1", "nan"]}, "this is no whole number"),
        (GOOD | {"scale": "0"}, "the scale is 0"),
        (HALVES | {"steps": ["-1", "5"]}, "a step of kind erdos is negative"),
        (HALVES | {"steps": ["0", "5"]}, "a step of kind erdos is above 1"),
        (HALVES | {"steps": ["1", "2"]}, "do not add up to half their number"),
        (HALVES | {"scale": "5"}, "do not add up to half their number"),
    ],
)
def test_a_forged_certificate_is_refused(proof: dict[str, Any], message: str) -> None:
    """Whatever is wrong with it."""
    assert exact.verify(GOOD) == Fraction(43, 54)
    assert exact.verify(HALVES) == Fraction(9, 16)
    with pytest.raises(ValueError, match=message):
        exact.verify(proof)


@settings(max_examples=100, deadline=None)
@given(st.fractions(0, 3), st.sampled_from(step_samples.KINDS))
def test_a_score_is_never_better_than_the_ratio(value: Fraction, kind: str) -> None:
    """Down for c2, up for the others, which are shown with a minus: a decimal and a half of the last place at most."""
    signed = value if kind == "c2" else -value
    assert Fraction(exact.score(kind, value)) <= signed < Fraction(exact.score(kind, value)) + Fraction(1, 10**15)


def test_two_thirds_and_a_half_as_scores() -> None:
    """One is no float."""
    assert exact.score("c2", Fraction(2, 3)) == 0.6666666666666665
    assert exact.score("erdos", Fraction(1, 2)) == -0.5


def test_steps_as_far_apart_as_floats_go_are_certified() -> None:
    """The smallest denormal number beside 1: whole numbers of more than a thousand bits."""
    values = [5e-324, 1.0] * 64
    assert exactly("c2", values) == pytest.approx(float(exactly("c2", [0.0, 1.0] * 64)), abs=1e-12)
    assert exactly("c2", values) != exactly("c2", [0.0, 1.0] * 64)


@pytest.mark.integration
def test_a_certificate_is_checked_by_the_standard_library_alone(tmp_path: Path) -> None:
    """As the task's README says, in an interpreter without any package."""
    (tmp_path / "certificate.json").write_text(json.dumps(exact.certificate("c2", [0.1, 0.7, 0.3])))
    code = "import json, exact; print(float(exact.verify(json.load(open('certificate.json')))))"
    assert code in (FOLDER / "README.md").read_text("utf-8")
    (tmp_path / "exact.py").write_text((FOLDER / "exact.py").read_text("utf-8"), "utf-8")
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert float(run.stdout) == pytest.approx(steps.ratio("c2", [0.1, 0.7, 0.3]), abs=1e-13)
