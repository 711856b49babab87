"""Judges a construction: the candidate gives centres, the judge finds the best radii for them and proves the sum.

Invariant: nothing that a candidate says is believed but the centres, and every centre is repaired before it counts."""

from collections.abc import Mapping
from typing import Any

import certificate
import packing
import picture

from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The sum of the radii in floating point, a hair below the exact value."""
    answer = candidate.call("centres")
    try:
        centres = packing.centres_from(answer, trial.parameters.n)
    except ValueError as error:
        return Evaluation.invalid(str(error))
    circles = packing.packed(centres)
    touch = packing.contacts(circles)
    return Evaluation.ok(
        fitness=circles.total,
        descriptors={"walls": touch.at_walls, "radius_cv": circles.radius_cv},
        metrics={"contacts": len(touch.pairs) + len(touch.sides), "smallest_radius": min(circles.radii)},
        artifacts={"centres": circles.centres, "radii": circles.radii},
    )


@evaluate.certify
def certify(artifacts: Mapping[str, Any], trial: Trial) -> Evaluation:
    """The exact sum, rounded down, of circles that are proven not to overlap."""
    circles = packing.packed(packing.centres_from(artifacts["centres"], trial.parameters.n), margin=0.0)
    proof = certificate.certificate(circles.centres, circles.radii)
    value = certificate.rounded_down(certificate.proven(proof, trial.parameters))
    return Evaluation.ok(fitness=value, artifacts={"certificate": proof})


@evaluate.fingerprint
def fingerprint(artifacts: Mapping[str, Any], trial: Trial) -> str:
    """The graph of contacts: a polished copy has the same one."""
    return packing.fingerprint(packing.centres_from(artifacts["centres"], trial.parameters.n))


@evaluate.draw
def draw(artifacts: Mapping[str, Any], trial: Trial) -> str:
    """The packing as a picture, with the radii that were scored."""
    centres = packing.centres_from(artifacts["centres"], trial.parameters.n)
    circles = packing.Packing(centres, tuple(artifacts["radii"]))
    return picture.svg(circles, packing.contacts(circles))
