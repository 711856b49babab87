"""Operators that evaluate programs while they propose: what is paid, what the log has, and that a killed campaign goes on without paying twice."""

import math
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

import numpy as np
import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, cut, near_seven

from evolve.campaign import Campaign
from evolve.engine import previews, run
from evolve.engine.previews import Previews
from evolve.evaluation import Job, Report
from evolve.hookspecs import OperatorEntry
from evolve.plugins import Registered
from evolve.protocols import Context
from evolve.types import (
    Asked,
    Child,
    EditError,
    Evaluation,
    Outcome,
    Previewed,
    Program,
    Propose,
    Selection,
    Settled,
    text_id,
)


def number(value: float) -> Program:
    return Program({"seed.py": f"def value():\n    return {value!r}\n"})


class Looks:
    """Evaluates three neighbours of the parent, and proposes the one that was the best, with what was said of it."""

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        values = [float(value) for value in context.rng.normal(5.0, 2.0, 3)]
        found = [context.evaluate(number(value)) for value in values]
        best = int(np.argmax([each.fitness for each in found]))
        return [Child(number(values[best]), f"{found[best].fitness!r}, {found[best].feedback}")]


def with_feedback(job: Job) -> Report:
    """As `near_seven`, and it says the number of the job's seed."""
    report, words = near_seven(job), f"drawn with {job.trial.seed}"
    told = replace(report.evaluation, feedback=text_id(words), seconds=0.5)
    return Report(told, {**report.texts, text_id(words): words})


def create(bench: Workbench, **settings: object) -> Campaign:
    entry = OperatorEntry("looks", lambda values: Looks())
    bench.plugins = replace(bench.plugins, operators={**bench.plugins.operators, "looks": Registered("fakes", entry)})
    return bench.create(**{"operators": {"names": ["looks"]}, "budget": ["6programs"], **settings})


def played(campaign: Campaign, executor: FakeExecutor) -> str:
    run(campaign, executor, Seen())
    return campaign.digest()


def test_previews_are_paid_and_are_no_records(bench):
    executor = FakeExecutor(with_feedback)
    with create(bench) as campaign:
        played(campaign, executor)
        progress, events = campaign.progress, [stamped.event for stamped in campaign.log.events()]
    settled = [event.record for event in events if isinstance(event, Settled)]
    made = [event for event in events if isinstance(event, Previewed)]
    steps = {record.origin.step for record in settled if record.origin.kind == "proposal"}
    assert (progress.programs, progress.previews) == (6, 3 * len(steps))
    assert progress.evaluations == progress.programs + progress.measurements + progress.previews + 1
    assert progress.judge_seconds == pytest.approx(0.5 * progress.evaluations)
    assert {event.step: sorted(other.index for other in made if other.step == event.step) for event in made} == {
        step: [0, 1, 2] for step in steps
    }
    assert not any(event.evaluation.artifacts for event in made)
    assert len(executor.jobs) == progress.evaluations


def test_an_operator_gets_the_fitness_and_the_feedback_as_a_text(bench):
    """The child's own evaluation has another seed where the task is noisy, so that nobody's luck is its score."""
    bench.task = replace(bench.task, deterministic=False)
    executor = FakeExecutor(with_feedback)
    with create(bench) as campaign:
        played(campaign, executor)
        history = campaign.state.history
        thoughts = [history.record(record).thought for record in range(1, len(history) + 1)]
    seeds = Counter(job.trial.seed for job in executor.jobs if ".preview" in job.id)
    others = {job.trial.seed for job in executor.jobs if ".preview" not in job.id}
    said = [thought for thought in thoughts if thought]
    assert said
    assert all(int(thought.rpartition(" ")[2]) in seeds for thought in said)
    assert set(seeds.values()) == {1}
    assert not seeds.keys() & others


def test_a_campaign_that_was_killed_goes_on_without_paying_a_preview_twice(bench):
    with create(bench, deterministic=True) as campaign:
        whole = played(campaign, FakeExecutor(with_feedback))
        events, path = [stamped.event for stamped in campaign.log.events()], campaign.log.path
    kinds = [type(event) for event in events]
    for count in range(kinds.index(Settled) + 1, len(events)):
        executor = FakeExecutor(with_feedback)
        with bench.open(str(cut(path, count))) as again:
            assert played(again, executor) == whole, count
        asked = sum(".preview" in job.id for job in executor.jobs)
        assert asked + kinds[:count].count(Previewed) == kinds.count(Previewed), count


def test_a_budget_in_evaluations_counts_them(bench):
    with create(bench, budget=["20evaluations"], deterministic=True) as campaign:
        played(campaign, FakeExecutor(with_feedback))
        # One step is under way when it is spent, with three previews and a child.
        assert 20 <= campaign.progress.evaluations <= 20 + 4
        assert campaign.progress.programs <= 6


@dataclass
class Silent(FakeExecutor):
    """Never answers."""

    def __post_init__(self) -> None:
        super().__init__()
        self.cancelled = list[str]()

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        return Future()

    def cancel(self, job_id: str) -> None:
        self.cancelled.append(job_id)


def job_of(asked: Asked, program: Program, stage: str, index: int) -> Job:
    return Job(f"{asked.step}.preview{index}", "evaluate", files=program.files, stage=stage)


@pytest.mark.parametrize("ends", ["run", "time"])
def test_a_preview_ends_with_the_run_and_with_the_time_of_the_proposal(bench, monkeypatch, ends):
    monkeypatch.setattr(previews, "_LOOK_SECONDS", 0.001)
    executor, told, cancelled = Silent(), list[object](), threading.Event()
    if ends == "run":
        cancelled.set()
    with create(bench) as campaign:
        asked = Asked(1, Propose(Selection("looks", parents=(1,))), 1)
        campaign.state.absorb(asked)
        evaluate = Previews(campaign, executor, job_of, told.append, cancelled).evaluator(
            asked, math.inf if ends == "run" else 0.0
        )
        with pytest.raises(EditError, match="given up"):
            evaluate(number(1.0))
    assert (executor.cancelled, told) == (["1.preview0"], [])


def test_a_program_that_changes_what_it_may_not_is_not_evaluated(bench):
    executor, told = FakeExecutor(), list[object]()
    with create(bench) as campaign:
        asked = Asked(1, Propose(Selection("looks", parents=(1,))), 1)
        campaign.state.absorb(asked)
        evaluate = Previews(campaign, executor, job_of, told.append, threading.Event()).evaluator(asked, math.inf)
        found: Evaluation = evaluate(Program({"other.py": "x = 1\n"}))
    assert (found.outcome, found.stage) == (Outcome.SCREENED, "screen")
    assert "other.py" in found.feedback
    assert (executor.jobs, told) == ([], [])
