"""A campaign without processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loop_fakes import Workbench
from screening_fakes import Scene

from evolve.types import Task


@pytest.fixture
def bench(tmp_path: Path, circle_task: Task) -> Workbench:
    """A fresh folder for campaigns on the one-number task."""
    return Workbench(tmp_path, circle_task)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No campaign that a test plays step by step outlasts it."""
    yield
    while Scene.open:
        Scene.open.pop().close()
