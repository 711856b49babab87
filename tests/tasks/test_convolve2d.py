"""Facts about the task `convolve2d`: its instances, its check, and what the judge makes of programs."""

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
from evolve.types import Outcome, Parameters, TextId, Trial

TASK = load("convolve2d")
FILES = judging_files("convolve2d")
SEED = TASK.seed.files["seed.py"]
Judged = Callable[..., Report]
BY_SPECTRA = """
import numpy as np


def convolve(image, kernel):
    shape = [a + b - 1 for a, b in zip(image.shape, kernel.shape)]
    largest = np.abs(image).max()
    spectrum = np.fft.rfft2(image / largest, shape) * np.fft.rfft2(kernel, shape)
    return np.fft.irfft2(spectrum, shape).astype(image.dtype) * largest
"""


def program(source: str) -> Callable[[Any, Any], Any]:
    """The function of a program, called in this process."""
    names: dict[str, Any] = {}
    exec(source, names)
    return names["convolve"]  # type: ignore[no-any-return]


def drawn(precision: str = "float64", scale: float = 0.3, seed: int = 0) -> dict[str, Any]:
    """One small instance of each kind."""
    found = FILES.problem.instances(
        np.random.default_rng(seed), SimpleNamespace(scale=scale, vary=0.2, precision=precision)
    )
    return {kind: instance for kind, (instance,) in found.items()}


def test_the_expected_answer_is_the_definition() -> None:
    """Sum by sum, on numbers that are exact."""
    rng = np.random.default_rng(0)
    for shape, small in (((5, 4), (2, 3)), ((2, 3), (5, 4)), ((1, 6), (3, 1)), ((1, 1), (1, 1))):
        image, kernel = rng.integers(-9, 10, shape), rng.integers(-9, 10, small)
        wanted = np.zeros((shape[0] + small[0] - 1, shape[1] + small[1] - 1))
        for (a, b), value in np.ndenumerate(image):
            for (c, d), weight in np.ndenumerate(kernel):
                wanted[a + c, b + d] += value * weight
        given = FILES.problem.Image(image.astype(float), kernel.astype(float))
        assert np.array_equal(given.expected, wanted)
        assert FILES.problem.check(given, wanted) == ""


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("source", [SEED, BY_SPECTRA], ids=["seed", "spectra"])
def test_honest_programs_pass_with_every_kind(source: str, precision: str) -> None:
    """By the definition and by Fourier transforms, far within the tolerance."""
    convolve = program(source)
    for kind, given in drawn(precision).items():
        answer = convolve(given.image.copy(), given.kernel.copy())
        assert FILES.problem.check(given, answer) == "", kind
        worse = answer * (1 + 3 * FILES.problem.TOLERANCE[precision])
        assert "the relative error is" in FILES.problem.check(given, worse)


def test_tiny_numbers_are_among_the_sums() -> None:
    """Some below the smallest in full precision, which are not 0; whoever drops them is found out."""
    given = drawn(scale=1.0)["tiny numbers"]
    small = (np.abs(given.expected) < np.finfo(float).tiny) & (given.expected != 0)
    assert small.any()
    assert "the relative error is" in FILES.problem.check(given, np.where(small, 0.0, given.expected))


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda answer: None,
        lambda answer: answer.tolist(),
        lambda answer: answer[1:],
        lambda answer: answer.astype(np.float32),
        lambda answer: answer.astype(np.float32).astype(float),
        lambda answer: np.zeros_like(answer),
        lambda answer: answer * np.nan,
        lambda answer: answer + np.inf,
        lambda answer: np.roll(answer, 1),
    ],
)
def test_what_is_not_the_convolution_is_refused(spoilt: Callable[[Any], Any]) -> None:
    """In a few words."""
    for given in drawn().values():
        assert FILES.problem.check(given, spoilt(given.expected))


def test_sums_that_are_all_zero_have_one_answer() -> None:
    """Of which no share could be told."""
    given = FILES.problem.Image(np.zeros((2, 2)), np.ones((2, 2)))
    assert FILES.problem.check(given, np.zeros((3, 3))) == ""
    assert FILES.problem.check(given, np.full((3, 3), 1e-300))


def test_the_task_says_what_it_is() -> None:
    """Its strips can be tuned, it is promoted by other sizes, and its anchors have sources."""
    assert template(TASK.seed).values == (8.0,)
    assert (TASK.deterministic, TASK.promotion, TASK.stages[0].needs.pinned) == (False, "held_out", True)
    assert {case.parameters["precision"] for case in TASK.held_out} == {"float64", "float32"}
    assert all(anchor.source for anchor in TASK.anchors)
    assert all(f"`{kind}`" in Path(TASK.folder, "brief.md").read_text("utf-8") for kind in FILES.problem.KINDS)


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a program's source in one judge."""
    executor = LocalExecutor(TASK, 1)

    def judge(source: str, **parameters: Any) -> Report:
        job = Job(
            "1.0", "evaluate", Trial(parameters=Parameters({**TASK.parameters, **parameters})), {"seed.py": source}
        )
        return decode_report(executor.submit(job.id, encode_job(job)).result(300))

    yield judge
    executor.close()


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
def test_fourier_transforms_are_faster_than_the_seed(evaluated: Judged) -> None:
    """Whatever else the machine does; where both are large, by far."""
    found = evaluated(BY_SPECTRA)
    assert found.evaluation.outcome is Outcome.OK
    assert found.evaluation.fitness is not None
    assert found.evaluation.fitness > 0.3
    assert "| equal sizes |" in found.texts[TextId(found.evaluation.feedback)]


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux")
def test_the_seed_is_right_in_single_precision(evaluated: Judged) -> None:
    """On sizes of any kind, and a program that is wrong there is not."""
    case = {"precision": "float32", "vary": 0.3, "scale": 0.4}
    assert evaluated(SEED, **case).evaluation.outcome is Outcome.OK
    found = evaluated(SEED.replace("image.dtype)", "np.float64)"), **case)
    assert found.evaluation.outcome is Outcome.INVALID
