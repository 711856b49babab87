"""A proof on another processor: the stored one is what was proven, and the task's verifier says whether it holds."""

import json
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

import evolve.task
from evolve.evaluation import Description, Report, encode_report
from evolve.publish.again import Again, Judges
from evolve.publish.claims import Claims, Judging, TaskClaim
from evolve.publish.rejudged import certificate
from evolve.types import Evaluation, Task, TextId, text_id

TWO = {"centres": [["1/4", "1/2"], ["3/4", "1/2"]], "radii": ["1/4", "1/4"], "sum": "1/2"}
NEAR = {**TWO, "radii": ["1/4", "249999999999999/1000000000000000"], "sum": "499999999999999/1000000000000000"}
OVERLAP = {**TWO, "radii": ["1/4", "1/2"], "sum": "3/4"}


class Proving:
    """Certifies a value by a proof, whatever it is asked."""

    def __init__(self, value: float, proof: Any) -> None:
        self.value, self.proof = value, json.dumps(proof)

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        text = TextId(text_id(self.proof))
        evaluation = replace(Evaluation.ok(self.value), certified=True, artifacts={"certificate": text})
        future: Future[bytes] = Future()
        future.set_result(encode_report(Report(evaluation, {text: self.proof})))
        return future


def told(stored: Any, made: tuple[float, Any], hardware: str = "there", **changed: Any) -> list[tuple[str, str]]:
    """What is said of a stored proof of 0.5, where it was found on the processor `here`."""
    task: Task = replace(evolve.task.load("circle_packing"), parameters={"n": 2}, **changed)
    claim = TaskClaim(task.name, task.version, "task", "task", task.parameters, "sum", "max", 12, True, "certificate")
    judgings = (
        Judging(1, "search", "ok", 0.5, artifacts={"centres": "centres.json"}, hardware="here"),
        Judging(2, "certificate", "ok", 0.5, artifacts={"certificate": "proof.json"}, hardware="here"),
    )
    claims = Claims("two/1", task.seed.id, {}, claim, judgings, None, "proposal")
    contents = {"centres.json": b"[]", "proof.json": json.dumps(stored).encode()}
    judges = Judges(Proving(*made), Description(hardware=hardware, environment="", isolation="strict"))
    return [(check.what, check.verdict) for check in certificate(Again(claims, contents, task.seed, task, judges))]


AGREES = [("certificate", "agrees"), ("proof 'certificate'", "agrees")]
DIFFERS = [("certificate", "differs"), ("proof 'certificate'", "differs")]
NEAR_MADE = (0.499999999999999, NEAR)


@pytest.mark.parametrize(
    ("stored", "made", "more", "found"),
    [
        (TWO, (0.5, TWO), {}, AGREES),
        (TWO, NEAR_MADE, {}, [("certificate", "agrees")]),
        (TWO, NEAR_MADE, {"hardware": "here"}, DIFFERS),
        (TWO, NEAR_MADE, {"verifier": ""}, DIFFERS),
        (TWO, (0.4, NEAR), {}, DIFFERS),
        (OVERLAP, NEAR_MADE, {}, DIFFERS),
        (NEAR, NEAR_MADE, {}, [("certificate", "differs"), ("proof 'certificate'", "agrees")]),
    ],
    ids=["same", "last digits", "same processor", "no verifier", "another value", "no proof", "less than claimed"],
)
def test_a_proof_that_another_processor_makes_otherwise_is_checked_by_the_verifier(
    stored: Any, made: tuple[float, Any], more: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    """Exactly, and only where the values are the same but for the last digits; in all other cases it must be the same proof."""
    assert told(stored, made, **more) == found
