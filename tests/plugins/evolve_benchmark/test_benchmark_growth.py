"""Facts about the exponent of a program's time, with calls whose processor time is played."""

import sys
from contextlib import contextmanager

import pytest
from benchmark_played import Took
from benchmark_problems import HALVES, halving, judged

from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.task import load
from evolve.types import Outcome, Parameters, TaskError, Trial
from evolve_benchmark.growth import HIGH, PAIRS, exponent


class Metered:
    """A call with n takes `seconds(n)`, and a second more when it is the first of its process. With a `drift` each pair of calls is slower than the one before, as on a machine that others use."""

    def __init__(self, seconds, drift=1.0):
        self._seconds, self._drift = seconds, drift
        self._speed, self._cold = 1.0, True

    @contextmanager
    def session(self, *, timed):
        assert timed
        self._cold = True
        yield self

    def timed(self, function, /, number):
        took = Took(None, self._seconds(number) * self._speed + self._cold)
        self._cold = False
        self._speed *= self._drift
        return took


def pairs(size):
    """Five instances of each size."""
    return [([(size,)] * 5, [(2 * size,)] * 5)] * PAIRS


@pytest.mark.parametrize(("power", "told"), [(0, 0.0), (1, 1.0), (2, 2.0), (20, HIGH)])
def test_the_exponent_is_that_of_the_time(power, told):
    """The first call of a process does not count."""
    candidate = Metered(lambda number: 1e-4 * number**power)
    assert exponent(candidate, "solve", (0,), pairs(1000)) == pytest.approx(told)


def test_a_machine_that_slows_down_hardly_shows():
    """Pairs are turned round, and the median is taken: with 1 % a call, and an exponent of 2."""
    candidate = Metered(lambda number: 1e-6 * number**2, drift=1.01)
    assert PAIRS % 2 == 1
    assert exponent(candidate, "solve", (0,), pairs(100)) == pytest.approx(2.0, abs=0.1)


def test_what_takes_no_time_does_not_grow():
    """Too little to be told apart from the call itself."""
    assert exponent(Metered(lambda number: 1e-9 * number), "solve", (0,), pairs(1)) == 0.0


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


@pytest.mark.integration
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
