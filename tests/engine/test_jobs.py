"""What is handed to the judge, and the key under which its answer is kept for later campaigns."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from loop_fakes import JUDGES, FakeExecutor, Workbench, near_seven

from evolve.engine import read_signatures
from evolve.engine.jobs import Jobs
from evolve.evaluation import Job, Report
from evolve.plugins import Plugins
from evolve.types import Evaluation, EvaluatorSource, Outcome, Task


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


def timed_out(job: Job) -> Report:
    """Children time out where they are given less than their stage's time; the seed took 40 ms."""
    report = near_seven(job)
    if not job.limit:
        return replace(report, evaluation=replace(report.evaluation, seconds=0.04))
    return Report(Evaluation.failed(Outcome.TIMED_OUT, "", limit=job.limit))


@pytest.mark.parametrize(("seconds", "limit"), [(0.002, 1.0), (0.25, 5.0)])
def test_children_without_a_model_get_time_in_proportion_to_the_seeds(
    bench: Workbench, seconds: float, limit: float
) -> None:
    """And at least a second; the seed has all the time of its stage."""

    def judge(job: Job) -> Report:
        report = near_seven(job)
        return replace(report, evaluation=replace(report.evaluation, seconds=seconds))

    executor = FakeExecutor(judge)
    with bench.create(budget=["3programs"]) as campaign:
        bench.run(campaign, executor)
    assert [job.limit for job in executor.jobs] == [0.0, limit, limit, limit]


def test_where_two_runs_must_agree_seconds_limit_nothing(bench: Workbench) -> None:
    executor = FakeExecutor()
    with bench.create(budget=["3programs"], deterministic=True) as campaign:
        bench.run(campaign, executor)
    assert {job.limit for job in executor.jobs} == {0.0}


def test_a_program_that_ran_out_of_less_time_may_be_proposed_again(bench: Workbench) -> None:
    """In the same run and in later ones; neither a repair nor a duplicate rests on it, and a replay knows it."""
    with bench.create(budget=["4programs"]) as campaign:
        bench.run(campaign, FakeExecutor(timed_out))
        hurried, seed = set(campaign.state.hurried), campaign.task.seed.id
        assert hurried == {program for program in campaign.state.columns.programs if program} - {seed}
        assert list(campaign.state.columns.failed) == []
        assert set(read_signatures(campaign).values()) == {seed}
    with bench.open() as campaign:
        assert campaign.state.hurried == hurried
        assert campaign.log.settled(2).record.evaluation.limit == 1.0
