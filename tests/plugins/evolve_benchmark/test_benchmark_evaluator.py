"""Facts about how the evaluator `benchmark` scores a function; its sessions are played in this process."""

from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import pytest
from benchmark_problems import HALVES, evaluated, halving

from evolve import SessionFailed
from evolve.sandbox.status import Status
from evolve.testing import RehearsedCandidate, check_evaluator
from evolve.types import Objective, Outcome, Parameters, Stage, TaskError, Trial
from evolve_benchmark import quality
from evolve_benchmark.evaluator import Benchmark
from evolve_benchmark.settings import BenchmarkSettings


def test_it_passes_the_suite_for_evaluators(tmp_path):
    """With a task that has its module."""
    check_evaluator(lambda: Benchmark(BenchmarkSettings(module="problem.py")), halving(tmp_path))


def test_the_best_answers_score_one(tmp_path):
    """Each is worth its reference; the program's size is a descriptor."""
    found = evaluated(halving(tmp_path), lambda number: number / 2)
    assert (found.outcome, found.fitness) == (Outcome.OK, 1.0)
    assert found.descriptors == {"worst": 1.0, "log2_bytes": 6.0}
    assert found.metrics == {}
    assert found.standard_error is None


def test_each_kind_weighs_the_same(tmp_path):
    """Two small numbers are halved well, four large ones half as well: 0.75, whatever their number."""
    found = evaluated(halving(tmp_path), lambda number: number / 2 if number < 10 else number / 4)
    assert found.fitness == pytest.approx(0.75)
    assert found.descriptors["worst"] == pytest.approx(0.5)
    assert [row["kind"] for row in found.artifacts["instances"]] == ["small"] * 2 + ["large"] * 4


def test_the_harmonic_mean_is_pulled_down(tmp_path):
    """By the kind that is worse."""
    found = evaluated(halving(tmp_path), lambda number: number / 2 if number < 10 else number / 4, mean="harmonic")
    assert found.fitness == pytest.approx(2 / 3)


def test_the_feedback_shows_the_worst_first(tmp_path, monkeypatch):
    """As many as are wanted."""
    monkeypatch.setattr(quality, "ROWS", 5)
    feedback = evaluated(halving(tmp_path), lambda number: number / 2 if number < 4 else number / 4).feedback
    lines = [line for line in feedback.splitlines() if line.startswith("|")][2:]
    assert len(lines) == 5
    assert all("| 0.5 |" in line for line in lines)
    assert "And 1 more, each with a score of 1 or better." in feedback


@pytest.mark.parametrize("answer", [None, True, -1.0, float("nan"), 10, 1e9])
def test_an_answer_that_is_none_makes_the_program_invalid(tmp_path, answer):
    """One is enough."""
    found = evaluated(halving(tmp_path), lambda number: answer if number == 4.0 else number / 2)
    assert found.outcome is Outcome.INVALID
    assert found.feedback.startswith("solve(): ")


def test_a_score_that_is_impossible_is_wrong(tmp_path):
    """By the bound for each instance."""
    task = halving(tmp_path, HALVES.replace("instance / 2", "instance / 4"))
    assert evaluated(task, lambda number: number / 2).fitness == 2.0
    found = evaluated(task, lambda number: number / 2, at_most=1.0)
    assert (found.outcome, "nothing can score more than 1.0" in found.feedback) == (Outcome.WRONG, True)


def test_two_answers_to_one_question_are_wrong(tmp_path):
    """In a deterministic task; in another one they are noise."""
    calls = []

    def changing(number):
        calls.append(number)
        return number / (2 + len(calls))

    assert evaluated(halving(tmp_path), changing).outcome is Outcome.WRONG
    assert evaluated(halving(tmp_path, deterministic=False), changing).outcome is Outcome.OK
    assert evaluated(halving(tmp_path), changing, recall=0).outcome is Outcome.OK


def test_equal_trials_see_equal_instances(tmp_path):
    """And other trials others, with a standard error where a task is noisy."""
    task = halving(tmp_path, deterministic=False)
    one, same, other = (evaluated(task, lambda number: 50.0 if number > 50 else number / 4, seed) for seed in (1, 1, 2))
    assert one == same
    assert one.fitness != other.fitness
    assert one.standard_error > 0


class Slow(RehearsedCandidate):
    """Late with numbers above 50."""

    def call(self, function, *arguments, seconds=None, **keywords):
        if arguments[0] > 50 and seconds == 0.5:
            raise SessionFailed(Status.TIMEOUT, "late")
        return arguments[0] / 2

    @contextmanager
    def session(self, seconds=None):
        yield self


def timed(task, candidate, **settings):
    """In the mode with a limit for each call."""
    chosen = BenchmarkSettings(module="problem.py", mode="quality at time", seconds=0.5, **settings)
    ((_, evaluate),) = Benchmark(chosen).stages(task)
    return evaluate(candidate, Trial(parameters=Parameters()))


def test_what_is_late_counts_as_the_trivial_answer(tmp_path):
    """A quarter of the half; the others count as they are."""
    found = timed(halving(tmp_path), Slow({}), late=0.7)
    assert found.fitness == pytest.approx((1 + 0.25) / 2)
    assert found.metrics == {"late": 4}
    assert found.feedback.count("late: counts as the trivial answer") == 4


def test_too_many_late_answers_are_the_programs_failure(tmp_path):
    """Four of six are more than a fifth."""
    with pytest.raises(SessionFailed, match="late"):
        timed(halving(tmp_path), Slow({}))


def test_a_bad_answer_is_worth_no_less_than_a_late_one(tmp_path):
    """So that nobody is better off by being late."""
    found = timed(halving(tmp_path), RehearsedCandidate({"solve": lambda number: number / 1000}))
    assert found.fitness == pytest.approx(0.25)


def test_a_late_answer_to_a_recalled_question_is_no_contradiction(tmp_path):
    """Small numbers are answered alike, and large ones twice late."""
    found = timed(halving(tmp_path), Slow({}), late=0.7, recall=6)
    assert found.outcome is Outcome.OK


def test_objectives_and_metrics_are_the_modules(tmp_path):
    """Objectives as means over all instances."""
    more = """
def objectives(instance, answer):
    return {"share": answer / instance}


def metrics(measured):
    return {"perfect": sum(one.score == 1 for one in measured)}


def label(instance):
    return f"of {instance:g}"


def arguments(instance):
    return (instance, "half")
"""
    task = halving(tmp_path, HALVES + more, objectives=(Objective("share"),))
    found = evaluated(task, lambda number, what: number / 2 if what == "half" else 0.0)
    assert found.objectives == {"share": 0.5}
    assert found.metrics == {"perfect": 6}
    assert "| 1 small of 2 | 1 |" in found.feedback


def test_exact_values_have_an_exact_mean(tmp_path):
    """Six sixths of a third are a third; floats would not be."""
    text = HALVES.replace("return instance / 2", "return Fraction(1)").replace(
        "return min(answer, instance - answer) or 1e-9", "return Fraction(3)"
    )
    task = halving(tmp_path, f"from fractions import Fraction\n{text}")
    assert evaluated(task, lambda number: number / 2, better="smaller").fitness == float(Fraction(1, 3))


def test_the_task_file_limits_the_stage(tmp_path):
    """As it does for every evaluator."""
    task = halving(tmp_path, stages=(Stage("evaluate", 7.0),))
    assert [stage for stage, _ in Benchmark(BenchmarkSettings(module="problem.py")).stages(task)] == [
        Stage("evaluate", 7.0)
    ]
    with pytest.raises(TaskError, match="names stage 'full'"):
        Benchmark(BenchmarkSettings(module="problem.py")).stages(replace(task, stages=(Stage("full"),)))
