"""Namespaces, really tried."""

import sys
from pathlib import Path

import pytest

from evolve.sandbox.machine import trial
from evolve.sandbox.walls import namespaces

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has namespaces")


def refuse(error: OSError) -> None:
    raise error


def links() -> set[str]:
    return {str(link.readlink()) for link in Path("/proc/self/ns").iterdir()}


def test_what_is_tried_stays_in_the_process_that_tries_it() -> None:
    """This one is where it was, and sees what it saw."""
    before, mounts = links(), Path("/proc/self/mounts").read_text()
    trial.refused()
    assert (links(), Path("/proc/self/mounts").read_text()) == (before, mounts)


def test_the_call_that_is_refused_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what the kernel says."""
    monkeypatch.setattr(
        namespaces, "enter", lambda users, loopback: refuse(OSError(1, "unshare: Operation not permitted"))
    )
    assert trial.refused() == "unshare: Operation not permitted"


def test_a_file_that_may_not_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As AppArmor refuses it: the namespace is made, and is worth nothing."""
    error = PermissionError(13, "Permission denied", "/proc/self/uid_map")
    monkeypatch.setattr(namespaces, "enter", lambda users, loopback: refuse(error))
    assert trial.refused() == "/proc/self/uid_map: Permission denied"


def test_a_trial_that_breaks_is_no_success(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever the reason."""
    monkeypatch.setattr(namespaces, "enter", lambda users, loopback: refuse(ValueError()))  # type: ignore[arg-type]
    assert trial.refused() == "the trial ended with status 256"
