"""Facts about checking a task with real judge processes."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evolve.task
from evolve.conformance import Conformance, check
from evolve.conformance.check import check_noise, check_prediction, check_verifier
from evolve.conformance.impostors import limit_stages
from evolve.evaluation import Description, LocalExecutor, Report
from evolve.types import Evaluation, Outcome, Stage, Task, TaskError, TextId

pytestmark = pytest.mark.integration

SEED = "def value():\n    return 5.0\n"
EVALUATOR = """import math

from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    value = candidate.call("value")
    {check}
    return Evaluation.ok({score}, descriptors={{"size": 5.0}}, artifacts={{"value": 5.0}})
"""
STRICT = (
    "if type(value) is not float or not math.isfinite(value):\n        return Evaluation.invalid('no finite number')"
)


def made(folder: Path, toml: str = "", check: str = STRICT, score: str = "value", more: str = "") -> Conformance:
    folder.mkdir()
    (folder / "task.toml").write_text(f"schema = 1\n{toml}")
    (folder / "README.md").write_text("Be large.\n")
    (folder / "seed.py").write_text(SEED)
    (folder / "evaluator.py").write_text(EVALUATOR.format(check=check, score=score) + more)
    return found(folder)


def found(folder: Path | str) -> Conformance:
    result = check(evolve.task.load(folder), 2)
    assert result.passed == all(finding.verdict != "failed" for finding in result.findings)
    assert all(finding.remedy for finding in result.findings if finding.verdict in ("warned", "failed"))
    return result


def told(result: Conformance, verdict: str) -> dict[str, str]:
    return {finding.tried: finding.happened for finding in result.findings if finding.verdict == verdict}


def test_a_good_task_passes_everything(tmp_path: Path) -> None:
    """Deterministic, with an axis, a case, a picture and a carried artifact."""
    toml = (
        'deterministic = true\n[parameters]\nscale = 1.0\n[held_out]\nscale = [2.0, 3.0]\n[carry]\nartifacts = ["value"]\n'
        '[[axes]]\nname = "size"\nlow = 0\nhigh = 9\nbins = 3\n'
    )
    more = "\n@evaluate.draw\ndef draw(artifacts, trial):\n    return '<svg/>'\n"
    result = made(tmp_path / "good", toml, score="value * trial.parameters.scale", more=more)
    assert (result.passed, result.fitness, result.noise) == (True, 5.0, 0.0)
    assert told(result, "warned") == told(result, "failed") == {}
    assert list(told(result, "not tried")) == ["prediction"]
    assert told(result, "passed") == {
        "seed": "ok with fitness 5",
        "seed again": "equal, as `deterministic = true` says",
        "axes": "the seed has size 5",
        "carry": "the seed leaves value",
        "draw": "a text of 6 characters",
        "seed with what it carries": "ok with fitness 5",
        "held-out case scale=2.0": "ok with fitness 10",
        "held-out case scale=3.0": "ok with fitness 15",
        "an endless loop": "timed_out",
        "an endless printer": "timed_out",
        "an exception": "crashed",
        "an exit in the middle": "crashed",
        "a memory bomb": "out_of_memory",
        "None for an answer": "invalid",
        "an empty list for an answer": "invalid",
        "an empty text for an answer": "invalid",
        "NaN for every number": "invalid",
        "seed after them": "ok with fitness 5",
    }


def test_an_evaluator_that_believes_everything_fails(tmp_path: Path) -> None:
    """It scores answers that are none; functions and cases that fail are told with what they said."""
    loose = "value = value if isinstance(value, float) else 5.0"
    more = (
        "\n@evaluate.draw\ndef draw(artifacts, trial):\n    return 'picture'\n"
        "\n@evaluate.fingerprint\ndef fingerprint(artifacts, trial):\n    return ''\n"
        "\n@evaluate.certify\ndef certify(artifacts, trial):\n    return Evaluation.wrong('no proof')\n"
    )
    toml = "deterministic = true\n[parameters]\nscale = 1.0\n[held_out]\nscale = [0.0]\n"
    result = made(tmp_path / "loose", toml, loose, "value / trial.parameters.scale", more)
    failed = told(result, "failed")
    assert failed["None for an answer"] == "ok with fitness 5; wanted invalid or wrong"
    assert (failed["certify"], failed["fingerprint"]) == ("wrong: no proof", "it gave an empty text")
    assert failed["held-out case scale=0.0"].startswith("internal: the evaluator raised ZeroDivisionError")
    assert told(result, "warned") == {"draw": "the text is no SVG picture"}


def test_an_evaluator_that_raises_and_is_not_deterministic_fails(tmp_path: Path) -> None:
    """Two scores for one program, and a fault of its own where a program answers nonsense."""
    noise = "value + __import__('random').random()"
    failed = told(made(tmp_path / "lying", "deterministic = true\n", check="", score=noise), "failed")
    assert failed["seed again"].startswith("`deterministic = true`, and the same program got a fitness of")
    assert failed["None for an answer"].startswith("internal: the evaluator raised TypeError")


def test_an_evaluator_that_hides_what_happened_is_told(tmp_path: Path) -> None:
    """A failure turned into a bad score may be meant; and a noisy task without noise is evaluated again and again for nothing."""
    hidden = "value = candidate.call('value')\n    except Exception:\n        value = 0.0"
    text = EVALUATOR.replace('value = candidate.call("value")', "try:\n        " + hidden)
    folder = tmp_path / "hiding"
    folder.mkdir()
    files = {"task.toml": "schema = 1\n", "README.md": "Be large.\n", "seed.py": SEED}
    for name, content in {**files, "evaluator.py": text.format(check=STRICT, score="value")}.items():
        (folder / name).write_text(content)
    warned = told(found(folder), "warned")
    assert warned["an endless loop"] == "ok with fitness 0; wanted timed_out"
    assert warned["seed again"] == "5 measurements with different seeds are equal"


DRAWING = """import random

from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    asked, hidden = random.Random({asked}).random(), random.Random({hidden}).random()
    answer = candidate.call("score", asked)
    if type(answer) is not float or not abs(answer) < 1e9:
        return Evaluation.invalid("no finite number")
    return Evaluation.ok(answer {score}, artifacts={{"evaluated": {{"seed": trial.seed}}}})
"""
PUBLIC, SECRET = "trial.seed", "str(trial.entropy())"
NOISY, DETERMINISTIC = "", "deterministic = true\n"


@pytest.mark.parametrize(
    ("toml", "asked", "hidden", "score", "verdict"),
    [
        (DETERMINISTIC, PUBLIC, PUBLIC, "- asked", "failed"),
        (DETERMINISTIC, SECRET, PUBLIC, "* 0.0 - hidden", "failed"),
        (DETERMINISTIC, PUBLIC, SECRET, "- hidden", "failed"),
        (DETERMINISTIC, "trial.seed // 4", "trial.seed // 4", "- hidden", "failed"),
        (DETERMINISTIC, SECRET, SECRET, "- hidden", "passed"),
        (DETERMINISTIC, "1", "1", "- hidden", "not tried"),
        (NOISY, PUBLIC, "", "- hidden", "warned"),
        (NOISY, SECRET, "", "- hidden", "passed"),
        (NOISY, "", "", "- asked", "not tried"),
        ("promotion = 'certificate'\n", PUBLIC, PUBLIC, "- asked", "not tried"),
    ],
)
def test_draws_that_a_program_can_predict_are_told(
    tmp_path: Path, toml: str, asked: str, hidden: str, score: str, verdict: str
) -> None:
    """Those that make a question and those that make a score, which is looked at where it repeats; an artifact may name the seed."""
    text = DRAWING.format(asked=asked, hidden=hidden, score=score)
    files = {"task.toml": f"schema = 1\n{toml}", "README.md": "Score.\n", "evaluator.py": text}
    files["seed.py"] = "def score(number):\n    return 2.0 * number\n"
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    task = evolve.task.load(tmp_path)
    with closing(LocalExecutor(task, 2)) as executor:
        assert check_prediction(task, executor).verdict == verdict


@pytest.mark.parametrize(
    ("noise", "verdict", "happened"),
    [
        (0.5, "passed", "5 measurements have a standard deviation of 0.5"),
        (0.0, "warned", "5 measurements with different seeds are equal"),
    ],
)
def test_noise_is_measured(noise: float, verdict: str, happened: str) -> None:
    """A noisy task without noise is evaluated again and again for nothing."""
    finding = check_noise(noise, 5)
    assert (finding.verdict, finding.happened) == (verdict, happened)


def test_a_seed_that_its_own_evaluator_tags_fails(tmp_path: Path) -> None:
    """A campaign would stop at it."""
    result = made(tmp_path / "tagged", score="value, tag='too good'")
    assert told(result, "failed") == {"seed": "its own evaluator tags it: too good"}


def test_a_seed_that_fails_ends_the_check(tmp_path: Path) -> None:
    """With the evaluator's reason; made-up programs are not tried."""
    result = made(tmp_path / "failing", check="return Evaluation.wrong('not what I meant')")
    assert (result.passed, result.fitness, result.noise) == (False, None, None)
    assert told(result, "failed") == {"seed": "wrong: not what I meant"}
    assert told(result, "not tried") == {"made-up programs": "the seed must pass first"}


SCALE = "def scaled(matrix, factor):\n    return [[factor * value for value in row] for row in matrix]\n"
SCALING = """import random

from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    draw = random.Random(str(trial.entropy()))
    with candidate.session() as session:
        for _ in range({asked}):
            matrix, factor = [[draw.random() for _ in range(3)] for _ in range(2)], 2.0 + draw.random()
            answer = session.call("scaled", matrix, factor)
            if type(answer) is not list or [len(row) for row in answer if type(row) is list] != [3, 3]:
                return Evaluation.invalid("two rows of three numbers")
            right = [factor * value for row in matrix for value in row]
            found = [value for row in answer for value in row]
            if not all(type(value) is float and abs(value - wanted) <= {tolerance} for value, wanted in zip(found, right)):
                return Evaluation.wrong("not the product")
    return Evaluation.ok(1.0)
"""
DETERMINED = "deterministic = true\n[check]\nanswers = 'determined'\n"


def scaling(
    folder: Path, toml: str = DETERMINED, asked: int = 3, tolerance: str = "1e-9", **programs: str
) -> Conformance:
    """A task in which each matrix has one right answer; `programs` lie beside the seed."""
    (folder / "twins").mkdir(parents=True)
    files = {"task.toml": f"schema = 1\n{toml}", "README.md": "Scale.\n", "seed.py": SCALE}
    files |= {f"twins/{name}.py": text for name, text in programs.items()}
    files["evaluator.py"] = SCALING.replace("{asked}", str(asked)).replace("{tolerance}", tolerance)
    for name, text in files.items():
        (folder / name).write_text(text)
    return found(folder)


WRONG_ANSWERS = {
    "zeros",
    "the first half right, the rest zero",
    "the sign flipped",
    "a hundredth of every number missing",
    "numbers rounded to float32",
    "the input for an answer",
}


def test_wrong_answers_of_a_task_with_determined_ones_must_fail(tmp_path: Path) -> None:
    """Where the evaluator compares all of them, and asks anew each time."""
    result = scaling(tmp_path / "scaling")
    assert (told(result, "failed"), told(result, "warned")) == ({}, {})
    passed = told(result, "passed")
    assert {name: passed[name] for name in WRONG_ANSWERS} == dict.fromkeys(WRONG_ANSWERS, "wrong")


def test_a_tolerance_that_sells_precision_is_found_out(tmp_path: Path) -> None:
    """What the task brings is evaluated, too."""
    other = SCALE.replace("factor * value", "value * factor")
    loose = scaling(
        tmp_path / "loose", f"{DETERMINED}honest = ['twins/*.py']\n", asked=1, tolerance="1e-6", other=other
    )
    assert told(loose, "failed") == {"numbers rounded to float32": "ok with fitness 1; wanted invalid or wrong"}
    assert told(loose, "passed")["honest: twins/other"] == "ok with fitness 1"


@pytest.mark.slow
def test_a_precision_that_is_meant_is_no_fault(tmp_path: Path) -> None:
    """The next lower one is."""
    meant = scaling(tmp_path / "meant", f"{DETERMINED}precision = 'float32'\n", tolerance="1e-6")
    assert told(meant, "failed") == {}
    assert told(meant, "passed")["numbers rounded to float16"] == "wrong"


def test_an_evaluator_that_does_not_load_is_an_error(tmp_path: Path) -> None:
    """As everywhere."""
    with pytest.raises(TaskError, match="does not load: NameError"):
        made(tmp_path / "broken", more="\nnowhere\n")


def test_made_up_programs_are_given_less_time(circle_task) -> None:
    """Every stage of the code, whether the task file names it or not."""
    named = limit_stages(circle_task, Description(stages=("evaluate", "full")), 3.0)
    assert named.stages == (Stage("evaluate", 3.0), Stage("full", 3.0))
    assert limit_stages(named, Description(stages=("evaluate",)), 5.0).stages == (Stage("evaluate", 3.0),)


TWO = {"centres": [["1/4", "1/2"], ["3/4", "1/2"]], "radii": ["1/4", "1/4"], "sum": "1/2"}


def packing() -> Task:
    """Two circles."""
    return replace(evolve.task.load("circle_packing"), parameters={"n": 2})


def certified(value: float = 0.5, **artifacts: Any) -> Report:
    """Returns a report on a seed's artifacts."""
    names = {name: TextId(f"text of {name}") for name in artifacts}
    evaluation = replace(Evaluation.ok(value), certified=True, artifacts=names)
    return Report(evaluation, {names[name]: json.dumps(proof) for name, proof in artifacts.items()})


def verify(task: Task, report: Report | None) -> tuple[str, str]:
    """Returns how it ended, and what happened; what failed comes with a remedy."""
    finding = check_verifier(task, report)
    assert bool(finding.remedy) == (finding.verdict == "failed")
    return finding.verdict, finding.happened


def test_a_certificate_that_holds_passes() -> None:
    """By the script that goes with an exported program."""
    assert verify(packing(), certified(certificate=TWO)) == ("passed", "the seed's certificate holds: sum of radii 0.5")


@pytest.mark.parametrize(
    ("value", "proof", "reason"),
    [
        (0.5, {**TWO, "radii": ["1/4", "1/2"]}, "ValueError"),
        (0.5, {"centres": TWO["centres"]}, "KeyError"),
        (0.5000001, TWO, "it proves 0.5, and 0.5000001 is claimed"),
    ],
)
def test_a_certificate_that_the_verifier_refuses_fails(value: float, proof: object, reason: str) -> None:
    """Whether the task's certify is wrong or its verifier: with what the verifier said."""
    verdict, happened = verify(packing(), certified(value, certificate=proof))
    assert verdict == "failed"
    assert happened.startswith("the seed's certificate does not hold by the task's own verifier: not verified: ")
    assert reason in happened


def test_without_a_certificate_the_verifier_has_nothing_to_verify() -> None:
    """Each time for another reason."""
    assert verify(packing(), None) == ("failed", "the evaluator certifies nothing that it could verify")
    assert verify(packing(), certified(proof=TWO)) == (
        "failed",
        "the seed is certified, and there is no artifact 'certificate'",
    )
    failed = Report(Evaluation.failed(Outcome.INTERNAL, "no"), {})
    assert verify(packing(), failed) == ("not tried", "the seed must be certified first")
