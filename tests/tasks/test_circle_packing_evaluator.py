"""Facts about how `circle_packing` judges an answer."""

import json
import runpy
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path
from typing import Any

import certificate
import circles
import evaluator
import pytest

from evolve.task import load
from evolve.types import Evaluation, Outcome, Parameters, Trial

TASK = load("circle_packing")
TRIAL = Trial(parameters=Parameters(TASK.parameters))


class Answering:
    """A candidate that answers `centres()`."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def call(self, function: str) -> object:
        assert function == "centres"
        return self.answer


def evaluated(answer: object, trial: Trial = TRIAL) -> Evaluation:
    return evaluator.evaluate(Answering(answer), trial)


def stored(evaluation: Evaluation) -> Any:
    """Artifacts as they come back from the log."""
    return json.loads(json.dumps(dict(evaluation.artifacts)))


def function(name: str) -> Any:
    return evaluator.evaluate.functions(TASK)[name]


def test_the_seed_is_the_grid_with_its_coordinates_as_literals() -> None:
    """It has the value that the literature gives to it, and every coordinate can be tuned in place."""
    answer = runpy.run_path(str(Path(TASK.folder) / "seed.py"))["centres"]()
    assert [tuple(pair) for pair in answer] == list(circles.SEED)
    assert TASK.seed.files["seed.py"].count("0.") == 52
    evaluation = evaluated(answer)
    assert evaluation.fitness == pytest.approx(circles.SEED_TOTAL, abs=1e-13)
    assert evaluation.descriptors == {"walls": 16, "radius_cv": pytest.approx(0.11524779946, abs=1e-9)}


def test_an_evaluation_has_a_descriptor_for_every_axis_within_its_range() -> None:
    """And what the other functions need as artifacts. (What is worse than 2.3 may lie outside.)"""
    for seed in range(10):
        evaluation = evaluated(circles.shaken(seed, size=0.01))
        assert evaluation.outcome is Outcome.OK
        assert set(evaluation.artifacts) == {"centres", "radii"}
        assert all(axis.low <= evaluation.descriptors[axis.name] <= axis.high for axis in TASK.axes)
        assert evaluation.metrics["contacts"] > 0
        assert evaluation.metrics["smallest_radius"] >= 0


@pytest.mark.parametrize("answer", [None, [], [[0.5, 0.5]] * 25, [[float("nan"), 0.5]] * 26, [[True, False]] * 26])
def test_an_answer_of_another_form_is_invalid_with_a_reason(answer: object) -> None:
    """It is the program's failure, not the judge's."""
    evaluation = evaluated(answer)
    assert (evaluation.outcome, evaluation.fitness) == (Outcome.INVALID, None)
    assert "centre" in evaluation.feedback


def test_another_number_of_circles_needs_another_seed() -> None:
    """`n` is a parameter, but the seed has 26 circles."""
    trial = Trial(parameters=Parameters(n=27))
    assert evaluated(circles.SEED, trial).feedback == "centres() must return 27 pairs [x, y], got 26"
    assert evaluated([*circles.SEED, (0.4, 0.4)], trial).outcome is Outcome.OK


@pytest.mark.parametrize("seed", range(5))
def test_a_certified_value_is_exact_and_near_the_screened_one(seed: int) -> None:
    """Its certificate is verified, and the value is not above it."""
    evaluation = evaluated(circles.shaken(seed))
    certified = function("certify")(stored(evaluation), TRIAL)
    exact = certificate.verify(json.loads(json.dumps(certified.artifacts["certificate"])))
    assert exact - Fraction(1, 10**15) <= Fraction(certified.fitness) <= exact
    assert certified.fitness == pytest.approx(evaluation.fitness, abs=1e-12)


def test_certifying_does_not_believe_the_stored_radii() -> None:
    """They are computed again."""
    artifacts = stored(evaluated(circles.SEED)) | {"radii": [9.0] * 26}
    assert function("certify")(artifacts, TRIAL).fitness == pytest.approx(circles.SEED_TOTAL, abs=1e-13)


def test_no_packing_passes_the_bound_and_the_anchors_are_ordered() -> None:
    """The bound is sqrt(n / pi), from the area and the inequality of Cauchy and Schwarz."""
    assert TASK.bound is not None
    assert TASK.bound**2 >= 26 / 3.141592653589793
    values = [anchor.value for anchor in TASK.anchors]
    assert values == sorted(values)
    assert values[0] == pytest.approx(circles.SEED_TOTAL, abs=1e-12)
    assert values[-1] < TASK.bound


def test_a_copy_has_the_same_fingerprint_and_the_picture_is_well_formed() -> None:
    """Both work from stored artifacts."""
    evaluation = evaluated(circles.shaken(1))
    copy = evaluated(circles.turned(circles.shaken(1), circles.SYMMETRIES[5], 2))
    assert function("fingerprint")(stored(evaluation), TRIAL) == function("fingerprint")(stored(copy), TRIAL)
    assert ElementTree.fromstring(function("draw")(stored(evaluation), TRIAL)).tag.endswith("svg")


def test_the_task_promises_a_certificate_and_can_give_one() -> None:
    """What `task.toml` says agrees with the evaluator."""
    assert (TASK.deterministic, TASK.promotion) == (True, "certificate")
    assert set(evaluator.evaluate.functions(TASK)) == {"certify", "fingerprint", "draw"}
    assert [stage.name for stage, _ in evaluator.evaluate.stages(TASK)] == ["evaluate"]
    assert evaluator.evaluate.stages(TASK)[0][0].limit == 5.0
