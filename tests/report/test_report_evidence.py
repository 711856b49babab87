"""One record with everything that its score rests on."""

from pathlib import Path

import pytest

from evolve import report
from evolve.types import Outcome, Ruled, StoreError
from tests.written import Written, aimed, aiming_task, number_task, short_campaign


def test_a_success_with_its_texts_and_children(tmp_path: Path) -> None:
    """Artifacts are told by their sizes."""
    with short_campaign(tmp_path) as campaign:
        shown = report.whole(campaign, 2)
    assert (shown.record.id, shown.feedback, dict(shown.metrics), dict(shown.artifacts)) == (
        2,
        "",
        {"distance": 0.5},
        {"numbers": 5},
    )
    assert shown.files == {"seed.py": "def value():\n    return 6.0\n"}
    assert (shown.offspring, shown.ruling, shown.certificate) == (report.OffspringCounts(1, 0, 0), None, "")


def test_a_failure_has_its_feedback_and_no_estimate(tmp_path: Path) -> None:
    """And no program where none was evaluated."""
    with short_campaign(tmp_path) as campaign:
        crash, screened = report.whole(campaign, 4), report.whole(campaign, 5)
        with pytest.raises(StoreError, match="no record 7"):
            report.whole(campaign, 7)
    assert (crash.feedback, crash.estimate, crash.record.outcome) == ("it divided by zero", None, "crashed")
    assert (screened.files, screened.record.program) == ({}, None)


def test_what_was_measured_again_is_told_with_the_certificate(tmp_path: Path) -> None:
    """The latest that proves the value."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    written.certificate(2, 6.0)
    with written.campaign as campaign:
        shown = report.whole(campaign, 2)
    assert (shown.certificate, [line.id for line in shown.judged_again]) == ("number/3", [3])


def test_a_noisy_elite_has_an_estimate_with_its_isolation_and_trust(tmp_path: Path) -> None:
    """What all judgings say together."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.again(1, 6.0)
    with written.campaign as campaign:
        estimate = report.whole(campaign, 1).estimate
    assert estimate is not None
    assert (estimate.fitness, estimate.measurements, estimate.isolation, estimate.trust) == (
        5.5,
        2,
        "reduced",
        "witnessed",
    )


def test_a_quarantined_program_says_by_whom_and_why(tmp_path: Path) -> None:
    """And which constraints are missed."""
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1.0, 10.0))
    cheat = written.proposal(9.0, **aimed(1.0, 10.0, 300.0))
    written.failure(Outcome.WRONG, "no")
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Ruled("quarantine", cheat.record.program, "person", "it cheats"))
        shown = report.whole(campaign, 2)
    assert shown.ruling == report.RulingLine("person", "it cheats")
    assert [(one.metric, one.violation) for one in shown.missed] == [("memory", 0.5)]
