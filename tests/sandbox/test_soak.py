"""Thousands of sessions leave nothing behind."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from evolve.sandbox.machine.probe import probe

EVALUATIONS = 5000
MOST_GROWTH = 1 << 20
"""Bytes, 200 for each evaluation: below any object that were kept of one."""


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark that runs them."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import soak

    return soak


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what is left is looked for in /proc")
def test_five_thousand_sessions_leave_nothing(soak: ModuleType) -> None:
    """At the best level of this machine: no process, file, mount, control group or descriptor, neither while the box is open nor afterwards; and the judge's memory is flat."""
    left = soak.soak(EVALUATIONS, probe().means)
    assert left.left == {}
    assert left.memory < MOST_GROWTH
