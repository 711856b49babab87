"""Facts about the exponent of a program's time, with sessions whose processor time is played."""

import sys
from contextlib import contextmanager

import pytest
from benchmark_problems import HALVES, halving, judged

from evolve.judge import Job, LocalExecutor, decode_report, encode_job
from evolve.task import load
from evolve.types import Outcome, Parameters, TaskError, Trial
from evolve_benchmark.growth import HIGH, PAIRS, exponent


class Metered:
    """A session takes `own` seconds; a call with n takes `seconds(n)`. With a `drift` each session is slower than the one before, as on a machine that others use."""

    def __init__(self, seconds, own=0.01, drift=1.0):
        self.cpu_seconds = 0.0
        self._seconds, self._own, self._drift = seconds, own, drift
        self._speed = 1.0

    @contextmanager
    def session(self):
        self.cpu_seconds += self._own
        yield self
        self._speed *= self._drift

    def call(self, function, /, *arguments, seconds=None):
        assert arguments == (0,)

    def map(self, function, calls, /, seconds=None):
        self.cpu_seconds += sum(self._seconds(number) * self._speed for (number,) in calls)
        return []


@pytest.mark.parametrize(("power", "told"), [(0, 0.0), (1, 1.0), (2, 2.0), (20, HIGH)])
def test_the_exponent_is_that_of_the_time(power, told):
    """Whatever a session takes itself."""
    candidate = Metered(lambda number: 1e-6 * number**power)
    assert exponent(candidate, "solve", (0,), [(1000,)] * 5, [(2000,)] * 5) == pytest.approx(told)


def test_a_machine_that_slows_down_hardly_shows():
    """Pairs are turned round, and the median is taken: with 5 % a session, and an exponent of 2."""
    candidate = Metered(lambda number: 1e-6 * number**2, drift=1.05)
    assert PAIRS % 2 == 1
    assert exponent(candidate, "solve", (0,), [(100,)] * 5, [(200,)] * 5) == pytest.approx(2.0, abs=0.1)


def test_what_takes_no_time_does_not_grow():
    """Too little to be told apart from the session's own."""
    assert exponent(Metered(lambda number: 1e-9), "solve", (0,), [(1,)], [(2,)]) == 0.0


GROWN = """
def grown(rng, parameters, times):
    return float(500 * times)
"""


def test_growth_needs_a_noisy_task_and_a_function(tmp_path):
    """Both are said before anything is judged."""
    with pytest.raises(TaskError, match="deterministic = true"):
        judged(halving(tmp_path, HALVES + GROWN), lambda number: number, growth=3)
    with pytest.raises(TaskError, match=r"there is no function grown\(rng, parameters, times\)"):
        judged(halving(tmp_path, deterministic=False), lambda number: number, growth=3)


@pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
def test_a_loop_in_a_loop_grows_faster_than_a_loop(tmp_path):
    """By the processor time of real processes; the two are an exponent of about one apart."""
    (tmp_path / "problem.py").write_text(HALVES + GROWN)
    (tmp_path / "README.md").write_text("Halve numbers.\n")
    body = "def solve(number):\n    for _ in range(int(number)):\n        {}\n    return number / 2\n"
    (tmp_path / "seed.py").write_text(body.format("pass"))
    (tmp_path / "task.toml").write_text(
        'schema = 1\n[evaluator]\nplugin = "benchmark"\nmodule = "problem.py"\ngrowth = 6\n'
        '[[axes]]\nname = "growth"\nlow = 0.0\nhigh = 4.0\nbins = 8\n'
    )
    task = load(tmp_path)
    executor = LocalExecutor(task, 1)
    found = []
    for inner in ("sum(range(100))", "sum(range(int(number)))"):
        job = Job("1.0", "evaluate", Trial(parameters=Parameters()), {"seed.py": body.format(inner)})
        report = decode_report(executor.submit(job.id, encode_job(job)).result(60))
        assert report.evaluation.outcome is Outcome.OK
        found.append(report.evaluation.descriptors["growth"])
    executor.close()
    assert found[1] - found[0] > 0.4
