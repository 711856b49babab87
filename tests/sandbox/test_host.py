"""The facts of this machine."""

import os
import platform
import sys

import pytest

from evolve.sandbox.machine import host

pytestmark = pytest.mark.integration


def test_the_facts_of_this_machine() -> None:
    """What was refused is said, and nothing else is."""
    found = host.read()
    assert (found.system, found.architecture, found.chooses_user) == (
        sys.platform,
        platform.machine(),
        os.geteuid() == 0,
    )
    assert (found.landlock == 0) == (found.landlock_error != "")
    assert (found.cgroup == "") == (found.cgroup_error != "")
    assert set(found.switches) <= set(host.SWITCHES)
