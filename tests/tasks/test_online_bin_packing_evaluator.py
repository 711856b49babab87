"""Facts about how `online_bin_packing` judges a program, through the real judge."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any

import bin_packing_rules as rules
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

TASK = load("online_bin_packing")
FILES = judging_files("online_bin_packing")
SEED = TASK.seed.files["seed.py"]
SMALL = {**TASK.parameters, "items": 100, "instances": 2}
Judged = Callable[..., Report]


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a rule's source on the task, or on a smaller one."""
    executor = LocalExecutor(TASK, 1)

    def judge(source: str, parameters: Any = TASK.parameters, seed: int = 0) -> Report:
        job = Job("1.0", "evaluate", Trial(seed, parameters=Parameters(parameters)), {"seed.py": source})
        return decode_report(executor.submit(job.id, encode_job(job)).result(120))

    yield judge
    executor.close()


def shown(report: Report) -> float:
    """The fitness as the user reads it."""
    assert report.evaluation.fitness is not None
    return TASK.fitness.shown(report.evaluation.fitness)


def excess(oracle: Callable[..., list[int]], parameters: Any, seed: int) -> float:
    """In percent, by a packer of lists and the volume of the items."""
    law = FILES.instances.law_from(Parameters(parameters))
    items = [list(one.items) for one in FILES.instances.drawn(law, (seed,))]
    bins = sum(len(oracle(one, law.capacity)) for one in items)
    return 100 * (bins / sum(-(-sum(one) // law.capacity) for one in items) - 1)


def test_the_seed_is_best_fit_with_numbers_to_tune(evaluated: Judged) -> None:
    """Its own packing is that of a packer of lists."""
    report = evaluated(SEED)
    assert shown(report) == pytest.approx(excess(rules.best_fit, TASK.parameters, 0), abs=1e-9)
    assert shown(report) == pytest.approx(4.413, abs=5e-4)
    assert report.evaluation.descriptors["opened_early"] == 0.0
    assert report.evaluation.metrics["by_table"] == 1.0
    assert template(TASK.seed).values == (-1.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_first_fit_needs_the_order_of_the_bins_and_is_played(evaluated: Judged, seed: int) -> None:
    """On smaller instances, with the same result as the packer of lists."""
    report = evaluated(rules.FIRST_FIT, SMALL, seed)
    assert shown(report) == pytest.approx(excess(rules.first_fit, SMALL, seed), abs=1e-9)
    assert report.evaluation.metrics["by_table"] == 0.0


@pytest.mark.parametrize(
    ("source", "public", "by_table"),
    [(rules.FIRST_FIT, 4.712, 0.0), (rules.FUNSEARCH, 1.596, 0.0), (rules.EOH, 1.147, 1.0)],
    ids=["first fit", "FunSearch", "EoH"],
)
def test_published_rules_have_the_values_of_the_table_on_public_items(
    evaluated: Judged, source: str, public: float, by_table: float
) -> None:
    """Those of the README, which are drawn without a secret. Rewritten from their formulas; FunSearch's compares a bin with the one before, so that it is played item by item."""
    report = evaluated(source)
    assert shown(report) == pytest.approx(public, abs=5e-4)
    assert report.evaluation.metrics["by_table"] == by_table
    assert all(axis.low <= report.evaluation.descriptors[axis.name] <= axis.high for axis in TASK.axes)


REFUSED = {
    "not finite": ("return residual / (residual - item)", Outcome.INVALID),
    "truth values": ("return residual > item", Outcome.INVALID),
    "one too few": ("return residual[1:]", Outcome.INVALID),
    "one number": ("return 1.0", Outcome.INVALID),
    "nothing": ("pass", Outcome.INVALID),
    "a huge answer": ("import numpy as np\n    return np.zeros(3_000_000)", Outcome.OUT_OF_MEMORY),
    "a huge number": ("return [10**400] * len(residual)", Outcome.INVALID),
    "raises on some items": ("assert item != 77\n    return residual", Outcome.CRASHED),
    "answers by call count": (
        "score.calls = getattr(score, 'calls', 0) + 1\n    return residual * (score.calls % 5 - 2)",
        Outcome.WRONG,
    ),
    "answers by the process": ("import os\n    return residual * ((os.getpid() * 2654435761) % 1000)", Outcome.WRONG),
    "draws": ("import numpy as np\n    return np.random.default_rng().random(len(residual))", Outcome.WRONG),
    "answers by call count and by order": (
        "import numpy as np\n    score.calls = getattr(score, 'calls', 0) + 1\n    return np.arange(len(residual)) * (score.calls % 5 - 2)",
        Outcome.WRONG,
    ),
}


@pytest.mark.parametrize(("body", "outcome"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_rule_is_refused(evaluated: Judged, body: str, outcome: Outcome) -> None:
    """With a reason, and without a fitness."""
    report = evaluated(f"def score(item, residual):\n    {body}\n", SMALL)
    assert (report.evaluation.outcome, report.evaluation.fitness) == (outcome, None)
    assert report.texts[report.evaluation.feedback]


def test_a_program_that_searches_its_process_for_the_items_finds_none(evaluated: Judged) -> None:
    """It is played item by item, and looks through every list and array of its process for one that holds an instance's first items."""
    first = list(FILES.instances.drawn(FILES.instances.law_from(Parameters(SMALL)), (0,))[0].items[:20])
    searching = f"""
import gc
import numpy as np

FIRST = [int(word) for word in "{" ".join(map(str, first))}".split()]

def known():
    lists = [one for one in gc.get_objects() if type(one) in (list, tuple) and one is not FIRST]
    numbers = [one[: len(FIRST)] for one in lists if all(type(value) is int for value in one[: len(FIRST)])]
    return any(list(one) == FIRST for one in numbers)

def score(item, residual):
    assert not known()
    planted = [*FIRST, item]
    assert known()
    return -np.arange(len(residual))
"""
    assert shown(evaluated(searching, {**SMALL, "items": 30})) == pytest.approx(
        excess(rules.first_fit, {**SMALL, "items": 30}, 0), abs=1e-9
    )


def test_rules_that_win_here_lose_elsewhere(evaluated: Judged) -> None:
    """Which is why a program is promoted by the held-out cases: FunSearch's rule on smaller instances, against best fit."""
    case = {case.name: case.parameters for case in TASK.held_out}["weibull, bins of 500"]
    small = {**case, "items": 200, "instances": 1}
    assert shown(evaluated(rules.FUNSEARCH, small)) > 20 * max(1.0, shown(evaluated(rules.BEST_FIT, small)))


def test_a_law_that_cannot_be_is_the_evaluators_fault(evaluated: Judged) -> None:
    """And says what to set."""
    report = evaluated(SEED, {**TASK.parameters, "capacity": 50})
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert "Do: set 1 <= low <= high <= capacity" in report.texts[report.evaluation.feedback]


def test_the_picture_is_drawn_from_what_is_stored(evaluated: Judged) -> None:
    """Well-formed, with the excess in its title; the filled part ends where the last bin does."""
    report = evaluated(rules.EOH)
    artifacts = {name: json.loads(report.texts[text]) for name, text in report.evaluation.artifacts.items()}
    drawing = FILES.evaluator.evaluate.functions(TASK)["draw"](artifacts, Trial())
    picture = ElementTree.fromstring(drawing)
    assert picture.find("{http://www.w3.org/2000/svg}title").text == "4,057 bins, 4,011 if all were full: 1.15 % more"
    assert sum(artifacts["room_left"]) == 4057
    assert "H160.000V80Z" in drawing


def test_the_task_promises_held_out_cases_and_nothing_below_the_bound() -> None:
    """What `task.toml` says agrees with the evaluator."""
    assert (TASK.deterministic, TASK.promotion, TASK.bound, TASK.fitness.direction) == (True, "held_out", 0.0, "min")
    assert len(TASK.held_out) == 5
    assert set(FILES.evaluator.evaluate.functions(TASK)) == {"draw"}
    assert all(anchor.source for anchor in TASK.anchors)
