"""A script that verifies is a program of its own: whatever it prints is read."""

from pathlib import Path

import pytest

from evolve.task.verify_script import SCRIPT, Verified, verified

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sys.stdout.buffer.write(b'\\xff holds')", Verified("\ufffd holds")),
        (
            "sys.stderr.buffer.write(b'\\xff'); sys.exit(1)",
            Verified("", "does not hold by the task's own verifier: \ufffd"),
        ),
        ("sys.exit(3)", Verified("", "does not hold by the task's own verifier: exit status 3")),
        ("import time; time.sleep(60)", Verified("", "was not verified within 0.5 s")),
    ],
    ids=["holds", "refused", "silent", "late"],
)
def test_what_a_script_says_is_a_text(tmp_path: Path, code: str, expected: Verified) -> None:
    """Bytes that are no UTF-8 are marked as such."""
    (tmp_path / SCRIPT).write_text(f"import sys; {code}\n")
    assert verified(tmp_path, 0.5 if "sleep" in code else 60.0) == expected
