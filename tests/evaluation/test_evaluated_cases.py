"""Cases of a task: their mean is the fitness, and a program that is surely worse than its parent is stopped on the way."""

from dataclasses import replace

import numpy as np
import pytest
from judge_fakes import FakeBox, FakeClock, small_task

from evolve.evaluation import Job
from evolve.evaluation.cascade import evaluate_job, prepare
from evolve.evaluation.evaluator import evaluator
from evolve.types import Axis, Case, Constraint, Evaluation, Fitness, Outcome, Trial

TEN = tuple(Case(f"c{number}", {"n": float(number)}) for number in range(10))
JOB = Job("1.0", "evaluate", Trial(seed=7), {"seed.py": ""})


def evaluated(function, cases=TEN, job=JOB, **changes):
    """The evaluation of a job on a task with these cases."""
    task = replace(small_task(), cases=cases, **changes)
    made = function if hasattr(function, "stages") else evaluator(function)
    return evaluate_job(job, prepare(task, made, clock=FakeClock()), FakeBox({}).session).evaluation


def test_the_fitness_is_the_weighted_mean_over_the_cases():
    """Each is evaluated with its name and its parameters."""
    told = []

    def evaluate(candidate, trial):
        told.append((trial.case, trial.parameters["n"]))
        return Evaluation.ok(trial.parameters["n"], metrics={"twice": 2 * trial.parameters["n"]})

    found = evaluated(evaluate, (Case("one", {"n": 1.0}, weight=3.0), Case("five", {"n": 5.0})))
    assert sorted(told) == [("five", 5.0), ("one", 1.0)]
    assert (found.fitness, found.cases, found.metrics) == (2.0, {"one": 1.0, "five": 5.0}, {"twice": 4.0})


def test_cases_are_maximised_inside_and_their_mean_too():
    """As the fitness of a task that minimises."""
    found = evaluated(lambda candidate, trial: Evaluation.ok(trial.parameters["n"]), fitness=Fitness(direction="min"))
    assert found.fitness == -4.5
    assert found.cases["c9"] == -9.0


def test_what_the_task_asks_of_a_success_is_asked_of_all_cases_together():
    """A constraint holds for the mean of its metric, an axis takes the mean of the descriptors."""
    found = evaluated(
        lambda candidate, trial: Evaluation.ok(1.0, metrics={"ms": trial.parameters["n"]}, descriptors={"size": 3.0}),
        constraints=(Constraint("ms", at_most=4.0),),
        axes=(Axis("size", 0.0, 10.0, 5),),
    )
    assert (found.violation, found.descriptors) == (0.125, {"size": 3.0})


def test_a_failure_on_a_case_is_the_programs_and_names_the_case():
    """What was found before stays."""

    def evaluate(candidate, trial):
        return Evaluation.wrong("no") if trial.case == "c3" else Evaluation.ok(1.0)

    box = FakeBox({})
    task = replace(small_task(), cases=TEN)
    report = evaluate_job(JOB, prepare(task, evaluator(evaluate), clock=FakeClock()), box.session)
    assert report.evaluation.outcome is Outcome.WRONG
    assert report.texts[report.evaluation.feedback] == "Case 'c3': no"
    assert "c3" not in report.evaluation.cases


def test_only_the_last_stage_looks_at_cases():
    """A cheap stage before it is called once, with the task's own parameters."""
    told = []

    def first(candidate, trial):
        told.append(trial.case)
        return Evaluation.ok(1.0)

    made = evaluator(first)
    made.stage("full")(lambda candidate, trial: Evaluation.ok(trial.parameters["n"]))
    assert evaluated(made).fitness == 4.5
    assert told == [""]


def test_a_held_out_trial_is_one_evaluation_by_itself():
    """It is an instance of its own."""
    job = replace(JOB, trial=Trial(split="held_out"))
    found = evaluated(lambda candidate, trial: Evaluation.ok(float(trial.case == "")), job=job)
    assert (found.fitness, found.cases) == (1.0, {})


def worse_by(*gains):
    """A function whose results differ from the parent's 0 by these, in turn."""
    left = list(gains)
    return lambda candidate, trial: Evaluation.ok(left.pop(0))


RIVAL = {case.name: 0.0 for case in TEN}


@pytest.mark.parametrize(
    ("gains", "looked"),
    [
        ([-1.0] * 10, 4),
        ([-1.0, -1.1, -0.9, -1.0] + [-1.0] * 6, 4),
        ([-1.0, 1.0] * 5, 10),
        ([1.0] * 10, 10),
        ([0.0] * 10, 10),
        ([-1.0, -1.0, 2.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], 10),
    ],
    ids=["worse alike", "surely worse", "now and then", "better", "equal", "better once"],
)
def test_a_race_stops_a_program_that_is_surely_worse_than_its_parent(gains, looked):
    """After four cases at the earliest; one that is worse on most cases and much better on one goes on."""
    found = evaluated(worse_by(*gains), job=replace(JOB, rival=RIVAL))
    assert len(found.cases) == looked
    assert (found.outcome is Outcome.BELOW_THRESHOLD) == (looked < 10)


def test_a_race_seldom_stops_a_program_that_is_as_good_as_its_parent():
    """With gains drawn around 0 on forty cases: in at most a tenth of 400 races."""
    forty = tuple(Case(f"c{number}", {"n": float(number)}) for number in range(40))
    job = replace(JOB, rival={case.name: 0.0 for case in forty})
    rng = np.random.default_rng(0)
    stopped = sum(
        evaluated(worse_by(*rng.normal(size=40)), forty, job).outcome is Outcome.BELOW_THRESHOLD for _ in range(400)
    )
    assert stopped <= 40


@pytest.mark.parametrize(("gain", "looked"), [(-0.1, 2), (0.0, 2), (0.1, 10)])
def test_a_gate_wants_a_gain_on_its_cases_before_any_other_is_looked_at(gain, looked):
    """Equal is not better."""
    order = []

    def evaluate(candidate, trial):
        order.append(trial.case)
        return Evaluation.ok(gain)

    found = evaluated(evaluate, job=replace(JOB, rival=RIVAL, gate=("c7", "c2")))
    assert set(order[:2]) == {"c7", "c2"}
    assert len(found.cases) == looked


def test_programs_meet_the_cases_in_orders_of_their_own():
    """So that no case decides for all."""
    orders = set()
    for number in range(20):
        order = []
        evaluated(
            lambda candidate, trial, order=order: (order.append(trial.case), Evaluation.ok(1.0))[1],
            job=replace(JOB, id=f"{number}.0"),
        )
        orders.add(tuple(order))
    assert len(orders) > 15


def test_an_evaluator_of_a_task_with_cases_returns_none_of_its_own():
    """That is the evaluator's failure."""
    found = evaluated(lambda candidate, trial: Evaluation.ok(1.0, cases={"inner": 1.0}))
    assert found.outcome is Outcome.INTERNAL


def test_each_case_draws_for_itself():
    """Noise that all cases have in common would look like a difference between programs."""
    seeds = {}

    def evaluate(candidate, trial):
        seeds[trial.case] = trial.seed
        return Evaluation.ok(1.0)

    evaluated(evaluate)
    again, seeds = seeds, {}
    evaluated(evaluate)
    assert len(set(seeds.values())) == 10
    assert seeds == again
