"""`task check` of a bundled task, for the files that divide these tasks among processes."""

import importlib.util

import pytest

import evolve.task
from evolve.conformance import check
from evolve.devices.inventory import find_gpus
from evolve.types import Task


def assert_passes(name: str) -> None:
    """Asserts that no finding of a bundled task is a failure; skips a task that needs what this machine lacks."""
    task = evolve.task.load(name)
    lacking = lacks(task)
    if lacking:
        pytest.skip(f"{name} needs {lacking}")
    result = check(task, 2)
    assert result.passed == all(finding.verdict != "failed" for finding in result.findings)
    assert all(finding.remedy for finding in result.findings if finding.verdict in ("warned", "failed"))
    assert {each.tried: each.happened for each in result.findings if each.verdict == "failed"} == {}


def lacks(task: Task) -> str:
    """Returns what this machine would need for a task; empty where it has all."""
    modules = [module for module in task.limits.preload if importlib.util.find_spec(module.partition(".")[0]) is None]
    return ", ".join(modules) or ("a GPU" if task.limits.grants.gpu and not find_gpus() else "")
