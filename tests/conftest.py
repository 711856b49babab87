"""What several test files share."""

import os
from collections.abc import Generator, Iterator

import pytest

from evolve.sandbox.machine.probe import probe
from evolve.types import Axis, EvaluatorSource, Program, Task
from tests.promised import broken_promise
from tests.unit_guard import UnitGuard

_GUARD = UnitGuard()

PROCESS_FIXTURES = frozenset({"box", "judge"})
"""Fixtures that start processes. One that many tests share starts them in whichever test comes first, so each of these tests is an integration test."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks the tests that take such a fixture."""
    if PROCESS_FIXTURES.intersection(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.integration)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Keeps processes, sockets and sleeps out of the fixtures of unit tests."""
    with _GUARD.watch(item):
        return (yield)


# The last test of a process tears down what others shared with it, such as a box, so teardown is not watched.
@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Keeps processes, sockets and sleeps out of unit tests."""
    with _GUARD.watch(item):
        return (yield)


def pytest_sessionstart() -> None:
    """Where `EVOLVE_SANDBOX` promises a level, a machine that does not reach it runs no test: it would test less, and pass."""
    if broken := broken_promise(probe, os.environ.get("EVOLVE_SANDBOX", "")):
        pytest.exit(broken, returncode=1)


@pytest.fixture(scope="session", autouse=True)
def least_isolation() -> Iterator[None]:
    """The tests run wherever candidates run; a machine that promises more says so in `EVOLVE_SANDBOX`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVOLVE_SANDBOX", os.environ.get("EVOLVE_SANDBOX") or "reduced")
        yield


@pytest.fixture(scope="session", autouse=True)
def no_terminal() -> Iterator[None]:
    """Tables are as wide as where nobody looks; tests that run side by side inherit a width, and so does who exports one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COLUMNS", raising=False)
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
