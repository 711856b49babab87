"""Facts about how `step_functions` judges a program, by its evaluator alone and through the whole judge."""

import contextlib
import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pytest
import step_samples
from task_files import judging_files

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.task import load
from evolve.types import Carried, Evaluation, EvolveError, Outcome, Parameters, Trial

TASK = load("step_functions")


FILES = judging_files("step_functions")
judging, exact = FILES.evaluator, FILES.exact


class Answering:
    """A candidate that answers `construct()`; `given` is what it was asked with."""

    def __init__(self, answer: object, cpu_seconds: float = 0.01) -> None:
        self.answer = answer
        self.cpu_seconds = cpu_seconds
        self.given: tuple[Any, ...] = ()

    def call(self, function: str, *arguments: object, seconds: float) -> object:
        assert function == "construct"
        assert seconds > arguments[2]
        self.given = arguments
        return self.answer


def trial(carried: object = None, **parameters: Any) -> Trial:
    """Four steps of c2, unless it is told otherwise."""
    told = {**TASK.parameters, "n": 4, **parameters}
    return Trial(seed=7, parameters=Parameters(told), carried=Carried({} if carried is None else {"steps": carried}))


def evaluated(answer: object, told: Trial, cpu_seconds: float = 0.01) -> Evaluation:
    return judging.evaluate(Answering(answer, cpu_seconds), told)


def stored(evaluation: Evaluation) -> Any:
    """Artifacts as they come back from the log."""
    return json.loads(json.dumps(dict(evaluation.artifacts)))


def function(name: str) -> Any:
    return judging.evaluate.functions(TASK)[name]


def test_an_evaluation_has_the_ratio_and_a_descriptor_for_every_axis() -> None:
    """And the steps as they were repaired."""
    evaluation = evaluated([1, 2, 0, -1], trial())
    assert (evaluation.outcome, evaluation.fitness) == (Outcome.OK, pytest.approx(43 / 54))
    assert evaluation.descriptors == {"zeros": 0.5, "asymmetry": pytest.approx(1 / 3)}
    assert evaluation.metrics == {"ratio": evaluation.fitness, "active_knots": 2}
    assert stored(evaluation) == {"steps": [0.25, 0.5, 0.0, 0.0]}
    assert {axis.name for axis in TASK.axes} == set(evaluation.descriptors)


@pytest.mark.parametrize(("kind", "ratio"), [("c1", 2.0), ("c3abs", 2.0), ("erdos", 0.5)])
def test_a_kind_that_is_minimised_is_scored_with_a_minus(kind: str, ratio: float) -> None:
    """So that one direction serves all; the metric has it without."""
    evaluation = evaluated([0.5] * 4, trial(kind=kind))
    assert (evaluation.fitness, evaluation.metrics["ratio"]) == (-ratio, ratio)
    assert function("certify")(stored(evaluation), trial(kind=kind)).fitness == -ratio


def test_a_program_is_told_what_is_wanted() -> None:
    """Kind, number of steps, seconds, a seed, and no construction where there is none."""
    candidate = Answering([1.0] * 4)
    judging.evaluate(candidate, trial())
    assert candidate.given == ("c2", 4, 0.5, 7, None)


def test_what_the_parent_left_is_repaired_and_handed_on() -> None:
    """And what it was worth stands beside the score."""
    candidate, told = Answering([1, 2, 0, 0]), trial(carried=[4.0, 4.0, -1.0, 1e-30])
    evaluation = judging.evaluate(candidate, told)
    assert candidate.given[-1] == [0.5, 0.5, 0.0, 0.0]
    assert evaluation.metrics["carried"] == pytest.approx(2 / 3)
    assert evaluation.metrics["gain"] == pytest.approx(43 / 54 - 2 / 3)
    assert "It was given a construction with 0.66666666666" in evaluation.feedback


def test_a_gain_of_a_minimised_kind_is_positive() -> None:
    """From a c1 of 4 to one of 2."""
    evaluation = evaluated([1.0] * 4, trial(carried=[1.0, 1.0, 0.0, 0.0], kind="c1"))
    assert evaluation.metrics["gain"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    "carried",
    [[1.0] * 5, [], [1.0, float("nan"), 1.0, 1.0], [True] * 4, "steps", {"0": 1.0}, [0.0] * 4, [-1.0] * 4, 3],
)
def test_what_the_parent_left_is_not_trusted(carried: object) -> None:
    """Of another size or form it is as if there were none."""
    candidate = Answering([1.0] * 4)
    evaluation = judging.evaluate(candidate, trial(carried=carried))
    assert candidate.given[-1] is None
    assert "carried" not in evaluation.metrics


def test_a_construction_of_another_kind_serves_where_it_can_be_repaired() -> None:
    """Signed steps lose their negative part; what is not half full does not become `erdos`."""
    signed, full = Answering([1.0] * 4), Answering([0.5] * 4)
    judging.evaluate(signed, trial(carried=[-0.5, 0.5, 0.5, 0.0]))
    judging.evaluate(full, trial(carried=[1.0, 1.0, 1.0, 0.95], kind="erdos"))
    assert (signed.given[-1], full.given[-1]) == ([0.0, 0.5, 0.5, 0.0], None)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        [1.0] * 3,
        [1.0] * 5,
        [1.0, float("nan"), 1.0, 1.0],
        [True] * 4,
        ["1.0"] * 4,
        [0.0] * 4,
        [-1.0] * 4,
        {"ratio": 1.0},
    ],
)
def test_an_answer_of_another_form_is_invalid_with_a_reason(answer: object) -> None:
    """It is the program's failure, not the judge's."""
    evaluation = evaluated(answer, trial())
    assert (evaluation.outcome, evaluation.fitness) == (Outcome.INVALID, None)
    assert "step" in evaluation.feedback or "numbers" in evaluation.feedback


def test_a_program_that_takes_too_long_has_failed() -> None:
    """By processor time, so that a busy machine harms nobody; a little more than the limit is forgiven."""
    assert evaluated([1.0] * 4, trial(limit=0.5), cpu_seconds=0.9).outcome is Outcome.OK
    late = evaluated([1.0] * 4, trial(limit=0.5), cpu_seconds=1.1)
    assert late.outcome is Outcome.TIMED_OUT
    assert late.feedback == "construct() used 1.10 s of processor time; its limit is 0.5 s"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kind": "c4"}, "there is no kind 'c4'"),
        ({"n": 0}, "n is 0"),
        ({"n": 2.5}, "n is 2.5"),
        ({"limit": 0}, "limit is 0"),
    ],
)
def test_parameters_that_nothing_can_be_built_for_are_refused(parameters: Mapping[str, Any], message: str) -> None:
    """With the remedy, before the program runs."""
    with pytest.raises(EvolveError, match=f"{message}.* Do: --set task"):
        evaluated([1.0] * 4, trial(**parameters))


@pytest.mark.parametrize("kind", step_samples.KINDS)
def test_a_certified_value_is_exact_and_near_the_screened_one(kind: str) -> None:
    """Its certificate is verified, and the value is on the worse side of it."""
    told = trial(kind=kind, n=7)
    evaluation = evaluated([0.3, 0.9, 0.11, 0.57, 0.2, 0.85, 0.6], told)
    certified = function("certify")(stored(evaluation), told)
    value = exact.verify(json.loads(json.dumps(certified.artifacts["certificate"])))
    signed = value if kind == "c2" else -value
    assert signed - Fraction(1, 10**15) <= Fraction(certified.fitness) <= signed
    assert certified.fitness == pytest.approx(evaluation.fitness, abs=1e-12)


def test_what_cannot_be_certified_is_invalid() -> None:
    """Certifying believes no stored steps."""
    certified = function("certify")({"steps": [1.0] * 4}, trial(kind="erdos"))
    assert (certified.outcome, certified.fitness) == (Outcome.INVALID, None)
    assert function("certify")({"steps": [-1.0, 2.0, -1.0, -1.0]}, trial()).fitness == pytest.approx(2 / 3)
    fewer = function("certify")({"steps": [1.0, 1.0]}, trial())
    assert (fewer.outcome, fewer.feedback) == (Outcome.INVALID, "there are 2 steps, wanted 4")


def test_a_ratio_beyond_what_is_proven_is_the_evaluators_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """For minimised kinds; for c2 the engine knows the bound. No function does this, so that a bound is moved here."""
    monkeypatch.setitem(exact.BOUNDS, "c1", Fraction(3))
    for evaluation in (
        evaluated([0.5] * 4, trial(kind="c1")),
        function("certify")({"steps": [0.5] * 4}, trial(kind="c1")),
    ):
        assert (evaluation.outcome, evaluation.fitness) == (Outcome.INTERNAL, None)
        assert "a c1 of 2.0 is below the proven bound 3.0" in evaluation.feedback
    assert evaluated([0.5] * 4, trial()).outcome is Outcome.OK


def test_the_bound_is_that_of_hoelder_and_the_anchors_are_ordered() -> None:
    """The first is what a constant has."""
    values = [anchor.value for anchor in TASK.anchors]
    assert values == sorted(values)
    assert values[0] == pytest.approx(2 / 3, abs=1e-15)
    assert values[-1] < TASK.bound == 1.0


def test_the_task_promises_a_certificate_and_can_give_one() -> None:
    """What `task.toml` says agrees with the evaluator."""
    assert (TASK.deterministic, TASK.promotion, TASK.carry) == (False, "certificate", ("steps",))
    assert set(judging.evaluate.functions(TASK)) == {"certify", "fingerprint", "draw"}
    assert [stage.name for stage, _ in judging.evaluate.stages(TASK)] == ["evaluate"]
    evaluation = evaluated([1, 2, 0, 0], trial())
    mirrored = evaluated([0, 4, 2, 0], trial())
    assert function("fingerprint")(stored(evaluation), trial()) == function("fingerprint")(stored(mirrored), trial())
    assert ElementTree.fromstring(function("draw")(stored(evaluation), trial())).tag.endswith("svg")


# --- through the whole judge

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
SMALL = {"n": 24, "limit": 0.1}


@pytest.fixture(scope="module")
def judge() -> Iterator[LocalExecutor]:
    """One slot."""
    with contextlib.closing(LocalExecutor(TASK, 1)) as made:
        made.describe()
        yield made


def run(judge: LocalExecutor, source: str, carried: Carried | None = None, **parameters: Any) -> Report:
    """A program under a small trial."""
    told = Trial(seed=1, parameters=Parameters({**SMALL, **parameters}), carried=carried or Carried())
    job = Job("1.0", "evaluate", told, files={"seed.py": source})
    return decode_report(judge.submit(job.id, encode_job(job)).result(60))


def certified(judge: LocalExecutor, report: Report, **parameters: Any) -> Report:
    """The certificate of what a report found."""
    texts = {name: report.texts[text] for name, text in report.evaluation.artifacts.items()}
    told = Trial(parameters=Parameters({**SMALL, **parameters}))
    job = Job("2.0", "certify", told, artifacts=texts)
    return decode_report(judge.submit(job.id, encode_job(job)).result(60))


@pytest.mark.integration
@LINUX
@pytest.mark.parametrize("kind", step_samples.KINDS)
def test_the_seed_runs_on_every_kind_and_is_certified(judge: LocalExecutor, kind: str) -> None:
    """From scratch better than a constant; from what it found itself no worse."""
    constant = 2 / 3 if kind == "c2" else -0.5 if kind == "erdos" else -2.0
    report = run(judge, TASK.seed.files["seed.py"], kind=kind)
    assert report.evaluation.outcome is Outcome.OK, report.texts
    assert report.evaluation.fitness > constant
    proof = certified(judge, report, kind=kind).evaluation
    assert (proof.outcome, proof.certified) == (Outcome.OK, True)
    assert proof.fitness == pytest.approx(report.evaluation.fitness, abs=1e-12)
    left = Carried(steps=json.loads(report.texts[report.evaluation.artifacts["steps"]]))
    again = run(judge, TASK.seed.files["seed.py"], left, kind=kind).evaluation
    assert again.metrics["carried"] == pytest.approx(report.evaluation.metrics["ratio"], abs=1e-14)
    assert again.metrics["gain"] > -1e-12


CHEATS = {
    "claims a ratio": ("def construct(*told): return {'ratio': 1.0, 'steps': [1.0] * 24}", Outcome.INVALID),
    "returns fewer steps": ("def construct(*told): return [1.0]", Outcome.INVALID),
    "returns not a number": ("def construct(*told): return [float('nan')] * 24", Outcome.INVALID),
    "returns objects": (
        "import numpy\ndef construct(*told): return numpy.array([object()] * 24)",
        Outcome.INVALID,
    ),
    "returns numbers too large for a float": ("def construct(*told): return [10**400] * 24", Outcome.INVALID),
    "stops its clock": (
        "import time\nclock = time.monotonic\ntime.process_time = time.monotonic = lambda: 0.0\n"
        "def construct(*told):\n    end = clock() + 1.5\n    while clock() < end: pass\n    return [1.0] * 24",
        Outcome.TIMED_OUT,
    ),
    "lacks the function": ("def build(): pass", Outcome.INVALID),
}


@LINUX
@pytest.mark.parametrize(("source", "outcome"), CHEATS.values(), ids=CHEATS)
def test_a_cheat_gets_no_score(judge: LocalExecutor, source: str, outcome: Outcome) -> None:
    """And a reason."""
    report = run(judge, source)
    assert (report.evaluation.outcome, report.evaluation.fitness) == (outcome, None)
    assert report.texts[report.evaluation.feedback]


@LINUX
@pytest.mark.parametrize("height", ["5e-324", "1e-161", "1.7e308"])
def test_denormal_and_huge_steps_gain_nothing(judge: LocalExecutor, height: str) -> None:
    """Squares that become 0 or infinite beat an evaluator that computes them."""
    report = run(judge, f"def construct(*told): return [{height}] * 23 + [0.0]")
    assert report.evaluation.fitness == pytest.approx(2 / 3, abs=1e-14)


@pytest.mark.integration
@LINUX
def test_returning_what_was_carried_gains_nothing(judge: LocalExecutor) -> None:
    """It is no better than its parent, so that it takes no place."""
    left = Carried(steps=[1.0, 2.0] + [0.0] * 22)
    evaluation = run(judge, "def construct(kind, n, limit, seed, start): return start", left).evaluation
    assert (evaluation.fitness, evaluation.metrics["gain"]) == (pytest.approx(43 / 54), 0.0)
