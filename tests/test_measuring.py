"""Facts about judging a program again and again, outside any campaign."""

import itertools
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace

import pytest

from evolve.evaluation import Description, Report, decode_job, encode_report
from evolve.measuring import Measured, Measuring, trials
from evolve.types import Case, Evaluation, Outcome, Program, Task

PROGRAM = Program({"seed.py": "def value():\n    return 6.0\n"})


class FakeJudges:
    """Answers at once: a fitness that is the trial's seed, or a failure; remembers what it was asked."""

    def __init__(self, outcome: Outcome = Outcome.OK) -> None:
        self.asked: list[tuple[int, str]] = []
        self.outcome = outcome

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        told = decode_job(job)
        self.asked.append((told.trial.seed, "ungated" if told.ungated else "gated"))
        ok = Evaluation.ok(float(told.trial.seed))
        evaluation = ok if self.outcome is Outcome.OK else Evaluation.failed(self.outcome, "")
        future: Future[bytes] = Future()
        future.set_result(encode_report(Report(evaluation)))
        return future


class FakeCache(dict[str, bytes]):
    def put(self, key: str, result: bytes) -> None:
        self[key] = result


@pytest.fixture
def cache() -> FakeCache:
    return FakeCache()


def measuring(task: Task, cache: FakeCache | None, **fields: object) -> Measuring:
    given = {"executor": FakeJudges(), "description": Description(hardware="one core"), "slots": 2, "cache": cache}
    return Measuring(task, **{**given, **fields})


def seeds(rows: Iterable[Measured], *, kept: bool) -> list[int]:
    return sorted(row.wanted.trial.seed for row in rows if row.kept == kept)


def test_the_program_and_the_seed_are_judged_on_the_same_trials(circle_task: Task) -> None:
    """In turn; the seed itself has nobody beside it. A held-out case has its own parameters and no thresholds."""
    wanted = list(trials(circle_task, PROGRAM, range(2)))
    assert [(one.program, one.is_seed, one.trial.seed) for one in wanted] == [
        (PROGRAM, False, 0),
        (circle_task.seed, True, 0),
        (PROGRAM, False, 1),
        (circle_task.seed, True, 1),
    ]
    assert len(list(trials(circle_task, circle_task.seed, range(3)))) == 3
    (one, _) = trials(circle_task, PROGRAM, (0,), Case("far", {"n": 9}))
    assert (one.case, one.trial.split, one.trial.parameters, one.job.ungated) == ("far", "held_out", {"n": 9}, True)


def test_whoever_is_interrupted_goes_on_where_it_stopped(circle_task: Task, cache: FakeCache) -> None:
    """After 30 of 50 trials the same command does the missing 20."""
    begun = measuring(circle_task, cache).measure(trials(circle_task, circle_task.seed, range(50)))
    assert seeds(itertools.islice(begun, 30), kept=False) == list(range(30))
    begun.close()
    again = measuring(circle_task, cache)
    rows = list(again.measure(trials(circle_task, circle_task.seed, range(50))))
    done = len(seeds(rows, kept=True))
    assert 30 <= done <= 30 + again.slots
    assert seeds(rows, kept=True) + seeds(rows, kept=False) == list(range(50))
    assert len(again.executor.asked) == 50 - done
    assert [row.report.evaluation.fitness for row in rows if row.kept] == [float(seed) for seed in range(done)]


@pytest.mark.parametrize(
    "other",
    [
        {"task": "2"},
        {"description": Description(hardware="two cores")},
        {"description": Description(hardware="one core", environment="python 4")},
    ],
)
def test_a_result_is_that_of_one_task_version_and_one_machine(
    circle_task: Task, cache: FakeCache, other: dict[str, object]
) -> None:
    """Elsewhere it is evaluated again."""
    list(measuring(circle_task, cache).measure(trials(circle_task, PROGRAM, (0,))))
    task = replace(circle_task, version=str(other.pop("task", circle_task.version)))
    assert seeds(measuring(task, cache, **other).measure(trials(task, PROGRAM, (0,))), kept=True) == []
    assert seeds(measuring(circle_task, cache).measure(trials(circle_task, PROGRAM, (0,))), kept=True) == [0, 0]


def test_what_another_moment_may_change_is_not_kept(circle_task: Task, cache: FakeCache) -> None:
    """A failure of the machinery, and a program that was too slow or crashed; a wrong answer stays wrong."""
    for outcome, kept in ((Outcome.INTERNAL, 0), (Outcome.TIMED_OUT, 0), (Outcome.CRASHED, 0), (Outcome.WRONG, 1)):
        judges = FakeJudges(outcome)
        rows = list(measuring(circle_task, cache, executor=judges).measure(trials(circle_task, circle_task.seed, (0,))))
        assert ([row.report.evaluation.outcome for row in rows], len(cache)) == ([outcome], kept)


def test_nothing_is_begun_after_the_deadline(circle_task: Task, cache: FakeCache) -> None:
    """What is kept costs no time and still comes."""
    list(measuring(circle_task, cache).measure(trials(circle_task, circle_task.seed, range(3))))
    clock = itertools.count(0.0).__next__
    late = measuring(circle_task, cache, clock=clock)
    rows = list(late.measure(trials(circle_task, circle_task.seed, itertools.count()), deadline=4.0))
    assert (seeds(rows, kept=True), seeds(rows, kept=False)) == ([0, 1, 2], [3, 4, 5, 6])


def test_without_a_cache_everything_is_judged(circle_task: Task) -> None:
    """Each time."""
    for _ in range(2):
        rows = measuring(circle_task, None).measure(trials(circle_task, circle_task.seed, range(2)))
        assert seeds(rows, kept=False) == [0, 1]
