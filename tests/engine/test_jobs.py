"""What is handed to the judge, and the key under which its answer is kept for later campaigns."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from loop_fakes import JUDGES, Workbench

from evolve.engine.jobs import Jobs
from evolve.plugins import Plugins
from evolve.types import EvaluatorSource, Task


@pytest.fixture
def key(bench: Workbench, circle_task: Task, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], str]:
    """The key of the seed's evaluation where the evaluator is from this release of a package."""
    task = replace(circle_task, evaluator=EvaluatorSource(plugin="near"))

    def of(release: str | None) -> str:
        monkeypatch.setattr(Plugins, "evaluator_release", lambda plugins, source: release)
        with bench.create(task=task) as campaign:
            return Jobs(campaign, JUDGES).seed().key

    return of


def test_another_release_of_an_evaluators_package_has_other_evaluations(key: Callable[[str | None], str]) -> None:
    """As another version of the task has."""
    assert len({key("mine 1.0"), key("mine 1.1"), key("")}) == 3
    assert key("mine 1.0") == key("mine 1.0")


def test_what_an_evaluator_without_a_release_finds_is_not_kept(key: Callable[[str | None], str]) -> None:
    """Its code may be another one tomorrow."""
    assert key(None) == ""


def test_a_score_of_another_environment_is_not_taken_for_one_of_this(bench: Workbench) -> None:
    """The job is the same, and kept results are found by the versions of what the judges compute with, too."""
    with bench.create() as campaign:
        old, new, again = (
            Jobs(campaign, replace(JUDGES, environment=text)).seed()
            for text in ("numpy 1.26.4", "numpy 2.4.6", "numpy 2.4.6")
        )
    assert old.job == new.job
    assert (old.key == new.key, new.key == again.key) == (False, True)


def test_what_was_judged_with_another_secret_is_not_taken_over(bench: Workbench) -> None:
    """It is of other instances."""
    with bench.create() as campaign:
        keys = []
        for campaign.secret in ("one", "another", "one"):
            keys.append(Jobs(campaign, JUDGES).seed().key)
    assert (keys[0] == keys[2], keys[0] == keys[1]) == (True, False)
