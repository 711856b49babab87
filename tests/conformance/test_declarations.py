"""Facts about what a task declares, held against its seed's evaluation."""

from typing import Any

from evolve.conformance.check import check_declarations
from evolve.types import Anchor, Axis, Constraint, Evaluation, EvaluatorSource, Fitness, Program, Task

SEED = Evaluation.ok(-5.0, descriptors={"size": 3.0}, metrics={"memory": 7.0}, artifacts={"numbers": "0123"})


def check(noise: float = 0.0, **fields: Any) -> list[tuple[str, str, str]]:
    """Returns the findings on a task whose fitness, 5, is to be small."""
    fitness = Fitness("error", "min", 3)
    task = Task("made", "", "1", "Be.", Program({}), "seed", EvaluatorSource(), fitness=fitness, **fields)
    findings = list(check_declarations(task, SEED, noise))
    assert all(bool(finding.remedy) == (finding.verdict != "passed") for finding in findings)
    return [(finding.tried, finding.verdict, finding.happened) for finding in findings]


def test_what_is_not_declared_is_not_told() -> None:
    """A bare task has no findings."""
    assert check() == []


def test_the_seed_may_be_on_the_border_of_an_axis_and_not_beyond() -> None:
    """Beyond, it is clamped."""
    assert check(axes=(Axis("size", 0, 3, 3),)) == [("axes", "passed", "the seed has size 3")]
    assert check(axes=(Axis("size", 4, 8, 4),)) == [("axes", "warned", "the seed has size 3")]


def test_the_seed_is_not_beyond_the_bound() -> None:
    """In the user's direction."""
    assert check(bound=5.0) == [("bound", "passed", "the seed has 5, the bound is 5")]
    assert check(bound=6.0) == [("bound", "failed", "the seed has 5, the bound is 6")]


def test_a_seed_that_beats_every_anchor_is_strange() -> None:
    """Perhaps the direction is the wrong one."""
    both = (Anchor(9.0, "A"), Anchor(4.0, "B"))
    assert check(anchors=both) == [("anchors", "passed", "the seed has 5, the best of them 4")]
    assert check(anchors=both[:1]) == [("anchors", "warned", "the seed has 5, the best of them 9")]


def test_a_seed_that_is_an_anchor_is_above_it_by_chance() -> None:
    """In a noisy task, where the seed's own score may be the anchor."""
    for noise, verdict in ((0.0, "warned"), (0.01, "passed"), (0.005, "warned")):
        assert check(noise, anchors=(Anchor(5.025, "the seed"),))[0][1] == verdict


def test_constraints_may_be_missed_and_artifacts_may_not() -> None:
    """A search can find a program that meets a constraint."""
    assert check(constraints=(Constraint("memory", at_most=8), Constraint("memory", at_least=8))) == [
        ("constraint memory", "passed", "the seed has 7"),
        ("constraint memory", "warned", "the seed has 7"),
    ]
    assert check(carry=("numbers",)) == [("carry", "passed", "the seed leaves numbers")]
    assert check(carry=("shapes",)) == [("carry", "failed", "the seed leaves nothing")]
