"""Facts about the mode `speed`, with programs whose times are played."""

import math
import re

import pytest
from benchmark_played import Took, racers
from benchmark_problems import HALVES, halving

from evolve.types import Objective, Outcome, Parameters, TaskError, Trial
from evolve_benchmark.evaluator import Benchmark
from evolve_benchmark.settings import BenchmarkSettings

DOUBLES = '''
"""Double some numbers."""


def instances(rng, parameters):
    return {"few": [rng.random(2).tolist()], "many": [rng.random(9).tolist()]}


def check(instance, answer):
    return "" if answer == [2 * number for number in instance] else "not twice as much"


def label(instance):
    return f"{len(instance)} numbers"
'''


def double(numbers):
    return [2 * number for number in numbers]


def steady(seconds, **more):
    """Every call takes as long."""
    return lambda number, *arguments: Took(None, seconds, **more)


def judge(folder, mine=None, theirs=None, solve=double, honest=double, text=DOUBLES, fields=None, **settings):
    """The evaluation, the candidate, and the turns."""
    task = halving(folder, text, deterministic=False, **(fields or {}))
    benchmark = Benchmark(BenchmarkSettings(**{"module": "problem.py", "mode": "speed", **settings}))
    ((_, evaluate),) = benchmark.stages(task)
    candidate, turns = racers(mine or steady(0.001), theirs or steady(0.002), solve, honest)
    return evaluate(candidate, Trial(parameters=Parameters())), candidate, turns


def test_the_fitness_is_the_logarithm_of_the_speed_up(tmp_path):
    """Twice as fast is ln 2; four rounds tell."""
    found, candidate, _ = judge(tmp_path)
    assert (found.outcome, found.fitness) == (Outcome.OK, pytest.approx(math.log(2)))
    assert found.metrics["speed_up"] == pytest.approx(2)
    assert found.descriptors == {"worst": pytest.approx(math.log(2)), "log2_bytes": 6.0}
    assert (found.metrics["pairs"], found.metrics["processes"]) == (16, 2)
    assert found.standard_error == pytest.approx(0)
    assert candidate.rival.program.files == halving(tmp_path, DOUBLES).seed.files


def test_each_kind_weighs_the_same_by_its_median(tmp_path):
    """One is twice as fast but for one call that something disturbed, the other as fast."""
    calls = []

    def mine(number, numbers):
        calls.append(number)
        return Took(None, (0.1 if len(calls) == 7 else 0.001) if len(numbers) == 2 else 0.002)

    found, _, _ = judge(tmp_path, mine, pairs_first=12, pairs_most=12)
    assert found.fitness == pytest.approx(math.log(2) / 2)
    assert found.descriptors["worst"] == pytest.approx(0.0)


def test_candidate_and_anchor_take_turns_to_be_first(tmp_path):
    """One pair in each order, the two right after one another; who begins with that changes."""
    _, candidate, turns = judge(tmp_path)
    firsts = [turns[place] for place in range(0, len(turns), 2)]
    kinds = [len(numbers) for calls in candidate.calls for (numbers,) in calls]
    counted = [(first, kind) for place, (first, kind) in enumerate(zip(firsts, kinds, strict=True)) if place % 10 > 1]
    doubles = list(zip(counted[::2], counted[1::2], strict=True))
    assert all(one[0] != other[0] and one[1] == other[1] for one, other in doubles)
    assert sorted(one for one, _ in doubles) == sorted(
        [("anchor", 2), ("candidate", 2), ("anchor", 9), ("candidate", 9)] * 2
    )


def test_who_comes_second_is_not_faster_for_it(tmp_path):
    """Where the first call of a pair takes a tenth more, equal programs are equal."""
    turns = []

    def taking(number, numbers):
        turns.append(None)
        return Took(None, 0.0022 if len(turns) % 2 else 0.002)

    found, _, _ = judge(tmp_path, taking, taking)
    assert found.fitness == pytest.approx(0.0)
    assert found.standard_error == pytest.approx(0.0)


def test_both_see_the_same_and_no_input_twice_in_a_process(tmp_path):
    """But for the questions with which a process begins."""
    _, candidate, _ = judge(tmp_path, recall=1)
    assert candidate.calls == candidate.rival.calls
    first, second = candidate.calls
    assert second[0] == first[0]
    flat = [tuple(numbers) for calls in candidate.calls for (numbers,) in calls]
    assert len(set(flat)) == len(flat) - 1


def test_the_first_calls_of_a_process_do_not_count(tmp_path):
    """They import the program."""
    found, _, _ = judge(tmp_path, lambda number, numbers: Took(None, 0.001 if number > 2 else 1.0))
    assert found.fitness == pytest.approx(math.log(2))


def test_a_call_that_takes_too_long_is_ended(tmp_path):
    """After ten seconds, or a hundred times what the seed takes; the seed has the stage's time."""
    _, candidate, _ = judge(tmp_path)
    assert set(candidate.limits) == {50.0}
    assert set(candidate.rival.limits) == {None}
    _, candidate, _ = judge(tmp_path, theirs=steady(0.002, wall=0.02))
    assert set(candidate.limits) == {10.0}


def test_equal_programs_are_measured_until_it_is_known(tmp_path):
    """No difference beyond the floor ends a race; without a floor all pairs are measured."""
    same = steady(0.002)
    found, _, _ = judge(tmp_path, same, same)
    assert (found.fitness, found.metrics["pairs"]) == (0.0, 16)
    assert "It is as fast as the seed" in found.feedback
    found, _, _ = judge(tmp_path, same, same, floor=0.0, pairs_most=18)
    assert found.metrics["pairs"] == 36
    assert found.metrics["processes"] == 5
    assert "was not decided" in found.feedback


@pytest.mark.parametrize("clock", ["cpu", "wall"])
def test_work_outside_of_the_calls_is_charged(tmp_path, clock):
    """As much as it is more than the anchor's; a little is what processes differ by."""
    times = {"wall": 0.001, "outside": 0.0052}
    moved, _, _ = judge(tmp_path, steady(0.001, **times), steady(0.002, wall=0.002), clock=clock)
    assert moved.metrics["speed_up"] == pytest.approx(0.002 / (0.001 + 0.0051 - 5e-5))
    assert moved.metrics["moved"] == pytest.approx(0.835, abs=0.001)
    little, _, _ = judge(tmp_path, steady(0.001, outside=1.4e-4))
    assert little.metrics["moved"] == 0.0


def test_a_wrong_answer_is_no_fast_one(tmp_path):
    """One is enough, also among those that are not counted."""
    calls = []

    def sometimes(numbers):
        calls.append(numbers)
        return double(numbers) if len(calls) != 8 else [0.0] * len(numbers)

    found, _, _ = judge(tmp_path, solve=sometimes)
    assert (found.outcome, found.fitness) == (Outcome.INVALID, None)
    assert re.match(r"solve\(\): not twice as much \((few 2|many 9) numbers\)", found.feedback)
    found, _, _ = judge(tmp_path, solve=lambda numbers: [])
    assert found.outcome is Outcome.INVALID


def test_two_answers_to_one_question_are_a_contradiction(tmp_path):
    """Both pass the check, which is not enough; a task may say what the same answer is, or ask nothing twice."""
    loose = DOUBLES.replace('return "" if answer', 'return "" if True or answer')
    calls = []

    def changing(numbers):
        calls.append(numbers)
        return len(calls)

    found, _, _ = judge(tmp_path, solve=changing, text=loose)
    assert (found.outcome, found.tag) == (Outcome.WRONG, "two answers to one question")
    found, _, _ = judge(tmp_path, solve=changing, text=loose, recall=0)
    assert found.outcome is Outcome.OK
    agreed = loose + "\n\ndef agree(instance, one, other):\n    return type(one) is type(other)\n"
    found, _, _ = judge(tmp_path, solve=changing, text=agreed)
    assert found.outcome is Outcome.OK


def test_a_time_that_is_impossible_is_tagged(tmp_path):
    """By the bound of the task for a kind."""
    found, _, _ = judge(tmp_path, at_most=1.9)
    assert (found.outcome, found.tag) == (Outcome.WRONG, "impossible time")
    assert "nothing can be more than 1.9 times as fast" in found.feedback


def test_the_feedback_has_a_row_for_each_kind(tmp_path):
    """The one that gains least first, and what is noise."""
    found, _, _ = judge(tmp_path, lambda number, numbers: Took(None, 0.001 if len(numbers) == 2 else 0.004))
    lines = found.feedback.splitlines()
    assert lines[0].startswith("The program is 1 times as fast as the seed (95 %: 1 to 1), by processor time")
    assert "would be noise here" in lines[0]
    assert [line.split("|")[1:3] for line in lines[4:]] == [[" many 9 numbers ", " 0.5 "], [" few 2 numbers ", " 2 "]]
    assert [row["score"] for row in found.artifacts["timings"]] == pytest.approx([2.0, 0.5])


def test_objectives_and_metrics_are_the_modules_own(tmp_path):
    """As in the other modes."""
    more = """

def objectives(instance, answer):
    return {"length": len(answer)}


def metrics(measured):
    return {"slowest": max(pair.seconds for pair in measured)}
"""
    found, _, _ = judge(tmp_path, text=DOUBLES + more, fields={"objectives": (Objective("length"),)})
    assert found.objectives == {"length": 5.5}
    assert found.metrics["slowest"] == 0.001


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DOUBLES.replace("rng.random(2).tolist()", "[1.0, 2.0]"), "gave the same instance twice (few 2 numbers)"),
        (DOUBLES.replace('"few"', 'f"few {rng.random()}"'), "Try: give as many of the same kinds each time"),
    ],
)
def test_what_a_module_must_not_do(tmp_path, text, said):
    """Instances that a program could remember, or kinds that come and go."""
    with pytest.raises(TaskError, match=re.escape(said)):
        judge(tmp_path, text=text)


def test_a_seed_whose_answers_are_refused_is_the_tasks_fault(tmp_path):
    """And not the candidate's."""
    with pytest.raises(TaskError, match=r"check\(\) refuses an answer of the task's own seed: solve\(\): not twice"):
        judge(tmp_path, honest=lambda numbers: [])


def test_what_is_timed_has_cores_of_its_own(tmp_path):
    """Whatever the task says; what is not timed has them where the task says so."""
    task = halving(tmp_path, HALVES + DOUBLES, deterministic=False)
    for settings, pinned in (({"mode": "speed"}, True), ({}, False)):
        ((stage, _),) = Benchmark(BenchmarkSettings(module="problem.py", **settings)).stages(task)
        assert stage.needs.pinned is pinned


def test_a_speed_is_never_deterministic(tmp_path):
    """Which is said before anything is evaluated."""
    benchmark = Benchmark(BenchmarkSettings(module="problem.py", mode="speed"))
    with pytest.raises(TaskError, match=r"evaluator\.mode: .*deterministic = true"):
        benchmark.stages(halving(tmp_path, DOUBLES))
