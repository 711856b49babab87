"""The mode `speed` with arrays that are shared: nothing is handed over, and the answer is what lay there when the clock stopped."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from benchmark_played import Racer, Took
from benchmark_problems import halving
from pydantic import ValidationError

from evolve import Timed
from evolve.conformance.impostors import make_impostors
from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.task import load
from evolve.types import Check, Outcome, Parameters, Program, TaskError, Trial
from evolve_benchmark.evaluator import Benchmark
from evolve_benchmark.settings import BenchmarkSettings
from evolve_benchmark.sharing import Room, SharedSession

DOUBLES = '''
"""Double some numbers."""

import numpy as np


def instances(rng, parameters):
    return [rng.random(1000)]


def arguments(instance):
    return (instance,)


def room(instance):
    return instance.shape, "float64"


def check(instance, answer):
    return "" if np.array_equal(answer, 2 * instance) else "not twice as much"
'''


class Sharing(Racer):
    """Is called with arrays of shared memory."""

    def timed(self, function, /, *windows, seconds=None, meanwhile=None):
        arrays = [window.view() for window in windows]
        self._turns.append(self._name)
        self._solve(*arrays)
        meanwhile()
        # What it writes now comes too late.
        arrays[0][...] = -1
        return Timed(None, 0.5, self._times(0).cpu, 1e-4)


def double(answer, numbers):
    answer[...] = 2 * numbers


def judge(folder, solve=double, text=DOUBLES, **settings):
    task = halving(folder, text, deterministic=False)
    benchmark = Benchmark(BenchmarkSettings(module="problem.py", mode="speed", shared=True, **settings))
    ((_, evaluate),) = benchmark.stages(task)
    turns = []
    candidate = Sharing(solve, lambda *_: Took(None, 0.001), turns, "candidate")
    candidate.rival = Sharing(double, lambda *_: Took(None, 0.002), turns, "anchor")
    return evaluate(candidate, Trial(parameters=Parameters()))


def test_the_answer_is_what_lay_there_when_the_clock_stopped(tmp_path):
    found = judge(tmp_path)
    assert (found.outcome, found.fitness) == (Outcome.OK, pytest.approx(np.log(2)))


def test_what_is_not_filled_is_no_answer(tmp_path):
    """Nor is what was left by an earlier call."""
    calls = []

    def once(answer, numbers):
        calls.append(1)
        if len(calls) == 1:
            double(answer, numbers)

    assert judge(tmp_path, once).outcome is Outcome.INVALID


def test_the_memory_grows_with_the_calls():
    calls = []

    class Session:
        def timed(self, function, *windows, seconds, meanwhile):
            calls.append([window.view().shape for window in windows])
            windows[0].view()[...] = windows[1].view().sum()
            meanwhile()
            return Timed(None, 0.1, 0.1, 0.0)

    with closing(SharedSession(Session())) as shared:
        for size in (3, 100_000, 5):
            found = shared.timed("solve", Room((2,), "float32"), np.ones(size, "int64"))
            assert found.value.tolist() == [size, size]
    assert calls == [[(2,), (3,)], [(2,), (100_000,)], [(2,), (5,)]]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("def room", "def rooms", r"there is no function room\(instance\)"),
        ('"float64"', '"text"', r"room\(\).* Try: return shape and type of an answer, such as \(\(8, 8\), 'float32'\)"),
        ("instance.shape,", "1000,", "Try: return shape and type of an answer"),
        (
            "return (instance,)",
            "return (instance, 5)",
            "Try: return arrays alone, where they are shared with the program",
        ),
    ],
)
def test_a_module_that_cannot_share_says_so(tmp_path, old, new, reason):
    with pytest.raises(TaskError, match=reason):
        judge(tmp_path, text=DOUBLES.replace(old, new))


def test_only_the_mode_speed_shares():
    with pytest.raises(ValidationError, match='mode "quality" has no use for shared'):
        BenchmarkSettings(module="problem.py", shared=True)


TASK = """schema = 1
brief = "README.md"
program = { files = ["seed.py"], entry = "seed" }
evaluator = { plugin = "benchmark", module = "problem.py", mode = "speed", shared = true }
fitness = { name = "ln of the speed-up", log_ratio = true }
"""
SEED = "def solve(answer, numbers):\n    answer[...] = sum([numbers, numbers])\n"
LATE = "import threading, time\n\n\ndef later(answer, numbers):\n    time.sleep(0.002)\n    answer[...] = 2 * numbers\n\n\ndef solve(answer, numbers):\n    threading.Thread(target=later, args=(answer, numbers)).start()\n"


@pytest.mark.integration
@pytest.mark.parametrize(("text", "outcome"), [(SEED, Outcome.OK), (LATE, Outcome.INVALID)], ids=["seed", "late"])
def test_a_program_in_a_process_of_its_own_fills_what_is_shared(tmp_path, text, outcome):
    for name, content in {"task.toml": TASK, "README.md": "Double.\n", "problem.py": DOUBLES, "seed.py": SEED}.items():
        (tmp_path / name).write_text(content)
    task = load(str(tmp_path))
    job = Job("one", "evaluate", Trial(parameters=Parameters(task.parameters)), files={"seed.py": text})
    with closing(LocalExecutor(task, 1)) as executor:
        report = decode_report(executor.submit(job.id, encode_job(job)).result(timeout=60))
    assert report.evaluation.outcome is outcome, report.texts


@pytest.mark.parametrize("impostor", ["zeros", "the sign flipped", "the input for an answer", "NaN for every number"])
def test_made_up_programs_fill_the_answer_with_something_wrong(tmp_path, impostor):
    seed, check = Program({"seed.py": SEED}), Check(answers="determined")
    task = replace(halving(tmp_path, DOUBLES), seed=seed, entry="seed", check=check)
    (program,) = (one.program for one in make_impostors(task) if one.name == impostor)
    names = {"__name__": "seed"}
    exec(program.files["seed.py"], names)
    numbers, answer = np.array([1.0, 2.0]), np.full(2, np.nan)
    assert names["solve"](answer, numbers) is None
    wanted = {"zeros": [0, 0], "the sign flipped": [-2, -4], "the input for an answer": [1, 2]}
    assert np.array_equal(answer, wanted.get(impostor, [np.nan, np.nan]), equal_nan=True)
