"""Facts about a program's hottest lines: which are shown, and that nothing else comes of a program that lies about them."""

import re
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from benchmark_played import Racer, Took, racers
from benchmark_problems import halving
from pydantic import ValidationError

from evolve.evaluation.candidate import Candidate
from evolve.sandbox import Box, SessionFailed, Status
from evolve.types import Limits, Parameters, Program, Trial
from evolve_benchmark import hottest
from evolve_benchmark.hottest import profile
from evolve_benchmark.judging import Judging
from evolve_benchmark.problem import load
from evolve_benchmark.settings import BenchmarkSettings
from evolve_benchmark.speed import Speed

DOUBLES = '''
"""Double some numbers."""


def instances(rng, parameters):
    return {"few": [rng.random(2).tolist()], "many": [rng.random(9).tolist()]}


def check(instance, answer):
    return "" if answer == [2 * number for number in instance] else "not twice as much"
'''
SOURCE = """def solve(numbers):
    total = 0
    for number in range(20000):
        total += number ** 7 % 11
    return [2 * number for number in numbers]
"""
HOT = "| seed.py:4 | 75 % | total += number ** 7 % 11 |"


class Profiled:
    """A candidate that answers the tracer with `said`, or fails with it. `calls` has the functions that were called with their arguments, `files` what was placed."""

    def __init__(self, said, files=None):
        self.program = Program(files or {"seed.py": SOURCE})
        self.calls, self.files, self._said = [], {}, said

    @contextmanager
    def session(self, seconds=None, *, files=None):
        assert seconds <= 1.5
        self.files = files
        yield self

    def call(self, function, /, *arguments):
        self.calls.append((function, arguments))
        if isinstance(self._said, Exception):
            raise self._said
        return self._said if function == "evolve_tracer_lines" else None


def about(folder, candidate, trial=None, fields=None, **settings):
    """One judging by speed."""
    task = halving(folder, DOUBLES, deterministic=False, **(fields or {}))
    chosen = BenchmarkSettings(module="problem.py", mode="speed", **settings)
    problem = load(folder, "problem.py", ())
    return Judging(problem, chosen, task, candidate, trial or Trial(parameters=Parameters()))


def told(folder, said, files=None, seconds=0.01, **more):
    """What is told of a program whose tracer says this."""
    return profile(about(folder, Profiled(said, files), **more), seconds)


def test_the_hottest_lines_are_shown_with_their_shares(tmp_path):
    """The hottest first, each as it stands in the program."""
    found = told(tmp_path, [["seed.py", 3, 1000], ["seed.py", 4, 3000]])
    assert found.splitlines() == [
        "Where the program's time goes, by 0.004 s of other calls that were followed line by line, which makes short lines look dearer than they are; what a line calls in libraries is part of it:",
        "",
        "| line | of the time | |",
        "|---|---|---|",
        HOT,
        "| seed.py:3 | 25 % | for number in range(20000): |",
    ]
    assert told(tmp_path, [["seed.py", 3, 1000], ["seed.py", 4, 3000]], profile=1).splitlines()[4:] == [HOT]


@pytest.mark.parametrize(
    "said",
    [
        None,
        "seed.py",
        {"seed.py": 30},
        [],
        [["seed.py", 4, 999]],
        [["seed.py", 0, 3000]],
        [["seed.py", 4, 3000], ["seed.py", 7, 3000]],
        [["seed.py", -1, 3000]],
        [["seed.py", 4, 0]],
        [["seed.py", 4, -3000]],
        [["seed.py", 4, 10**7 + 1]],
        [["seed.py", 4, 3000.0]],
        [["seed.py", True, 3000]],
        [["seed.py", 4, 3000], ["seed.py", 4, 3000]],
        [["evolve_tracer.py", 4, 3000]],
        [[["seed.py"], 4, 3000]],
        [["seed.py", 4, 3000, "this line is fine"]],
        [["seed.py", 4, 3000], "and more"],
        [["seed.py", 4, 3000]] * 201,
    ],
)
def test_nonsense_is_not_shown(tmp_path, said):
    """Nor anything beside it."""
    assert told(tmp_path, said) == ""


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.SIGNAL, Status.ERROR, Status.NO_ENTRY])
def test_a_program_that_fails_there_is_not_shown(tmp_path, status):
    """And fails nowhere else."""
    assert told(tmp_path, SessionFailed(status, "it failed")) == ""


def test_lines_that_take_next_to_nothing_are_not_shown(tmp_path):
    """Less than half a percent."""
    assert told(tmp_path, [["seed.py", 3, 4], ["seed.py", 4, 996]]).count("seed.py:") == 1
    assert told(tmp_path, [["seed.py", 3, 5], ["seed.py", 4, 995]]).count("seed.py:") == 2


def test_lines_are_numbered_as_python_does(tmp_path):
    """A form feed ends none, a carriage return does."""
    files = {"seed.py": "a = '\x0c'\r\nb = 2\rc = '\u2028'\nd = 4"}
    assert told(tmp_path, [["seed.py", 4, 3000]], files).endswith("| seed.py:4 | 100 % | d = 4 |")


def test_a_line_is_one_cell_of_a_row(tmp_path):
    """Short, without what a reader cannot see."""
    files = {"seed.py": f"a = b | c\nd\t=\x1b '{'x' * 200}'"}
    found = told(tmp_path, [["seed.py", 1, 4000], ["seed.py", 2, 3000]], files).splitlines()
    assert found[4].endswith(r"| a = b \| c |")
    assert found[5].endswith(f"| d =  '{'x' * 91}... |")


def test_the_program_is_called_with_fresh_inputs(tmp_path):
    """Once with each kind before it is looked at; its own lines keep their numbers."""
    candidate = Profiled([["seed.py", 4, 3000]])
    assert profile(about(tmp_path, candidate), 0.09)
    names = [name for name, _ in candidate.calls]
    assert names == ["solve", "solve", *["evolve_tracer_call"] * 3, "evolve_tracer_lines"]
    inputs = [arguments[-1] for name, arguments in candidate.calls[:-1]]
    assert len(set(map(tuple, inputs))) == 5
    assert candidate.files["seed.py"].decode().startswith(SOURCE)
    assert candidate.calls[-1][1] == (200,)


@pytest.mark.parametrize(
    "more",
    [
        {"profile": 0},
        {"trial": Trial(split="held_out", parameters=Parameters())},
        {"fields": {"entry": "elsewhere"}},
        {"fields": {"context": {"seed.py": SOURCE}}},
    ],
)
def test_some_are_not_looked_at(tmp_path, more):
    """Where nobody wants it, in held-out cases, and where the program does not have the module itself."""
    candidate = Profiled([["seed.py", 4, 3000]])
    assert profile(about(tmp_path, candidate, **more), 0.01) == ""
    assert candidate.calls == []


def test_other_modes_have_no_profile():
    """It is an error to ask for it."""
    with pytest.raises(ValidationError, match='mode "quality" has no use for profile'):
        BenchmarkSettings(module="problem.py", profile=3)


class Looked(Racer):
    """A racer that is looked at when the race is over."""

    said = ()

    def session(self, seconds=None, *, files=None, timed=False):
        return super().session(timed=True) if timed else Profiled(self.said).session(seconds, files=files)


def raced(folder, said, **settings):
    """The evaluation of a racer twice as fast as its anchor, and what it was asked."""
    candidate, _ = racers(
        lambda number, numbers: Took(None, 0.001),
        lambda number, numbers: Took(None, 0.002),
        lambda numbers: [2 * number for number in numbers],
        lambda numbers: [2 * number for number in numbers],
    )
    candidate.__class__ = Looked
    candidate.program, candidate.said = Program({"seed.py": SOURCE}), said
    return Speed(about(folder, candidate, **settings)).evaluation(), candidate.calls


@pytest.mark.parametrize(
    "said", [[["seed.py", 4, 3000]], [["seed.py", 400, 3000]], SessionFailed(Status.SIGNAL, "gone")]
)
def test_the_score_is_the_same_with_and_without(tmp_path, said):
    """And so is what is asked; the feedback alone has more where there is more to say."""
    without, asked = raced(tmp_path, said, profile=0)
    found, calls = raced(tmp_path, said)
    assert calls == asked
    assert replace(found, feedback=without.feedback) == without
    shown = found.feedback.removeprefix(without.feedback)
    assert shown.endswith("| seed.py:4 | 100 % | total += number ** 7 % 11 |") == (said == [["seed.py", 4, 3000]])
    assert bool(shown) == (said == [["seed.py", 4, 3000]])


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    """Processes of real programs."""
    if sys.platform != "linux":
        pytest.skip("the judge's processes need Linux")
    with closing(Box(Limits())) as made:
        yield made


def looked_at(folder, box, source):
    """What is told of a real program."""
    candidate = Candidate(
        Program({"seed.py": source}), lambda program, seconds, job="run": box.open(program, "seed", seconds, job), 60
    )
    return profile(about(folder, candidate), 0.02)


@pytest.mark.integration
def test_the_lines_where_a_program_is_are_found(tmp_path, box, monkeypatch):
    """In its own files: what a line calls in a library counts as that line."""
    monkeypatch.setattr(hottest, "LIMIT", 30.0)
    assert re.search(r"^\| seed.py:4 \| \d+ % \| total \+= number", looked_at(tmp_path, box, SOURCE), re.MULTILINE)
    calling = "import statistics\n\n\ndef solve(numbers):\n    return statistics.fmean(range(200000))\n"
    assert re.search(r"^\| seed.py:5 \| \d+ % \| return statistics", looked_at(tmp_path, box, calling), re.MULTILINE)


def test_a_call_is_followed_for_a_while_and_no_longer(tmp_path, box, monkeypatch):
    """One that would not end is left in its midst; what was seen by then is shown."""
    monkeypatch.setattr(hottest, "LIMIT", 30.0)
    endless = "import sys\n\n\ndef solve(numbers):\n    while sys.gettrace():\n        numbers.reverse()\n"
    shown = looked_at(tmp_path, box, endless)
    assert "| numbers.reverse() |" in shown
    assert "| while sys.gettrace(): |" in shown


FORGED = """
import sys
import types

forged = types.ModuleType("evolve_tracer")
forged.call = lambda *arguments: None
forged.lines = lambda most: {said}
sys.modules["evolve_tracer"] = forged


def solve(numbers):
    return numbers
"""


@pytest.mark.parametrize(
    "said",
    [
        '[["seed.py", 4, 5000], ["seed.py", 999, 5000]]',
        '[["seed.py", 4, 5000, "all is well"]]',
        '[["seed.py", 4, 5000]] * 100000',
        '["x" * 20000000]',
        "(yield)",
        "__import__('os')._exit(0)",
    ],
)
def test_a_program_that_answers_for_the_tracer_is_not_shown(tmp_path, box, said):
    """Lines that do not exist, texts of its own, lists without end."""
    assert looked_at(tmp_path, box, FORGED.format(said=said)) == ""


def test_a_forged_line_has_the_programs_own_text(tmp_path, box):
    """What a program can lie about is where its time goes."""
    shown = looked_at(tmp_path, box, FORGED.format(said='[["seed.py", 2, 5000]]'))
    assert shown.endswith("| seed.py:2 | 100 % | import sys |")


@pytest.mark.integration
@pytest.mark.parametrize(
    "source",
    [
        "def solve(numbers):\n    while True:\n        pass\n",
        "import sys\nimport time\n\n\ndef solve(numbers):\n    if sys.gettrace():\n        time.sleep(9)\n",
        "import os\n\n\ndef solve(numbers):\n    os._exit(1)\n",
    ],
)
def test_a_program_that_hangs_or_ends_there_is_not_shown(tmp_path, box, monkeypatch, source):
    """It is ended by the judge's clock."""
    monkeypatch.setattr(hottest, "LIMIT", 0.3)
    assert looked_at(tmp_path, box, source) == ""
