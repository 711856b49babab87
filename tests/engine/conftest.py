"""A campaign without processes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from loop_fakes import Workbench
from screening_fakes import Scene

from evolve.types import Task


@pytest.fixture
def bench(tmp_path: Path, circle_task: Task) -> Workbench:
    """A fresh folder for campaigns on the one-number task."""
    return Workbench(tmp_path, circle_task)


@pytest.fixture
def play() -> Iterator[Callable[..., Scene]]:
    """Begins campaigns that a test plays step by step, and closes them after it."""
    with ExitStack() as scenes:

        def begun(*args: Any, **more: Any) -> Scene:
            scene = Scene(*args, **more)
            scenes.callback(scene.close)
            return scene

        yield begun
