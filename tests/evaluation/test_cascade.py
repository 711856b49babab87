"""From a job to a report: the cascade, and what becomes of everything that can happen in it."""

import json
import math
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from judge_fakes import FakeBox, FakeClock, failure, small_task

from evolve import task_module
from evolve.evaluation import Job
from evolve.evaluation.cascade import evaluate_job, prepare
from evolve.evaluation.device_allocator import Allocation
from evolve.evaluation.evaluator import evaluator
from evolve.sandbox.session import OUTCOME
from evolve.sandbox.status import Status
from evolve.types import (
    Axis,
    Constraint,
    Evaluation,
    Fitness,
    Grants,
    Limits,
    Needs,
    Objective,
    Outcome,
    Parameters,
    SandboxError,
    Stage,
    TaskError,
    Trial,
    text_id,
)

JOB = Job("1.0", "evaluate", Trial(seed=7), {"seed.py": ""})


def evaluated(function, *, job=JOB, box=None, task=None, marked=(), clock=None):
    """The report of `function` as a one-stage evaluator; `marked` are its further functions by name."""
    made = function if hasattr(function, "stages") else evaluator(function)
    for name, marked_function in dict(marked).items():
        getattr(made, name)(marked_function)
    ready = prepare(task or small_task(), made, "reduced: a fake", "python 0", clock or FakeClock())
    return evaluate_job(job, ready, (box or FakeBox({"answer": 1.0})).session)


class Sour(dict):
    """A mapping that fails where it is read."""

    def __iter__(self):
        raise RuntimeError("sour")

    keys = items = __iter__


def feedback(report):
    return report.texts[report.evaluation.feedback]


def test_an_ok_evaluation_carries_its_circumstances():
    """Stage, times, isolation, environment, trust; texts are ids."""
    report = evaluated(
        lambda candidate, trial: Evaluation.ok(candidate.call("answer"), feedback="fine", artifacts={"x": [1, 2]}),
        clock=FakeClock(step=1.0),
    )
    assert report.evaluation == Evaluation(
        Outcome.OK,
        fitness=1.0,
        feedback=text_id("fine"),
        artifacts={"x": text_id("[1,2]")},
        stage="evaluate",
        seconds=4.0,
        cpu_seconds=0.25,
        environment="python 0",
        isolation="reduced: a fake",
    )
    assert report.texts == {text_id("fine"): "fine", text_id("[1,2]"): "[1,2]"}


def test_too_much_feedback_is_cut_and_says_so():
    """The evaluation stands."""
    task = small_task(limits=Limits(feedback=5))
    report = evaluated(lambda candidate, trial: Evaluation.ok(1.0, feedback="aäaäaä"), task=task)
    assert (report.evaluation.fitness, feedback(report)) == (1.0, "aäa\n\n(4 more bytes of feedback were cut)")


@pytest.mark.parametrize(("limit", "outcome"), [(9, Outcome.INTERNAL), (10, Outcome.OK)])
def test_too_many_artifacts_are_refused_with_the_remedy(limit, outcome):
    """All together, as JSON; nothing of them is stored."""
    task = small_task(limits=Limits(artifacts=limit))
    report = evaluated(lambda candidate, trial: Evaluation.ok(1.0, artifacts={"x": [1, 2], "y": "abc"}), task=task)
    assert report.evaluation.outcome is outcome
    if outcome is Outcome.INTERNAL:
        assert "are 10 bytes as JSON, the largest is 'x', and 9 are kept at most. Try: keep less" in feedback(report)
        assert (report.evaluation.artifacts, len(report.texts)) == ({}, 1)


def test_no_feedback_is_no_text():
    """An empty text is not stored for every program."""
    report = evaluated(lambda candidate, trial: Evaluation.ok(1.0))
    assert (report.evaluation.feedback, report.texts) == ("", {})


def test_a_trial_has_the_tasks_parameters_and_the_stages_limit():
    """Parameters of the job override the task's."""
    seen = []

    def evaluate(candidate, trial):
        seen.append(trial)
        return Evaluation.ok(1.0)

    task = small_task(parameters={"n": 26, "side": 1.0}, stages=(Stage("evaluate", 5.0),))
    evaluated(evaluate, job=Job("1.0", "evaluate", Trial(seed=7, parameters=Parameters({"n": 29}))), task=task)
    assert seen == [Trial(seed=7, stage="evaluate", limit=5.0, parameters=Parameters({"n": 29, "side": 1.0}))]


@pytest.mark.parametrize(("direction", "inside"), [("max", 3.0), ("min", -3.0)])
def test_fitness_is_maximised_inside(direction, inside):
    """The evaluator speaks the user's language."""
    report = evaluated(
        lambda candidate, trial: Evaluation.ok(3.0), task=small_task(fitness=Fitness(direction=direction))
    )
    assert report.evaluation.fitness == inside


def test_objectives_are_maximised_inside_in_the_order_of_the_task():
    """A failure has none."""
    task = small_task(objectives=(Objective("length"), Objective("seconds", "min")))
    told = {"seconds": 3, "length": 2}
    report = evaluated(lambda candidate, trial: Evaluation.ok(1.0, objectives=told), task=task)
    assert list(report.evaluation.objectives.items()) == [("length", 2.0), ("seconds", -3.0)]
    failed = Evaluation(Outcome.WRONG, objectives=told)
    assert evaluated(lambda candidate, trial: failed, task=task).evaluation.objectives == {}


def test_only_the_last_stage_must_know_all_that_the_task_asks_for():
    """A cheap first look knows neither descriptors nor objectives; alone, it is the last one."""
    full = Evaluation.ok(2.0, descriptors={"walls": 1}, objectives={"length": 2}, metrics={"memory": 3})
    cascade = evaluator(lambda candidate, trial: Evaluation.ok(1.0))
    cascade.stage("full")(lambda candidate, trial: full)
    task = small_task(
        axes=(Axis("walls", 0, 26, 14),),
        objectives=(Objective("length"),),
        constraints=(Constraint("memory", at_most=2.0),),
        stages=(Stage("evaluate"), Stage("full")),
    )
    found = evaluated(cascade, task=task).evaluation
    assert (found.outcome, found.stage, found.violation) == (Outcome.OK, "full", 0.5)
    alone = evaluated(cascade, task=task, job=replace(JOB, stage="evaluate")).evaluation
    assert alone.outcome is Outcome.INVALID


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_a_failed_session_becomes_its_outcome(status):
    """With the message, and the end of what the program printed."""
    box = FakeBox({"answer": failure(status, "it went wrong")}, log="x" * 3000 + " last words\n")
    report = evaluated(lambda candidate, trial: candidate.call("answer"), box=box)
    assert report.evaluation.outcome is OUTCOME[status]
    assert report.evaluation.cpu_seconds == 0.25
    assert feedback(report).startswith("it went wrong\n\nThe program's last output:\nx")
    assert feedback(report).endswith("last words")


def test_a_failed_session_without_output_has_its_message_alone():
    """No empty heading."""
    report = evaluated(
        lambda candidate, trial: candidate.call("answer"), box=FakeBox({"answer": failure(message="no")})
    )
    assert feedback(report) == "no"


def test_an_evaluator_may_survive_a_failed_session():
    """An instance that fails may count as the baseline."""

    def evaluate(candidate, trial):
        with pytest.raises(type(failure())):
            candidate.call("answer")
        return Evaluation.ok(0.0)

    assert evaluated(evaluate, box=FakeBox({"answer": failure()})).evaluation.fitness == 0.0


def test_an_evaluator_that_raises_is_internal_with_its_traceback():
    """Never the program's failure."""

    def evaluate(candidate, trial):
        return {}["centres"]

    report = evaluated(evaluate)
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert feedback(report).startswith("the evaluator raised KeyError: 'centres'")
    assert "in evaluate" in feedback(report)


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RecursionError("too deep"), OverflowError("too large"), UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_an_evaluator_that_an_answer_has_provoked_is_internal_with_what_to_check(error):
    """The judge cannot tell what the program would have been worth."""

    def evaluate(candidate, trial):
        raise error

    report = evaluated(evaluate)
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert f"the evaluator raised {type(error).__name__}" in feedback(report)
    assert "Try: look at the type, the length or shape, and the size" in feedback(report)


def test_a_task_module_that_an_answer_has_provoked_says_what_and_where(tmp_path, monkeypatch):
    """With the traceback, down to the neighbour that has raised, and with what to check."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "judging_neighbour.py").write_text("def size(answer):\n    return float(answer)\n")
    (tmp_path / "problem.py").write_text(
        "import judging_neighbour\ndef check(answer):\n    return judging_neighbour.size(answer)\n"
    )
    module = task_module(tmp_path, "problem.py", {"check": "(answer)"})
    said = feedback(evaluated(lambda candidate, trial: module.call("check", 10**400)))
    begins = f"{tmp_path}/problem.py: check() raised OverflowError: int too large to convert to float (judging_neighbour.py, line 2). Try: look at the type"
    assert said.startswith(begins)
    assert "judging_neighbour.py" in said
    assert "return float(answer)" in said


def test_an_error_that_cannot_be_said_is_reported():
    """It must not end the judge."""

    def evaluate(candidate, trial):
        raise ValueError(10**5000)

    report = evaluated(evaluate)
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert feedback(report).startswith("the evaluator raised ValueError:\n")


@pytest.mark.parametrize(
    ("function", "outcome", "message"),
    [
        (lambda candidate, trial: "good", Outcome.INTERNAL, "returned a str, wanted an Evaluation"),
        (lambda candidate, trial: Evaluation.ok(math.nan), Outcome.INVALID, "the fitness is nan, not a finite number"),
        (lambda candidate, trial: Evaluation(Outcome.OK, fitness=True), Outcome.INTERNAL, "fitness is a bool"),
        (
            lambda candidate, trial: Evaluation.ok(1.0, descriptors={"a": math.inf}),
            Outcome.INVALID,
            "descriptor 'a' is inf",
        ),
        (lambda candidate, trial: Evaluation.wrong("too wide"), Outcome.WRONG, "too wide"),
        (lambda candidate, trial: Evaluation.invalid("25 pairs"), Outcome.INVALID, "25 pairs"),
        (
            lambda candidate, trial: Evaluation.ok(1.0, artifacts={"x": {1}}),
            Outcome.INTERNAL,
            "artifact 'x' cannot be stored",
        ),
        (
            lambda candidate, trial: Evaluation(Outcome.OK, fitness=1.0, metrics=Sour()),
            Outcome.INTERNAL,
            "raised RuntimeError: sour",
        ),
        (
            lambda candidate, trial: Evaluation.ok(1.0, artifacts={"x": Sour(a=1)}),
            Outcome.INTERNAL,
            "raised RuntimeError: sour",
        ),
        (lambda candidate, trial: exit(3), Outcome.INTERNAL, "raised SystemExit: 3"),
        (lambda candidate, trial: Evaluation.wrong("\ud800"), Outcome.WRONG, "?"),
    ],
)
def test_whatever_an_evaluator_does_is_reported(function, outcome, message):
    """With the stage in which it happened."""
    report = evaluated(function)
    assert (report.evaluation.outcome, report.evaluation.stage) == (outcome, "evaluate")
    assert message in feedback(report)


def test_a_missing_axis_makes_a_program_invalid():
    """The archive would not know where to put it."""
    report = evaluated(lambda candidate, trial: Evaluation.ok(1.0), task=small_task(axes=(Axis("walls", 0, 26, 14),)))
    assert report.evaluation.outcome is Outcome.INVALID
    assert "'walls'" in feedback(report)


def cascade(first, second, threshold=None):
    made = evaluator(lambda candidate, trial: Evaluation.ok(candidate.call("answer") * first, feedback="quick look"))
    made.stage("full", threshold=threshold)(lambda candidate, trial: Evaluation.ok(candidate.call("answer") * second))
    return made


def test_a_cascade_ends_with_its_last_stage():
    """Its fitness counts; the processor time is that of all stages."""
    report = evaluated(cascade(1.0, 2.0, threshold=1.0))
    assert (report.evaluation.fitness, report.evaluation.stage, report.evaluation.cpu_seconds) == (2.0, "full", 0.5)


@pytest.mark.parametrize(
    ("direction", "threshold", "outcome"),
    [
        ("max", 1.5, Outcome.BELOW_THRESHOLD),
        ("max", 0.5, Outcome.OK),
        ("min", 1.5, Outcome.OK),
        ("min", 0.5, Outcome.BELOW_THRESHOLD),
    ],
)
def test_a_threshold_is_reached_in_the_users_direction(direction, threshold, outcome):
    """The first stage finds 1.0."""
    report = evaluated(cascade(1.0, 2.0, threshold), task=small_task(fitness=Fitness(direction=direction)))
    assert report.evaluation.outcome is outcome


@pytest.mark.parametrize(
    ("direction", "wanted", "outcome"),
    [
        ("max", 1.0, Outcome.OK),
        ("max", 1.1, Outcome.BELOW_THRESHOLD),
        ("min", -1.0, Outcome.OK),
        ("min", -0.9, Outcome.BELOW_THRESHOLD),
    ],
)
def test_a_relative_threshold_is_what_the_job_says_it_comes_to(direction, wanted, outcome):
    """In the maximised direction; the judge knows no other program."""
    job = Job("1.0", "evaluate", files={"seed.py": ""}, wanted={"evaluate": wanted})
    task = small_task(fitness=Fitness(direction=direction))
    report = evaluated(cascade(1.0, 2.0, "top 30%"), job=job, task=task)
    assert report.evaluation.outcome is outcome
    assert report.evaluation.passed == {"evaluate": task.fitness.inside(1.0)}


def test_a_relative_threshold_is_named_in_the_feedback():
    """With the share, and what it came to."""
    job = Job("1.0", "evaluate", files={"seed.py": ""}, wanted={"evaluate": 1.5})
    report = evaluated(cascade(1.0, 2.0, "top 30%"), job=job)
    assert feedback(report).splitlines()[0] == (
        "stage 'evaluate' found a fitness of 1; the next stage wants at least 1.5, the top 30% of what it found before"
    )


def test_an_ungated_job_passes_every_threshold():
    """A held-out case has values of another size."""
    job = Job("1.0", "evaluate", files={"seed.py": ""}, ungated=True, wanted={"evaluate": 9.0})
    report = evaluated(cascade(1.0, 2.0, 9.0), job=job)
    assert (report.evaluation.fitness, report.evaluation.stage) == (2.0, "full")


def test_below_a_threshold_the_stage_the_value_and_the_threshold_are_named():
    """And the stage's own feedback follows."""
    report = evaluated(cascade(1.0, 2.0, threshold=1.5))
    assert report.evaluation.stage == "evaluate"
    expected = "stage 'evaluate' found a fitness of 1; the next stage wants at least 1.5\n\nquick look"
    assert feedback(report) == expected


@pytest.mark.parametrize(("limit", "given", "noted"), [(0.0, 20.0, 0.0), (2.0, 2.0, 2.0), (30.0, 20.0, 0.0)])
def test_a_job_may_have_less_time_than_its_stage(limit, given, noted):
    """A program that times out under a shorter limit is told from one that had all of its stage's time; the trial says the stage's limit."""
    box, trials = FakeBox({"answer": failure(Status.TIMEOUT)}), []

    def evaluate(candidate, trial):
        trials.append(trial.limit)
        return Evaluation.ok(candidate.call("answer"))

    task = small_task(stages=(Stage("evaluate", 20.0),))
    report = evaluated(evaluate, job=replace(JOB, limit=limit), box=box, task=task)
    assert (report.evaluation.outcome, report.evaluation.limit) == (Outcome.TIMED_OUT, noted)
    assert (trials, box.opened) == ([20.0], [pytest.approx(given)])


def test_a_failure_ends_the_cascade():
    """The second stage is not run."""
    box = FakeBox({"answer": failure(Status.TIMEOUT)})
    report = evaluated(cascade(1.0, 2.0), box=box)
    assert (report.evaluation.outcome, report.evaluation.stage, len(box.opened)) == (Outcome.TIMED_OUT, "evaluate", 1)


def test_one_stage_can_be_judged_alone():
    """No threshold applies; an unknown one is an error of the asking side."""
    alone = evaluated(cascade(1.0, 2.0, threshold=9.0), job=Job("1.0", "evaluate", files={"seed.py": ""}, stage="full"))
    assert (alone.evaluation.fitness, alone.evaluation.stage) == (2.0, "full")
    unknown = evaluated(cascade(1.0, 2.0), job=Job("1.0", "evaluate", stage="fulll"))
    assert unknown.evaluation.outcome is Outcome.INTERNAL
    assert "Did you mean 'full'" in feedback(unknown)


def test_a_cascade_that_cannot_run_is_refused_at_once():
    """No stage at all, or a threshold that nothing reads."""

    class Empty:
        def stages(self, task):
            return ()

    with pytest.raises(TaskError, match="has no stage"):
        prepare(small_task(), Empty())
    with pytest.raises(TaskError, match=r"'evaluate' is the last, and nothing reads its threshold, 0\.5"):
        prepare(small_task(stages=(Stage("evaluate", threshold=0.5),)), evaluator(lambda candidate, trial: None))


def nothing(candidate, trial):
    return Evaluation.ok(1.0)


ARTIFACTS = {"x": json.dumps([[0.5, 0.25]])}


def computed(kind, task=None, **marked):
    return evaluated(nothing, job=Job("1.0", kind, artifacts=ARTIFACTS), marked=marked, task=task)


def test_certify_gives_the_exact_value_and_the_fingerprint():
    """From the stored artifacts, without the program; axes are no matter."""
    task = small_task(axes=(Axis("walls", 0, 26, 14),), fitness=Fitness(direction="min"))
    report = computed(
        "certify",
        task=task,
        certify=lambda artifacts, trial: Evaluation.ok(artifacts["x"][0][0], artifacts={"certificate": trial.stage}),
        fingerprint=lambda artifacts, trial: f"basin {artifacts['x'][0][1]}",
    )
    found = report.evaluation
    assert (found.outcome, found.fitness, found.certified, found.fingerprint, found.stage) == (
        Outcome.OK,
        -0.5,
        True,
        "basin 0.25",
        "certify",
    )
    assert report.texts[found.artifacts["certificate"]] == '"certify"'


def test_certify_needs_no_fingerprint():
    """An evaluator may have the one without the other."""
    found = computed("certify", certify=lambda artifacts, trial: Evaluation.ok(2.0)).evaluation
    assert (found.certified, found.fingerprint) == (True, "")


@pytest.mark.parametrize(
    ("certify", "fingerprint", "outcome", "message"),
    [
        (lambda a, t: Evaluation.wrong("overlap"), lambda a, t: "b", Outcome.WRONG, "overlap"),
        (lambda a, t: a["y"], lambda a, t: "b", Outcome.INTERNAL, "raised KeyError: 'y'"),
        (lambda a, t: 2.0, lambda a, t: "b", Outcome.INTERNAL, "returned a float"),
        (lambda a, t: Evaluation.ok(2.0), lambda a, t: a["y"], Outcome.INTERNAL, "raised KeyError: 'y'"),
        (lambda a, t: Evaluation.ok(2.0), lambda a, t: 3, Outcome.INTERNAL, "fingerprint returned a int"),
    ],
)
def test_a_certificate_that_fails_is_none(certify, fingerprint, outcome, message):
    """Whichever part of it failed."""
    report = computed("certify", certify=certify, fingerprint=fingerprint)
    assert (report.evaluation.outcome, report.evaluation.certified) == (outcome, False)
    assert message in feedback(report)


def test_a_picture_is_drawn_and_nothing_is_judged():
    """The evaluation says so, instead of inventing a fitness."""
    report = computed("draw", draw=lambda artifacts, trial: f"<svg>{artifacts['x'][0][0]}</svg>")
    assert (report.drawing, report.evaluation.outcome) == ("<svg>0.5</svg>", Outcome.SCREENED)


def test_a_fingerprint_is_taken_alone():
    """It stands in the evaluation."""
    report = computed("fingerprint", fingerprint=lambda artifacts, trial: "basin")
    assert (report.evaluation.fingerprint, report.evaluation.outcome) == ("basin", Outcome.SCREENED)


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        ({}, "cannot draw. Try: mark a function with @evaluate.draw"),
        ({"draw": lambda artifacts, trial: b"<svg/>"}, "draw returned a bytes, wanted a text"),
        ({"draw": lambda artifacts, trial: 1 / 0}, "raised ZeroDivisionError"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_internal(marked, message):
    """And says why."""
    report = computed("draw", **marked)
    assert (report.evaluation.outcome, report.drawing) == (Outcome.INTERNAL, "")
    assert message in feedback(report)


def test_arrays_from_a_candidate_can_be_artifacts():
    """They come back to certify as lists."""
    report = evaluated(
        lambda candidate, trial: Evaluation.ok(1.0, artifacts={"x": candidate.call("answer")}),
        box=FakeBox({"answer": np.ones((2, 2))}),
    )
    assert list(report.texts.values()) == ["[[1.0,1.0],[1.0,1.0]]"]


def test_a_sandbox_that_does_not_start_is_internal_in_its_own_words():
    """Neither the program's failure nor the evaluator's."""

    def closed(program, seconds, job):
        raise SandboxError("no process can be started")

    report = evaluate_job(
        JOB, prepare(small_task(), evaluator(lambda candidate, trial: candidate.call("answer"))), closed
    )
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert feedback(report) == "no process can be started"


class Leasing:
    """Gives each stage a seat that it had to wait `seconds` for, on the clock, and remembers what stages needed."""

    def __init__(self, clock=None, seconds=0.0, error=None):
        self.clock, self.seconds, self.error = clock, seconds, error
        self.taken, self.open = [], 0

    @contextmanager
    def __call__(self, stage):
        if self.error and self.taken:
            raise self.error
        self.taken.append((stage.name, stage.needs))
        self.open += 1
        if self.clock:
            self.clock.now += self.seconds
        yield Allocation("Fake GPU", self.seconds, f"conditions of {stage.name}")
        self.open -= 1


def leased(function, take, task, clock=None):
    """The report of an evaluator whose stages lease by `take`."""
    ready = prepare(task, function, "reduced: a fake", "python 0", clock or FakeClock())
    return evaluate_job(JOB, ready, FakeBox({"answer": 1.0}).session, take).evaluation


def test_each_stage_takes_its_devices_right_before_it_runs_and_gives_them_back_after():
    """What the last one had is told; a trial says what it runs on."""
    seen, take = [], Leasing()

    def stage(candidate, trial):
        seen.append((trial.stage, trial.device, take.open))
        return Evaluation.ok(1.0)

    cascade = evaluator(stage)
    cascade.stage("full")(stage)
    task = small_task(stages=(Stage("evaluate"), Stage("full", needs=Needs(exclusive=True))))
    found = leased(cascade, take, task)
    assert seen == [("evaluate", "Fake GPU", 1), ("full", "Fake GPU", 1)]
    assert take.taken == [("evaluate", Needs()), ("full", Needs(exclusive=True))]
    assert (found.device, found.environment, take.open) == ("Fake GPU", "python 0; conditions of full", 0)


def test_waiting_for_devices_counts_neither_for_the_stage_nor_for_the_job():
    """The stage has all its time when it begins."""
    clock = FakeClock(step=1.0)
    limits = []

    def evaluate(candidate, trial):
        with candidate.session():
            pass
        limits.append(clock.now)
        return Evaluation.ok(1.0)

    found = leased(evaluator(evaluate), Leasing(clock, 500.0), small_task(), clock)
    assert found.outcome is Outcome.OK
    assert found.seconds < 10


def test_a_machine_that_cannot_give_what_a_stage_needs_is_nobodys_fault():
    """The program is evaluated by nothing; the message says what to do."""
    cascade = evaluator(lambda candidate, trial: Evaluation.ok(1.0))
    cascade.stage("full")(lambda candidate, trial: Evaluation.ok(1.0))
    task = small_task(stages=(Stage("evaluate"), Stage("full")))
    found = leased(cascade, Leasing(error=SandboxError("no GPU. Try: buy one")), task)
    assert (found.outcome, found.stage) == (Outcome.INTERNAL, "full")


def test_a_stage_that_the_tasks_file_does_not_name_needs_the_gpus_that_it_grants():
    """Who grants some means to use them."""
    cascade = evaluator(lambda candidate, trial: Evaluation.ok(1.0))
    cascade.stage("full")(lambda candidate, trial: Evaluation.ok(1.0))
    take = Leasing()
    leased(cascade, take, small_task(limits=Limits(grants=Grants(gpu=2)), stages=(Stage("evaluate"),)))
    assert take.taken == [("evaluate", Needs()), ("full", Needs(gpus=2))]


def test_what_an_evaluator_says_that_its_stage_needs_stands():
    """A plugin's may know better than the task's file, which does not name the stage."""
    timed = Stage("timed", needs=Needs(cores=2))

    class OfPlugin:
        def stages(self, task):
            return [(timed, lambda candidate, trial: Evaluation.ok(1.0))]

        def functions(self, task):
            return {}

    take = Leasing()
    leased(OfPlugin(), take, small_task(limits=Limits(grants=Grants(gpu=2))))
    assert take.taken == [("timed", Needs(cores=2))]


@pytest.mark.parametrize(("least", "outcome"), [(0.5, Outcome.OK), (2.0, Outcome.BELOW_THRESHOLD)])
def test_what_a_stage_has_tagged_stays_tagged(least, outcome):
    """Whatever the next one says, and where there is none; the evaluation keeps its outcome."""
    made = evaluator(lambda candidate, trial: Evaluation.ok(1.0, tag="late write"))
    made.stage("full", threshold=least)(lambda candidate, trial: Evaluation.ok(3.0))
    evaluation = evaluated(made).evaluation
    assert (evaluation.outcome, evaluation.tag) == (outcome, "late write")


@pytest.mark.parametrize("trust", ["witnessed", "rescored", "claimed"])
def test_an_evaluator_says_how_little_its_score_is_worth(trust):
    """What it does not say is witnessed."""
    report = evaluated(lambda candidate, trial: Evaluation.ok(1.0, trust=trust))
    assert (report.evaluation.trust, report.evaluation.outcome) == (trust, Outcome.OK)


@pytest.mark.parametrize("trust", ["certain", "", None, 1])
def test_a_trust_that_there_is_not_is_the_evaluators_fault(trust):
    """With those that there are."""
    report = evaluated(lambda candidate, trial: Evaluation.ok(1.0, trust=trust))
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert "use one of 'witnessed', 'rescored', 'claimed'" in feedback(report)


def test_what_is_claimed_is_never_certified():
    """A certificate is computed by the judge."""
    job = Job("1.0", "certify", artifacts={"x": "1"})
    marked = {"certify": lambda artifacts, trial: Evaluation.ok(1.0, trust="claimed")}
    report = evaluated(lambda candidate, trial: Evaluation.ok(1.0), job=job, marked=marked)
    assert (report.evaluation.outcome, report.evaluation.certified) == (Outcome.INTERNAL, False)
    assert "certified what is claimed" in feedback(report)
