"""Facts about how `model_placement` judges a program, through the real judge and the plugin `benchmark`."""

import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from task_files import judging_files

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.operators.literals import template
from evolve.task import load
from evolve.types import Outcome, Parameters, TextId, Trial

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

TASK = load("model_placement")
PUBLISHED = {**TASK.parameters, "seed": 42}
FILES = judging_files("model_placement")
SEED = TASK.seed.files["seed.py"]
LOOKING_AHEAD = (
    SEED.replace("0.0 * more", "1.0 * more")
    .replace("0.0 * size", "1.0 * size", 2)
    .replace("1.0 * size", "0.0 * size", 1)
)
Judged = Callable[..., Report]


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a program's source on the task, or on another case of it."""
    executor = LocalExecutor(TASK, 1)

    def judge(source: str, parameters: Any = PUBLISHED, seed: int = 0) -> Report:
        job = Job("1.0", "evaluate", Trial(seed, parameters=Parameters(parameters)), {"seed.py": source})
        return decode_report(executor.submit(job.id, encode_job(job)).result(120))

    yield judge
    executor.close()


def instances() -> list[dict[str, Any]]:
    return FILES.laws.published(42, 50)


def test_the_seed_is_the_published_heuristic(evaluated: Judged) -> None:
    """With its published score; numbers that weigh nothing yet are there to be tuned."""
    found = evaluated(SEED).evaluation
    assert found.outcome is Outcome.OK
    assert found.metrics["published_score"] == pytest.approx(21.8916, abs=5e-5)
    assert (found.metrics["proven"], found.metrics["late"]) == (50.0, 0.0)
    assert found.fitness == pytest.approx(0.835429, abs=1e-6)
    assert template(TASK.seed).values.count(0.0) >= 3


def test_the_rows_are_those_of_the_greedy_placement(evaluated: Judged) -> None:
    """The seed with other numbers, computed here by the judge's own functions."""
    report = evaluated(LOOKING_AHEAD)
    rows = json.loads(report.texts[TextId(report.evaluation.artifacts["instances"])])
    for row, one in zip(rows, instances(), strict=True):
        wanted = FILES.placement.pressure(one, FILES.placement.greedy(one))
        assert row["value"] == pytest.approx(float(wanted))
        assert row["score"] == pytest.approx(float(one.optimum / wanted))
    assert report.evaluation.fitness == pytest.approx(sum(row["score"] for row in rows) / 50)


def test_optimal_placements_score_exactly_one(evaluated: Judged) -> None:
    """A program that knows them: the bound is reached, and nothing is beyond it."""
    known = {
        json.dumps(FILES.problem.arguments(one)): FILES.exact.placed(one, one.optimum, 10**7) for one in instances()
    }
    source = f"import json\nKNOWN = {known!r}\n\ndef place(gpus, models):\n    return KNOWN.get(json.dumps([gpus, models])) or list(range(gpus)) * 2\n"
    found = evaluated(source).evaluation
    assert found.fitness == 1.0
    assert found.metrics["optimal"] == 50.0
    assert found.metrics["published_score"] == pytest.approx(26.255972, abs=5e-7)


def test_arrays_of_whole_numbers_are_answers(evaluated: Judged) -> None:
    """Of any width."""
    source = f"import numpy as np\n{SEED}\nplain = place\n\ndef place(gpus, models):\n    return np.array(plain(gpus, models), dtype=np.uint8)\n"
    assert evaluated(source).evaluation.fitness == evaluated(SEED).evaluation.fitness


@pytest.mark.parametrize("case", TASK.held_out, ids=[case.name for case in TASK.held_out])
def test_the_seed_passes_every_held_out_case(evaluated: Judged, case: Any) -> None:
    """On other instances for another seed, where they are drawn; most optima are proven."""
    parameters = {**case.parameters, "instances": 8}
    one = evaluated(SEED, parameters, 1).evaluation
    assert one.outcome is Outcome.OK
    assert 0.3 < one.fitness <= 1.0
    other = evaluated(SEED, parameters, 2).evaluation
    assert (one.fitness == other.fitness) == (parameters["seed"] >= 0)


def test_the_trivial_answer_is_worse_than_the_seed() -> None:
    """On every instance, by far."""
    for one in instances():
        trivial = FILES.placement.pressure(one, FILES.problem.trivial(one))
        assert FILES.problem.check(one, FILES.problem.trivial(one)) == ""
        assert FILES.problem.reference(one) / trivial < Fraction(1, 2)
