"""What a box of level `standard` needs on this machine, for tests of what differs there."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from evolve.sandbox.machine.probe import probe

MEANS = replace(probe().means, namespaces=False)
PYTHON = "/usr/bin/python3" if os.geteuid() == 0 else sys.executable
"""Candidates of root are another user, to whom the environment of these tests may be closed."""


def _to_be_had() -> bool:
    if not (MEANS.seccomp and MEANS.landlock):
        return False
    try:
        return subprocess.run([PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).returncode == 0
    except OSError:
        return False


needs_standard = pytest.mark.skipif(not _to_be_had(), reason="there is no box of that level here")
