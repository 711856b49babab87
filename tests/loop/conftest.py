"""A campaign without processes."""

from pathlib import Path

import pytest
from loop_fakes import Workbench

from evolve.types import Task


@pytest.fixture
def bench(tmp_path: Path, circle_task: Task) -> Workbench:
    """A fresh folder for campaigns on the one-number task."""
    return Workbench(tmp_path, circle_task)
