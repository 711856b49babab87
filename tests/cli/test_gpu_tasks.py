"""Commands on a task that needs a GPU, on a machine that has none."""

import json

import pytest

import evolve.evaluation.executor

pytestmark = pytest.mark.integration

TASK = "kernel_softmax/triton"


@pytest.fixture(autouse=True)
def without_gpu(monkeypatch):
    """Also where there is one."""
    monkeypatch.setattr(evolve.evaluation.executor, "find_gpus", list)


@pytest.mark.parametrize(
    "words", [["run", TASK, "--budget", "5programs"], ["run", TASK, "--dry-run"], ["task", "check", TASK]]
)
def test_it_is_one_error_before_anything_is_made(call, home, words):
    """It names the task, and what to do."""
    told = call(*words)
    assert (told.exit_code, told.stdout) == (1, "")
    errors = [line for line in told.stderr.splitlines() if not line.startswith("evolve: note: isolation")]
    assert len(errors) == 1
    assert errors[0].startswith(
        f"evolve: error: task {TASK!r} gives its programs a GPU (sandbox.gpu), and none may be leased"
    )
    assert "Try: " in errors[0]
    assert not (home / "archive").exists()


def test_it_is_listed_with_what_it_needs(call):
    """So that it is seen before it is tried."""
    lines = map(json.loads, call("task", "list", "--json").stdout.splitlines())
    found = {line["name"]: line["grants"].get("gpu", 0) for line in lines if line["name"].startswith("kernel_")}
    assert (found["kernel_softmax"], found[TASK]) == (0, 1)
