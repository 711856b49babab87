"""A task's verifier is run on its seed's certificate, and what it refuses is told."""

import json
from dataclasses import replace
from typing import Any

import pytest

from evolve.conformance.verifying import verified_again
from evolve.evaluation import Report
from evolve.task import load
from evolve.types import Evaluation, Outcome, Task, TextId

pytestmark = pytest.mark.integration

TWO = {"centres": [["1/4", "1/2"], ["3/4", "1/2"]], "radii": ["1/4", "1/4"], "sum": "1/2"}


def packing() -> Task:
    """Two circles."""
    return replace(load("circle_packing"), parameters={"n": 2})


def certified(value: float = 0.5, **artifacts: Any) -> Report:
    """What the judge says of a seed's artifacts."""
    names = {name: TextId(f"text of {name}") for name in artifacts}
    evaluation = replace(Evaluation.ok(value), certified=True, artifacts=names)
    return Report(evaluation, {names[name]: json.dumps(proof) for name, proof in artifacts.items()})


def told(task: Task, report: Report | None) -> list[tuple[str, str]]:
    """How it ended, and what happened; what failed comes with a remedy."""
    found = verified_again(task, report)
    assert all(finding.remedy for finding in found if finding.verdict == "failed")
    return [(finding.verdict, finding.happened) for finding in found]


def test_a_certificate_that_holds_passes() -> None:
    """By the script that goes with an exported program."""
    assert told(packing(), certified(certificate=TWO)) == [("passed", "the seed's certificate holds: sum of radii 0.5")]


@pytest.mark.parametrize(
    ("value", "proof", "reason"),
    [
        (0.5, {**TWO, "radii": ["1/4", "1/2"]}, "ValueError"),
        (0.5, {"centres": TWO["centres"]}, "KeyError"),
        (0.5000001, TWO, "it proves 0.5, and 0.5000001 is claimed"),
    ],
)
def test_a_certificate_that_the_verifier_refuses_fails(value: float, proof: object, reason: str) -> None:
    """Whether the task's certify is wrong or its verifier: with what the verifier said."""
    ((verdict, happened),) = told(packing(), certified(value, certificate=proof))
    assert verdict == "failed"
    assert happened.startswith("the seed's certificate does not hold by the task's own verifier: not verified: ")
    assert reason in happened


def test_without_a_certificate_the_verifier_has_nothing_to_verify() -> None:
    """Each time for another reason."""
    assert told(packing(), None) == [("failed", "the evaluator certifies nothing that it could verify")]
    assert told(packing(), certified(proof=TWO)) == [
        ("failed", "the seed is certified, and there is no artifact 'certificate' that it could verify")
    ]
    failed = Report(Evaluation.failed(Outcome.INTERNAL, "no"), {})
    assert told(packing(), failed) == [("not tried", "the seed must be certified first")]


def test_a_task_without_a_verifier_is_told_nothing() -> None:
    """Most tasks prove nothing."""
    assert told(replace(packing(), verifier=""), certified(certificate=TWO)) == []
