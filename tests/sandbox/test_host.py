"""The facts of this machine."""

import os
import platform
import sys
from pathlib import Path

import pytest

from evolve.sandbox.machine import host
from evolve.sandbox.machine.visible import find_closed_folder

pytestmark = pytest.mark.integration


def test_the_facts_of_this_machine() -> None:
    """What was refused is said, and nothing else is."""
    found = host.read(sys.executable)
    assert (found.system, found.architecture, found.chooses_user) == (
        sys.platform,
        platform.machine(),
        os.geteuid() == 0,
    )
    assert (found.landlock == 0) == (found.landlock_error != "")
    assert (found.cgroup == "") == (found.cgroup_error != "")
    assert set(found.switches) <= set(host.SWITCHES)


def test_a_folder_that_others_may_not_enter_is_named(tmp_path: Path) -> None:
    """Also where a link leads into it."""
    closed = tmp_path / "closed"
    (closed / "bin").mkdir(parents=True)
    (closed / "bin" / "python").touch()
    (tmp_path / "python").symlink_to(closed / "bin" / "python")
    closed.chmod(0o700)
    for folder in [tmp_path, *tmp_path.parents][:-1]:
        if not folder.stat().st_mode & 0o001:
            assert find_closed_folder(str(tmp_path / "python")) != ""
            return
    assert find_closed_folder(str(closed / "bin" / "python")) == str(closed)
    assert find_closed_folder(str(tmp_path / "python")) == str(closed)


def test_what_anybody_can_reach_is_closed_to_nobody() -> None:
    """Such as the system's own programs."""
    assert find_closed_folder("/usr/bin/env") == ""
