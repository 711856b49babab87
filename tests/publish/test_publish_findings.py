"""Facts about verdicts."""

import pytest

from evolve.publish.findings import AGREES, CANNOT_BE_TOLD, DIFFERS, Check, Verification, equal, worst


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ((AGREES, AGREES), AGREES),
        ((AGREES, CANNOT_BE_TOLD), CANNOT_BE_TOLD),
        ((CANNOT_BE_TOLD, DIFFERS, AGREES), DIFFERS),
        ((), CANNOT_BE_TOLD),
    ],
)
def test_one_difference_is_a_difference_and_nothing_is_no_agreement(verdicts, whole):
    assert worst(verdicts) == whole


def test_what_does_not_matter_decides_nothing():
    checks = (Check("files", AGREES), Check("run again", CANNOT_BE_TOLD, matters=False))
    assert Verification("number/2", "number", "0", checks).verdict == AGREES


def test_a_reason_stands_with_a_difference_alone():
    assert equal("value", "1", "1", "why").why == ""
    assert equal("value", "1", "2", "why") == Check("value", DIFFERS, "1", "2", "why")
