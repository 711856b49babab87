"""Facts about how `circle_packing_algorithm` judges a program, through the real judge."""

import json
import statistics
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import circles
import pytest
from task_files import judging_files

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.operators.literals import template
from evolve.task import load
from evolve.types import Outcome, Parameters, Trial

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

TASK = load("circle_packing_algorithm")
FILES = judging_files("circle_packing_algorithm")
SEED = TASK.seed.files["seed.py"]
GRID = f"def pack(n, limit, seed):\n    return {[list(point) for point in circles.SEED]!r}\n"
Judged = Callable[..., Report]


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a program on the task, or with other parameters."""
    executor = LocalExecutor(TASK, 1)

    def judge(source: str, seed: int = 0, **parameters: Any) -> Report:
        trial = Trial(seed, parameters=Parameters({**TASK.parameters, **parameters}))
        job = Job("1.0", "evaluate", trial, {"seed.py": source})
        return decode_report(executor.submit(job.id, encode_job(job)).result(120))

    yield judge
    executor.close()


def artifacts(report: Report) -> Any:
    return {name: json.loads(report.texts[text]) for name, text in report.evaluation.artifacts.items()}


def test_the_seed_packs_and_leaves_room_for_better(evaluated: Judged) -> None:
    """About 2.5 for 26 circles, within the axes, with numbers to tune."""
    evaluation = evaluated(SEED).evaluation
    assert evaluation.fitness is not None
    assert 2.4 < evaluation.fitness < 2.55
    assert all(axis.low <= evaluation.descriptors[axis.name] <= axis.high for axis in TASK.axes)
    assert evaluation.metrics["worst"] < evaluation.fitness < evaluation.metrics["best"] < 2.636
    assert template(TASK.seed).values[:5] == (500.0, 0.05, 10.0, 10.0, 0.05)


def test_an_equal_trial_gives_an_equal_score_and_another_seed_another(evaluated: Judged) -> None:
    """The seed program counts rounds and not seconds."""
    values = [evaluated(SEED, seed=seed, seeds=2, limit=0.2).evaluation.fitness for seed in (3, 3, 4)]
    assert values[0] == values[1] != values[2]


def test_the_mean_is_over_the_seeds_and_says_how_sure_it_is(evaluated: Judged) -> None:
    """The sums of the single calls stand in the feedback."""
    report = evaluated(SEED, seeds=4, limit=0.2)
    sums = [float(word) for word in report.texts[report.evaluation.feedback].strip(".").rpartition(": ")[2].split(", ")]
    assert report.evaluation.fitness == pytest.approx(statistics.fmean(sums), abs=1e-6)
    assert report.evaluation.standard_error == pytest.approx(statistics.stdev(sums) / 2, abs=1e-6)
    assert evaluated(SEED, seeds=1, limit=0.2).evaluation.standard_error is None


@pytest.mark.parametrize("case", TASK.held_out, ids=lambda case: case.name)
def test_the_seed_packs_the_held_out_numbers_of_circles(evaluated: Judged, case: Any) -> None:
    """As many as are asked for."""
    report = evaluated(SEED, **{**case.parameters, "seeds": 1})
    assert report.evaluation.outcome is Outcome.OK
    assert len(artifacts(report)["radii"]) == case.parameters["n"]


def test_a_packing_that_stands_in_the_program_helps_with_one_number_of_circles(evaluated: Judged) -> None:
    """It is as good as it is there, and fails the held-out cases."""
    report = evaluated(GRID)
    assert report.evaluation.fitness == pytest.approx(circles.SEED_TOTAL, abs=1e-13)
    assert report.evaluation.standard_error == 0.0
    assert evaluated(GRID, n=29).evaluation.outcome is Outcome.INVALID


def test_what_is_stored_does_not_overlap_but_for_rounding(evaluated: Judged) -> None:
    """The sum is proven before it is rounded; the picture shows it."""
    found = artifacts(evaluated(SEED, seeds=1, limit=0.2))
    points = [(Fraction(x), Fraction(y)) for x, y in found["centres"]]
    assert circles.overlaps(points, [Fraction(radius) - Fraction(1, 10**15) for radius in found["radii"]]) == []
    picture = FILES.evaluator.evaluate.functions(TASK)["draw"](found, Trial())
    assert ElementTree.fromstring(picture).find(".//{http://www.w3.org/2000/svg}circle[26]") is not None


REFUSED = {
    "radii of its own": ("return [[0.5, 0.5, 9.0]] * n", Outcome.INVALID),
    "one too few": ("return [[0.5, 0.5]] * (n - 1)", Outcome.INVALID),
    "nothing": ("return []", Outcome.INVALID),
    "not a number": ("import numpy as np\n    return np.full((n, 2), np.nan)", Outcome.INVALID),
    "truth values": ("import numpy as np\n    return np.ones((n, 2), bool)", Outcome.INVALID),
    "a sum instead": ("return 2.63", Outcome.INVALID),
    "too slow": ("import time\n    time.sleep(60)", Outcome.TIMED_OUT),
    "raises": ("raise ValueError(n)", Outcome.CRASHED),
}


@pytest.mark.parametrize(("body", "outcome"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_packing_is_refused(evaluated: Judged, body: str, outcome: Outcome) -> None:
    """With a reason, and without a fitness."""
    report = evaluated(f"def pack(n, limit, seed):\n    {body}\n", limit=0.2)
    assert (report.evaluation.outcome, report.evaluation.fitness) == (outcome, None)
    assert report.texts[report.evaluation.feedback]


def test_every_seed_is_a_process_of_its_own(evaluated: Judged) -> None:
    """What one call computed does not help the next."""
    remembering = "calls = []\ndef pack(n, limit, seed):\n    calls.append(seed)\n    assert len(calls) == 1\n"
    source = remembering + f"    return {[list(point) for point in circles.SEED]!r}\n"
    assert evaluated(source).evaluation.outcome is Outcome.OK


@pytest.mark.parametrize(
    "value", [Fraction(1, 2), Fraction(1, 3), Fraction(2, 3), Fraction(0), Fraction(10**30 + 1, 10**30)]
)
def test_a_value_is_never_rounded_up(value: Fraction) -> None:
    """And lies less than a unit of the last digit below."""
    found = FILES.evaluator.rounded_down(value)
    assert Fraction(found) <= value <= Fraction(found) + Fraction(1, 2**51)


def test_the_task_promises_held_out_cases_and_the_bound_of_the_search() -> None:
    """What `task.toml` says agrees with the evaluator."""
    assert (TASK.deterministic, TASK.promotion) == (False, "held_out")
    assert [case.parameters["n"] for case in TASK.held_out] == [29, 32]
    assert TASK.bound is not None
    assert TASK.bound**2 >= TASK.parameters["n"] / 3.141592653589793
    assert set(FILES.evaluator.evaluate.functions(TASK)) == {"draw"}
