"""The table from a session's status to a program's outcome."""

import re
from pathlib import Path

from evolve.sandbox import OUTCOME, Status

_PAGE = Path(__file__).parents[2] / "docs" / "outcomes.md"


def test_every_status_has_an_outcome() -> None:
    """No end of a session is left without a meaning."""
    assert set(OUTCOME) == set(Status)


def test_the_documented_table_is_the_one_in_use() -> None:
    """`docs/outcomes.md` shows each status with its outcome."""
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == {str(status): str(outcome) for status, outcome in OUTCOME.items()}
