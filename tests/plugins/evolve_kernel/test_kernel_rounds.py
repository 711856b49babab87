"""Facts about how rounds of pairs are asked, checked and counted; both sides are played."""

import math
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from kernel_problems import DOUBLING, PlayedSide

from evolve.types import Parameters, TaskError
from evolve_kernel.backend import Built
from evolve_kernel.problem import load
from evolve_kernel.rounds import Broken, Measured, Rounds, Wrong, check_answers
from evolve_kernel.settings import KernelSettings

SETTINGS = KernelSettings(module="problem.py", function="doubled", header="doubled.h")


class Played:
    """A back end of two sides that go on from process to process."""

    shortest = 1e-4

    def __init__(self, mine, theirs, least=1e-6):
        self.both = (mine, theirs)
        self.opened = 0
        self.least = least
        self.again = None

    def build(self, candidate):
        """There is nothing to build."""
        return Built(candidate, None)

    @contextmanager
    def open_side(self, program, segment):
        """Counted in pairs."""
        self.opened += 1
        yield self.both[(self.opened - 1) % 2]

    @property
    def processes(self):
        """Of each program."""
        return self.opened // 2

    def least_seconds(self, anchor, moved, operations, *, again=False):
        """As it was told; another one when it is measured again, where there is one."""
        return self.again if again and self.again is not None else self.least


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """What comes of two sides."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "problem.py").write_text(DOUBLING)
    problem = load(tmp_path, "problem.py")

    def measured(backend, *, race=True, settings=SETTINGS, seed=0):
        rounds = Rounds(problem, settings, problem.shapes(Parameters(count=50)), np.random.default_rng(seed))
        program = Built(None, None)
        return rounds.measure(backend, program, program, race=race)

    return measured


def test_twice_the_speed_is_ln_two(measure):
    """Decided by the first rounds, in new processes after every two."""
    backend = Played(PlayedSide([1e-3, 1.1e-3]), PlayedSide([2e-3, 2.2e-3]))
    found = measure(backend)
    assert found.interval.estimate == pytest.approx(math.log(2), abs=0.11)
    assert [len(values) for values in found.processes] == [2, 2]
    assert backend.processes == 2
    assert [len(timing.mine) for timing in found.timings] == [8, 8]


def test_equal_programs_are_measured_until_they_are_known_to_be_equal(measure):
    """Or there are no rounds left."""
    noisy = PlayedSide([1e-3, 1.2e-3, 0.9e-3, 1.1e-3, 1.05e-3])
    assert sum(map(len, measure(Played(noisy, PlayedSide([1e-3]))).processes)) == SETTINGS.rounds
    assert sum(map(len, measure(Played(PlayedSide([1e-3]), PlayedSide([1e-3]))).processes)) == SETTINGS.first


def test_who_is_called_first_makes_no_difference(measure):
    """The first call of a pair is a fifth slower here, whoever's it is: each round has both orders, and none of it is left."""
    calls = []

    class Ordered(PlayedSide):
        def call(self, question, poison):
            """Slower where the other one did not just answer the same question."""
            first = not calls or calls[-1] is not question
            calls.append(question)
            self._seconds = [1.2e-3 if first else 1e-3]
            return super().call(question, poison)

    found = measure(Played(Ordered([1e-3]), Ordered([1e-3])), race=False)
    assert found.values == pytest.approx([0.0] * SETTINGS.rounds, abs=1e-9)
    assert {round(ratio, 3) for timing in found.timings for ratio in timing.ratios} == {0.182, -0.182}


def test_a_confirmation_has_all_rounds(measure):
    """A race that ends early is too good on average."""
    found = measure(Played(PlayedSide([1e-3]), PlayedSide([5e-3])), race=False)
    assert sum(map(len, found.processes)) == SETTINGS.rounds


def test_both_sides_get_the_same_questions_and_poison(measure):
    """In turns first; kinds of inputs come equally often, and poison of both kinds."""
    mine, theirs = PlayedSide([1e-3]), PlayedSide([2e-3])
    measure(Played(mine, theirs), race=False)
    assert all(
        one is other and left == right
        for (one, left), (other, right) in zip(mine.questions, theirs.questions, strict=True)
    )
    assert {poison for _, poison in mine.questions} == {0, 1}
    large = [bool(np.abs(question.inputs["given"]).max() > 1e10) for question, _ in mine.questions]
    assert abs(sum(large) - len(large) / 2) <= len(large) / 4


def test_equal_seeds_ask_the_same(measure):
    """And others something else."""
    asked = []
    for seed in (3, 3, 4):
        side = PlayedSide([1e-3])
        measure(Played(side, PlayedSide([2e-3])), seed=seed)
        asked.append(
            [(question.draw, question.inputs["given"].tobytes(), poison) for question, poison in side.questions]
        )
    assert asked[0] == asked[1] != asked[2]


def test_a_wrong_answer_ends_it(measure):
    """With the shape."""
    with pytest.raises(Wrong, match=r"out is off by 0.001 .* \(on count (50|150)\)"):
        measure(Played(PlayedSide([1e-3], off=1e-3), PlayedSide([1e-3])))


def test_a_failure_of_integrity_is_the_tag(measure):
    """Whatever the answer."""
    with pytest.raises(Broken, match="modified its inputs"):
        measure(Played(PlayedSide([1e-3], off=1e-3, tag="modified its inputs"), PlayedSide([1e-3])))


def test_answers_that_differ_between_equal_calls_are_one(measure):
    """Within the tolerance, too."""

    class Moody(PlayedSide):
        def call(self, question, poison):
            """Off by a bit more each time."""
            self.off += 1e-7
            return super().call(question, poison)

    with pytest.raises(Broken, match="answers that differ between equal calls"):
        measure(Played(Moody([1e-3]), PlayedSide([1e-3])))


@pytest.mark.parametrize(
    ("seconds", "least", "caught"), [(1e-3, 2e-3, True), (1.9e-3, 2e-3, False), (-1e-5, 1e-6, True)]
)
def test_a_time_below_the_physical_floor_is_none(measure, seconds, least, caught):
    """Ten per cent of room are left for the floor's own error."""
    backend = Played(PlayedSide([seconds]), PlayedSide([4e-3]), least)
    if caught:
        with pytest.raises(Broken, match="a time below what is physically possible"):
            measure(backend)
    else:
        assert measure(backend).interval.estimate > 0


def test_a_floor_that_was_measured_too_high_is_measured_again(measure):
    """Before a program is caught: something may have slowed the judge's own code down."""
    backend = Played(PlayedSide([1e-3]), PlayedSide([4e-3]), least=2e-3)
    backend.again = 0.5e-3
    assert {timing.least for timing in measure(backend).timings} == {0.5e-3}


@pytest.mark.parametrize("theirs", [PlayedSide([1e-3], off=1e-3), PlayedSide([1e-3], tag="modified its inputs")])
def test_a_seed_that_fails_is_the_tasks_fault(measure, theirs):
    """No program's."""
    with pytest.raises(TaskError, match="the seed, which all others are compared with, fails on count"):
        measure(Played(PlayedSide([1e-3]), theirs))


def test_a_seed_that_is_too_quick_for_the_clock_is_the_tasks_fault(measure):
    """The remedy is a larger shape."""
    with pytest.raises(TaskError, match=r"the seed takes 20 microseconds on count .* Try: give larger shapes"):
        measure(Played(PlayedSide([1e-3]), PlayedSide([2e-5])))


def test_the_error_knows_that_rounds_of_a_process_share_its_luck():
    """Sixty rounds of three processes are less than sixty of thirty."""
    shared = Measured((), tuple((value,) * 20 for value in (0.0, 0.1, 0.2)))
    alone = Measured((), tuple((value,) * 2 for value in (0.0, 0.1, 0.2) * 10))
    assert shared.interval.standard_error > 2 * alone.interval.standard_error


def test_the_segment_has_room_for_the_shape_that_needs_most(tmp_path, monkeypatch):
    """Guards and whole lines count: many small arrays need more than one that has more bytes."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    given = 'return [("out", f"o{i}", (1,), "int8") for i in range(20)] if shape["count"] == 50 else [("out", "o", (500,), "int8")]'
    text = DOUBLING.replace('TOLERANCE = {"out": 1e-6}', "check = lambda outputs, expected, inputs, shape: ''")
    (tmp_path / "problem.py").write_text(text.replace("    dims = (", f"    {given}\n    dims = ("))
    problem = load(tmp_path, "problem.py")
    rounds = Rounds(problem, SETTINGS, problem.shapes(Parameters(count=50)), np.random.default_rng(0))
    assert len(rounds._largest) == 20


SHAPE = {"count": 1000}
ANSWER = {"out": np.linspace(1, 2, 1000).reshape(10, 100)}


@pytest.fixture
def problem(tmp_path, monkeypatch):
    """With a tolerance, and a check where a text is given."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def made(tolerance="1e-6", more=""):
        (tmp_path / "problem.py").write_text(DOUBLING.replace("1e-6", tolerance, 1) + more)
        return load(tmp_path, "problem.py")

    return made


def outputs(change=lambda out: None, dtype=np.float32):
    """The answer, rounded and changed."""
    out = ANSWER["out"].astype(dtype)
    change(out)
    return {"out": out}


def test_what_is_within_the_tolerance_is_right(problem):
    """Relative, over the whole array."""
    assert check_answers(problem(), outputs(), ANSWER, {}, SHAPE).fault == ""
    assert check_answers(problem(), {"out": ANSWER["out"] * (1 + 0.9e-6)}, ANSWER, {}, SHAPE).fault == ""


def test_what_is_not_is_told_with_its_distance(problem):
    """And with the worst element."""
    said = check_answers(problem(), {"out": ANSWER["out"] * 1.01}, ANSWER, {}, SHAPE).fault
    assert said.startswith(
        "out is off by 0.01 (relative, in the L2 norm), and 1e-06 is allowed: 1000 of 1000 elements are wrong."
    )
    assert "The worst is [9, 99]" in said


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_never_right(problem, value):
    """One element is enough."""
    said = check_answers(problem("1e6"), outputs(lambda out: out.__setitem__((3, 4), value)), ANSWER, {}, SHAPE).fault
    assert said.startswith("out is not finite")
    assert "The worst is [3, 4]" in said


def test_what_was_not_written_is_counted(problem):
    """Such as the last columns, which a loop has left out."""

    def unfinished(out):
        out[:, 96:].view("uint8")[:] = 0xA5

    said = check_answers(problem(), outputs(unfinished), ANSWER, {}, SHAPE).fault
    assert "40 of 1000 elements are wrong; 40 were not written. The worst" in said


def test_the_worst_element_is_told(problem):
    said = check_answers(problem(), outputs(lambda out: out.__setitem__((3, 4), 9.0)), ANSWER, {}, SHAPE).fault
    assert "1 of 1000 elements are wrong. The worst is [3, 4]: 9.0, wanted" in said


def test_no_tolerance_is_equality(problem):
    """For whole numbers."""
    answer = {"out": np.arange(6)}
    assert check_answers(problem("0"), {"out": np.arange(6, dtype=np.int32)}, answer, {}, SHAPE).fault == ""
    said = check_answers(problem("0"), {"out": np.array([0, 1, 2, 3, 5, 4], np.int32)}, answer, {}, SHAPE).fault
    assert said.startswith("out must be exact: 2 of 6 elements are wrong.")


def test_an_answer_of_zeros_has_an_absolute_tolerance(problem):
    """There is nothing to divide by."""
    zeros = {"out": np.zeros(4)}
    assert check_answers(problem(), {"out": np.full(4, 1e-8, np.float32)}, zeros, {}, SHAPE).fault == ""
    assert "off by 0.02" in check_answers(problem(), {"out": np.full(4, 1e-2, np.float32)}, zeros, {}, SHAPE).fault


def test_what_is_right_tells_how_far_it_is(problem):
    """At most of all outputs, and nothing where equality is asked for."""
    assert check_answers(problem(), {"out": ANSWER["out"] * (1 + 5e-7)}, ANSWER, {}, SHAPE).distance == pytest.approx(
        5e-7
    )
    assert check_answers(problem(), ANSWER, ANSWER, {}, SHAPE).distance == 0.0
    assert check_answers(problem("0"), ANSWER, ANSWER, {}, SHAPE).distance is None


def test_the_modules_own_check_comes_after_the_tolerance(problem):
    """It says what a norm does not."""
    found = problem("1", "\n\ndef check(outputs, expected, inputs, shape):\n    return f'not so, {shape[\"count\"]}'\n")
    assert check_answers(found, outputs(), ANSWER, {}, SHAPE).fault == "not so, 1000"
