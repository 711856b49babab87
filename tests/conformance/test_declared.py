"""Facts about what a task declares, held against its seed's evaluation."""

from typing import Any

from evolve.conformance.declared import declarations
from evolve.types import (
    Anchor,
    Axis,
    Constraint,
    Evaluation,
    EvaluatorSource,
    Fitness,
    Objective,
    Program,
    Task,
)

SEED = Evaluation.ok(
    -5.0,
    descriptors={"size": 3.0},
    metrics={"memory": 7.0},
    objectives={"speed": -2.0},
    artifacts={"numbers": "0123"},
)


def found(noise: float | None = None, **fields: Any) -> list[tuple[str, str, str]]:
    """The findings on a task whose fitness, 5, is to be small."""
    task = Task(
        "made", "", "1", "Be.", Program({}), "seed", EvaluatorSource(), fitness=Fitness("error", "min", 3), **fields
    )
    findings = declarations(task, SEED, noise)
    assert all(bool(finding.remedy) == (finding.verdict != "passed") for finding in findings)
    return [(finding.tried, finding.verdict, finding.happened) for finding in findings]


def test_what_is_not_declared_is_not_told() -> None:
    """A bare task has no findings."""
    assert found() == []


def test_the_seed_may_be_on_the_border_of_an_axis_and_not_beyond() -> None:
    """Beyond, it is clamped."""
    assert found(axes=(Axis("size", 0, 3, 3),)) == [("axes", "passed", "the seed has size 3")]
    assert found(axes=(Axis("size", 4, 8, 4),)) == [
        ("axes", "warned", "the seed is outside the range of size [4, 8]: it has size 3")
    ]


def test_the_seed_is_not_beyond_the_bound() -> None:
    """In the user's direction."""
    assert found(bound=5.0) == [("bound", "passed", "5; the seed has 5")]
    assert found(bound=6.0) == [("bound", "failed", "the seed's error, 5, is beyond the proven bound 6")]


def test_a_seed_that_beats_every_anchor_is_strange() -> None:
    """Perhaps the direction is the wrong one."""
    assert found(anchors=(Anchor(9.0, "A"), Anchor(4.0, "B"))) == [("anchors", "passed", "9 A, 4 B")]
    assert found(anchors=(Anchor(9.0, "A"),))[0][1] == "warned"


def test_a_seed_that_is_an_anchor_is_above_it_by_chance() -> None:
    """In a noisy task, where the seed's own score may be the anchor."""
    for noise, verdict in ((None, "warned"), (0.01, "passed"), (0.005, "warned")):
        assert found(noise, anchors=(Anchor(5.025, "the seed"),))[0][1] == verdict


def test_objectives_constraints_and_carried_artifacts_are_there() -> None:
    """A constraint may be missed by the seed, but its metric is there."""
    assert found(objectives=(Objective("speed", "min", 3),)) == [("objectives", "passed", "the seed has speed 2")]
    assert found(objectives=(Objective("weight"),))[0][1:] == ("failed", "the seed's evaluation has no weight")
    assert found(constraints=(Constraint("memory", at_most=8),)) == [
        ("constraint memory", "passed", "the seed meets it, with 7")
    ]
    assert found(constraints=(Constraint("memory", at_least=8),))[0][1:] == ("warned", "the seed misses it, with 7")
    assert found(constraints=(Constraint("energy", at_least=8),))[0][1] == "failed"
    assert found(carry=("numbers",)) == [("carry", "passed", "the seed leaves numbers")]
    assert found(carry=("shapes",))[0][1:] == ("failed", "the seed's evaluation has no artifact shapes")
