"""What several test files share."""

import os
from collections.abc import Iterator

import pytest

from evolve.types import Axis, EvaluatorSource, Program, Task


@pytest.fixture(scope="session", autouse=True)
def least_isolation() -> Iterator[None]:
    """The tests run wherever candidates run; a machine that promises more says so in `EVOLVE_SANDBOX`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVOLVE_SANDBOX", os.environ.get("EVOLVE_SANDBOX") or "reduced")
        yield


@pytest.fixture
def circle_task() -> Task:
    """A small deterministic task with one number to find; no folder behind it."""
    return Task(
        name="one_number",
        folder="",
        version="1",
        brief="Find the number.",
        seed=Program({"seed.py": "def value():\n    return 5.0\n"}),
        entry="seed",
        evaluator=EvaluatorSource("evaluator.py"),
        deterministic=True,
        axes=(Axis("size", 0, 10, 5),),
    )
