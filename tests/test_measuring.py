"""Repeated evaluation of a program, outside any campaign."""

from concurrent.futures import Future

from evolve.evaluation import Report, decode_job, encode_report
from evolve.measuring import measure, trials
from evolve.types import Case, Evaluation, Program, Task

PROGRAM = Program({"seed.py": "def value():\n    return 6.0\n"})


class FakeExecutor:
    """Answers with a fitness that is the trial's seed, when as many jobs were submitted as there are slots."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.most = 0
        self._open: list[tuple[Future[bytes], bytes]] = []

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        seed = decode_job(job).trial.seed
        self._open.append((Future(), encode_report(Report(Evaluation.ok(float(seed))))))
        future = self._open[-1][0]
        self.most = max(self.most, len(self._open))
        if len(self._open) == self.slots:
            while self._open:
                waiting, report = self._open.pop()
                waiting.set_result(report)
        return future


def test_the_program_and_the_seed_are_evaluated_on_the_same_trials(circle_task: Task) -> None:
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


def test_each_trial_has_its_result_and_no_more_are_under_way_than_there_are_slots(circle_task: Task) -> None:
    executor = FakeExecutor(slots=3)
    rows = list(measure(executor, trials(circle_task, circle_task.seed, range(6)), 3))
    found = {row.wanted.trial.seed: row.report.evaluation.fitness for row in rows}
    assert (len(rows), found, executor.most) == (6, {seed: float(seed) for seed in range(6)}, 3)
