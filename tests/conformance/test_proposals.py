"""Facts about what operators can change in a seed."""

from dataclasses import replace

import pytest

from evolve.conformance.proposals import TRIED, changeable
from evolve.plugins import load
from evolve.types import Evaluation, Program
from tests.written import number_task


@pytest.mark.parametrize(
    ("path", "text", "verdict"),
    [
        ("seed.py", "def value():\n    return 5.0\n", "passed"),
        ("seed.txt", "no number is here\n", "failed"),
        ("seed.py", "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END\ndef value():\n    return 5.0\n", "failed"),
    ],
)
def test_a_seed_must_be_one_that_some_operator_can_change(path, text, verdict):
    """A number does; a text without any, or one that is outside every block, does not."""
    task = replace(number_task(), seed=Program({path: text}))
    found = changeable(task, Evaluation.ok(1.0), load())
    assert (found.tried, found.verdict, bool(found.remedy)) == (TRIED, verdict, verdict == "failed")
