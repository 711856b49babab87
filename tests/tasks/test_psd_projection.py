"""Facts about the task `psd_projection`: its instances, its check, and what the judge makes of programs."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from task_files import judging_files

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.operators.literals import template
from evolve.task import load
from evolve.types import Outcome, Parameters, Trial

TASK = load("psd_projection")
FILES = judging_files("psd_projection")
SEED = TASK.seed.files["seed.py"]
Judged = Callable[..., Report]
BY_EIGENVALUES = """
import numpy as np


def project(matrix):
    values, vectors = np.linalg.eigh(matrix)
    answer = (vectors * np.maximum(values, 0)) @ vectors.T
    return 0.5 * (answer + answer.T)
"""


def program(source: str) -> Callable[[Any], Any]:
    """The function of a program, called in this process."""
    names: dict[str, Any] = {}
    exec(source, names)
    return names["project"]  # type: ignore[no-any-return]


def drawn(precision: str = "float64", scale: float = 0.4, seed: int = 0) -> dict[str, Any]:
    """One small instance of each kind."""
    found = FILES.problem.instances(
        np.random.default_rng(seed), SimpleNamespace(scale=scale, vary=0.2, precision=precision)
    )
    return {kind: instance for kind, (instance,) in found.items()}


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("source", [SEED, BY_EIGENVALUES], ids=["seed", "eigenvalues"])
def test_honest_programs_pass_with_every_kind(source: str, precision: str) -> None:
    """By the sign and by eigenvalues, on several drawings."""
    project = program(source)
    for seed in range(5):
        for kind, given in drawn(precision, seed=seed).items():
            assert FILES.problem.check(given, project(given.copy())) == "", (kind, seed)


def test_the_kinds_are_what_they_are_called() -> None:
    """By their eigenvalues."""
    values = {kind: np.linalg.eigvalsh(given) for kind, given in drawn().items()}
    assert values["random"][0] < 0 < values["random"][-1]
    assert (np.abs(values["low rank"]) > 1e-9).sum() < len(values["low rank"]) / 3
    for kind, negative in (("nearly semidefinite", 1 / 25), ("nearly negative definite", 24 / 25)):
        assert (values[kind] < 0).mean() == pytest.approx(negative, abs=0.02)
    assert len(np.unique(values["clustered"].round(3))) <= 3


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (lambda given, right: None, "wanted an array of"),
        (lambda given, right: right[1:], "wanted an array of"),
        (lambda given, right: right.astype(np.float32), "float64 as the matrix"),
        (lambda given, right: right * np.nan, "wanted finite numbers"),
        (lambda given, right: np.triu(right), "not symmetric"),
        (lambda given, right: given, "the answer has a negative eigenvalue"),
        (lambda given, right: np.zeros_like(right), "what was added has a negative eigenvalue"),
        (lambda given, right: right + np.eye(len(right)), "not orthogonal to the answer"),
        (lambda given, right: right * (1 + 1e-6), ""),
        (lambda given, right: right.astype(np.float32).astype(float), ""),
    ],
)
def test_each_condition_is_looked_at(spoilt: Callable[[Any, Any], Any], said: str) -> None:
    """A program that misses one is told which; where several are missed, the first."""
    given = drawn()["random"]
    right = program(BY_EIGENVALUES)(given)
    fault = FILES.problem.check(given, spoilt(given, right))
    assert fault
    assert said in fault


def test_no_other_answer_is_nearer() -> None:
    """What passes the check is as near as anything that was tried: mixtures with other semidefinite matrices are farther away."""
    rng = np.random.default_rng(1)
    for given in drawn().values():
        right = program(SEED)(given)
        distance = np.linalg.norm(right - given)
        for _ in range(20):
            other = rng.standard_normal(given.shape)
            assert np.linalg.norm(0.9 * right + 0.1 * (other @ other.T) / len(given) - given) > distance


def test_the_task_says_what_it_is() -> None:
    """Its literals can be tuned, it is promoted by other sizes, and its anchors have sources."""
    assert 70.0 in template(TASK.seed).values
    assert (TASK.deterministic, TASK.promotion, TASK.stages[0].needs.pinned) == (False, "held_out", True)
    assert {case.parameters["precision"] for case in TASK.held_out} == {"float64", "float32"}
    assert all(anchor.source for anchor in TASK.anchors)
    assert all(f"`{kind}`" in Path(TASK.folder, "brief.md").read_text("utf-8") for kind in FILES.problem.KINDS)


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a program's source in one judge."""
    executor = LocalExecutor(TASK, 1)

    def judge(source: str) -> Report:
        job = Job("1.0", "evaluate", Trial(parameters=Parameters(TASK.parameters)), {"seed.py": source})
        return decode_report(executor.submit(job.id, encode_job(job)).result(300))

    yield judge
    executor.close()


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
def test_eigenvalues_are_faster_than_the_seed(evaluated: Judged) -> None:
    """Whatever else the machine does; and who ends the iteration too early is wrong."""
    found = evaluated(BY_EIGENVALUES).evaluation
    assert found.outcome is Outcome.OK
    assert found.fitness is not None
    assert found.fitness > 0.2
    assert evaluated(SEED.replace("70.0", "20.0")).evaluation.outcome is Outcome.INVALID
