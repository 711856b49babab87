"""What an evaluator returned either is an evaluation with finite numbers, or a failure that says why not."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_fakes import small_task

from evolve.evaluation.checks import Fault, check_evaluation, encode_artifact, number, printable
from evolve.types import Axis, Constraint, Evaluation, Objective, Outcome

TASK = small_task()


class Boastful(float):
    """A float that would convert to infinity."""

    def __float__(self):
        return math.inf


@pytest.mark.parametrize("value", [3, 0.5, np.float64(0.5), np.float32(0.5), np.int64(7), Fraction(1, 3)])
def test_real_numbers_become_plain_floats(value):
    """numpy's scalars and exact ones too."""
    plain = number("fitness", value)
    assert type(plain) is float
    assert plain == float(value)


@pytest.mark.parametrize("value", [True, np.bool_(True), 1j, "1", None, [1.0], np.array([1.0])])
def test_what_is_no_real_number_is_the_evaluators_fault(value):
    """A bool counts as none, whatever Python says."""
    with pytest.raises(Fault) as fault:
        number("fitness", value)
    assert fault.value.evaluation.outcome is Outcome.INTERNAL
    assert "fitness is a" in fault.value.evaluation.feedback


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan"), Boastful(1.0), 10**400])
def test_a_number_that_is_not_finite_makes_a_program_invalid(value):
    """Also one that only becomes so when it is converted."""
    with pytest.raises(Fault) as fault:
        number("metric 'x'", value)
    assert fault.value.evaluation.outcome is Outcome.INVALID
    assert "metric 'x'" in fault.value.evaluation.feedback


def test_a_good_evaluation_passes_with_plain_numbers():
    """Fitness, error, descriptors and metrics."""
    answer = Evaluation.ok(
        np.float32(0.5), descriptors={"walls": np.int64(3)}, metrics={"gap": 1}, standard_error=np.float64(0.25)
    )
    passed = check_evaluation(answer, TASK)
    assert passed == Evaluation.ok(0.5, descriptors={"walls": 3.0}, metrics={"gap": 1.0}, standard_error=0.25)
    assert [type(value) for value in (passed.fitness, passed.standard_error, passed.descriptors["walls"])] == [
        float
    ] * 3


@pytest.mark.parametrize("answer", ["0.5", None, 0.5, SimpleNamespace(fitness=1.0)])
def test_anything_but_an_evaluation_is_the_evaluators_fault(answer):
    """It says what came instead."""
    found = check_evaluation(answer, TASK)
    assert found.outcome is Outcome.INTERNAL
    assert f"returned a {type(answer).__name__}, wanted an Evaluation" in found.feedback


@pytest.mark.parametrize(
    ("fields", "outcome", "message"),
    [
        ({"fitness": True}, Outcome.INTERNAL, "fitness is a bool"),
        ({"descriptors": {"walls": math.nan}}, Outcome.INVALID, "descriptor 'walls' is nan"),
        ({"descriptors": {"walls": "3"}}, Outcome.INTERNAL, "descriptor 'walls' is a str"),
        ({"descriptors": [3]}, Outcome.INTERNAL, "descriptors are a list"),
        ({"metrics": {"gap": math.inf}}, Outcome.INVALID, "metric 'gap' is inf"),
        ({"standard_error": math.nan}, Outcome.INVALID, "standard error is nan"),
        ({"feedback": None}, Outcome.INTERNAL, "feedback is a NoneType"),
    ],
)
def test_one_bad_field_is_enough(fields, outcome, message):
    """And it is named."""
    found = check_evaluation(Evaluation(Outcome.OK, **{"fitness": 1.0, **fields}), TASK)
    assert found.outcome is outcome
    assert message in found.feedback


def test_a_descriptor_for_each_axis_is_wanted_of_an_ok_evaluation():
    """A failed one has none to give, and a certificate needs none."""
    task = small_task(axes=(Axis("walls", 0, 26, 14),))
    found = check_evaluation(Evaluation.ok(1.0, descriptors={"wall": 3}), task)
    assert found.outcome is Outcome.INVALID
    assert "'walls'; the evaluation has wall" in found.feedback
    assert check_evaluation(Evaluation.wrong("no"), task) == Evaluation.wrong("no")
    assert check_evaluation(Evaluation.ok(1.0), task, complete=False) == Evaluation.ok(1.0)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(PLAIN)
@settings(max_examples=60, deadline=None)
def test_every_plain_artifact_can_be_stored(artifact):
    """As a text that UTF-8 can hold."""
    assert encode_artifact("x", artifact).encode("utf-8")


def test_arrays_and_tuples_are_stored_as_lists():
    """Which is what certify, fingerprint and draw then get."""
    artifact = {"centres": np.array([[0.5, 0.25]]), "count": np.int64(2), "pair": (1, 2)}
    assert encode_artifact("x", artifact) == '{"centres":[[0.5,0.25]],"count":2,"pair":[1,2]}'


def cyclic():
    items = []
    items.append(items)
    return items


@pytest.mark.parametrize("artifact", [math.nan, np.array([math.inf]), {1, 2}, object(), 1j, cyclic(), {(1, 2): 3}])
def test_an_artifact_that_cannot_be_stored_is_the_evaluators_fault(artifact):
    """It is named."""
    with pytest.raises(Fault, match="artifact 'x' cannot be stored") as fault:
        encode_artifact("x", artifact)
    assert fault.value.evaluation.outcome is Outcome.INTERNAL


def test_half_a_surrogate_pair_is_shown_as_a_question_mark():
    """No UTF-8 file can hold it."""
    assert printable("a\ud800b") == "a?b"


AIMING = small_task(
    objectives=(Objective("length"), Objective("seconds", "min")),
    constraints=(Constraint("memory", at_most=200.0), Constraint("digits", at_least=0.0, at_most=4.0)),
)


def aims(**changes):
    """A success with all that the task asks for."""
    given = {"objectives": {"length": 2, "seconds": 3}, "metrics": {"memory": 100, "digits": 4}, **changes}
    return Evaluation.ok(1.0, **given)


def test_a_success_that_meets_the_constraints_has_no_violation():
    """Objectives stay in the user's direction until they are reported, and become plain floats."""
    found = check_evaluation(aims(), AIMING)
    assert (found.outcome, found.violation) == (Outcome.OK, 0.0)
    assert found.objectives == {"length": 2.0, "seconds": 3.0}


@pytest.mark.parametrize(
    ("metrics", "violation"),
    [({"memory": 300, "digits": 0}, 0.5), ({"memory": 0, "digits": -0.5}, 0.5), ({"memory": 250, "digits": 6}, 0.75)],
)
def test_the_violation_is_the_sum_over_the_constraints_in_units_of_their_bounds(metrics, violation):
    """A bound of 0 counts as 1."""
    assert check_evaluation(aims(metrics=metrics), AIMING).violation == violation


def test_what_an_evaluator_says_of_the_violation_is_not_believed():
    """It is the judge's sum."""
    boast = replace(aims(metrics={"memory": 300, "digits": 0}), violation=0.0)
    slander = replace(aims(), violation=7.0)
    assert [check_evaluation(answer, AIMING).violation for answer in (boast, slander)] == [0.5, 0.0]


@pytest.mark.parametrize(
    ("changes", "outcome", "message"),
    [
        ({"objectives": {"length": 2}}, Outcome.INVALID, "no number for the task's objective 'seconds'; .* has length"),
        ({"objectives": {"length": math.nan, "seconds": 1}}, Outcome.INVALID, "the objective 'length' is nan"),
        ({"metrics": {"memory": 1}}, Outcome.INVALID, "no metric for the task's constraint on 'digits'"),
        ({"metrics": {}}, Outcome.INVALID, "no metric for the task's constraint on 'memory'; the evaluation has none"),
        (
            {"objectives": {"width": 2}},
            Outcome.INTERNAL,
            "objective 'width', which the task does not .* Try: declare it",
        ),
        ({"objectives": {"length": "2"}}, Outcome.INTERNAL, "the evaluator's objective 'length' is a str"),
    ],
)
def test_a_success_without_what_the_task_declares_is_none(changes, outcome, message):
    """What is missing or not finite is the program's fault; what nobody asked for, the evaluator's."""
    found = check_evaluation(aims(**changes), AIMING)
    assert found.outcome is outcome
    assert re.search(message, found.feedback)


def test_an_early_stage_and_a_certificate_need_neither_objectives_nor_constrained_metrics():
    """A failure has none."""
    assert check_evaluation(Evaluation.ok(1.0), AIMING, complete=False) == Evaluation.ok(1.0)
    assert check_evaluation(Evaluation.wrong("no"), AIMING) == Evaluation.wrong("no")


@pytest.mark.parametrize("tag", [None, 3, ["late write"]])
def test_a_tag_is_a_text(tag):
    """The evaluator broke its contract where it is none."""
    found = check_evaluation(Evaluation.ok(1.0, tag=tag), TASK)
    assert (found.outcome, found.tag) == (Outcome.INTERNAL, "")
    assert "tag is a" in found.feedback


def test_a_tag_is_short_and_stands_on_one_line():
    """It may quote what a program has said."""
    assert check_evaluation(Evaluation.wrong("no", tag=" late\nwrite \ud800"), TASK).tag == "late write ?"
    assert len(check_evaluation(Evaluation.wrong("no", tag="x" * 500), TASK).tag) == 80


@pytest.mark.parametrize("value", [1.1e100, -1e155, 1.7e308])
def test_a_number_whose_square_no_float_holds_is_the_programs_failure(value):
    """Whoever reads the log would fail at it: sums, means and variances."""
    assert check_evaluation(Evaluation.ok(value), small_task()).outcome is Outcome.INVALID
    assert check_evaluation(Evaluation.ok(0.0, standard_error=abs(value)), small_task()).outcome is Outcome.INVALID
    assert check_evaluation(Evaluation.ok(0.0, metrics={"loss": value}), small_task()).outcome is Outcome.INVALID
