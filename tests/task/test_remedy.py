"""What to do about a seed that fails."""

import pytest

from evolve.task.remedy import remedy
from evolve.types import Outcome


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.CRASHED, "mend the seed or the evaluator"),
        (Outcome.WRONG, "mend the seed or the evaluator"),
        (Outcome.INTERNAL, "mend the evaluator, or the task's module"),
    ],
)
def test_who_is_to_be_mended_follows_from_the_outcome(outcome: Outcome, expected: str) -> None:
    """An error of the judge is never the seed's."""
    assert remedy(outcome) == expected
