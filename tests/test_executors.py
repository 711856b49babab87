"""Executors: the bundled one and one of a plugin keep the promises of the suite, and a campaign runs on either."""

import dataclasses
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from evolve import plugins
from evolve.cli.dry_run import describe_run
from evolve.config import settings_from
from evolve.devices.leases import EVERYTHING
from evolve.engine import RunRequest, Unwatched, open_run
from evolve.engine.isolation import WantedLevel
from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.hookspecs import ExecutorRequest
from evolve.plugins import Plugins
from evolve.sandbox.means import PLAIN
from evolve.task import load
from evolve.testing import check_executor
from evolve.types import ConfigError, Level, Outcome, SandboxError, Task, TaskError
from tests import second_process

pytestmark = pytest.mark.integration

PROBLEM = '''"""Find x."""
import evolve

# EVOLVE-BLOCK-START
def solve():
    return 3.25
# EVOLVE-BLOCK-END

@evolve.evaluator
def evaluate(candidate, trial):
    return evolve.Evaluation.ok(-abs(candidate.call("solve") - 7.0))
'''


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task in one file."""
    path = tmp_path / "find_x.py"
    path.write_text(PROBLEM)
    return load(str(path), {})


@pytest.fixture
def loaded() -> Plugins:
    """The plugins, with one that brings the executor `second`."""
    found = plugins.load()
    entries = {entry.name: plugins.Registered("second", entry) for entry in second_process.register_executors()}
    return dataclasses.replace(found, executors={**found.executors, **entries})


def jobs(task: Task) -> Mapping[str, bytes]:
    """Evaluations of the seed."""
    ids = ["1.0", "2.0", "3.0", "4.0"]
    return {name: encode_job(Job(name, "evaluate", files=task.seed.files)) for name in ids}


@pytest.mark.parametrize("name", ["local", "second"])
def test_an_executor_keeps_its_promises(name: str, task: Task, loaded: Plugins) -> None:
    request = ExecutorRequest(task, 2, PLAIN, (), EVERYTHING)
    check_executor(lambda: loaded.executor(name, {}, request), jobs(task))


def test_an_executor_whose_process_has_ended_blames_no_program(task: Task, loaded: Plugins) -> None:
    request = ExecutorRequest(task, 1, PLAIN, (), EVERYTHING)
    with closing(loaded.executor("second", {}, request)) as executor:
        assert isinstance(executor, second_process.SecondProcess)
        executor._process.kill()
        executor._process.wait()
        ((name, job), *_) = jobs(task).items()
        report = decode_report(executor.submit(name, job).result(10.0))
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert list(report.texts.values()) == ["the second process has ended"]


@pytest.mark.parametrize("name", ["local", "second"])
def test_an_evaluator_that_does_not_load_is_an_error_that_says_why(name: str, tmp_path: Path, loaded: Plugins) -> None:
    (tmp_path / "broken.py").write_text(PROBLEM.replace("import evolve\n", "import evolve\nimport no_such_module\n", 1))
    request = ExecutorRequest(load(str(tmp_path / "broken.py"), {}), 1, PLAIN, (), EVERYTHING)
    with (
        closing(loaded.executor(name, {}, request)) as executor,
        pytest.raises(TaskError, match="No module named 'no_such_module'"),
    ):
        executor.describe()


def test_a_campaign_runs_on_the_executor_that_its_settings_name(tmp_path: Path, task: Task, loaded: Plugins) -> None:
    values = {"task": "find_x", "budget": ["5programs"], "workers": 2, "executor": {"name": "second"}}
    request = RunRequest(settings_from(values), task, loaded, tmp_path, wanted=WantedLevel(Level.NONE, said=True))
    with open_run(request) as opened:
        assert isinstance(opened.executor, second_process.SecondProcess)
        assert opened.search(Unwatched()).reason == "budget"
        assert opened.campaign.state.progress.programs == 5


def test_a_dry_run_asks_the_executor_that_the_settings_name(
    tmp_path: Path, task: Task, loaded: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"task": "find_x", "budget": ["5programs"], "workers": 2, "executor": {"name": "second"}}
    request = RunRequest(settings_from(values), task, loaded, tmp_path, wanted=WantedLevel(Level.NONE, said=True))
    elsewhere = dataclasses.replace(LocalExecutor(task, 1).describe(), environment="elsewhere")
    monkeypatch.setattr(second_process.SecondProcess, "describe", lambda _: elsewhere)
    assert describe_run(request)["environment"] == "elsewhere"


def test_an_executor_that_nobody_registers_is_an_error(task: Task, loaded: Plugins) -> None:
    request = ExecutorRequest(task, 2, PLAIN, (), EVERYTHING)
    with pytest.raises(ConfigError, match=r"no executor is called 'secnd'. Did you mean 'second'\?"):
        loaded.executor("secnd", {}, request)


def test_an_executor_that_isolates_less_than_the_run_says_is_refused(
    tmp_path: Path, task: Task, loaded: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before there is a log: its scores would rest on less than they say."""
    request = RunRequest(
        settings_from({"task": "find_x"}), task, loaded, tmp_path, wanted=WantedLevel(Level.REDUCED, said=True)
    )
    lax = dataclasses.replace(
        LocalExecutor(task, 1).describe(), isolation="none: separate process and time limits alone"
    )
    monkeypatch.setattr(LocalExecutor, "describe", lambda _: lax)
    with pytest.raises(SandboxError, match=r"and its executor does so by 'none: .*--sandbox none"), open_run(request):
        pass
    assert not (tmp_path / "archive").exists()
