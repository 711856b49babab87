"""All bundled kernels pass `task check`: a user's copy begins as one that does."""

import pytest
from bundled_checks import assert_passes

import evolve.task

NAMES = [name for name in evolve.task.list_bundled() if name.startswith("kernel_")]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_passes_task_check(name: str) -> None:
    assert_passes(name)
