"""Facts about how `cfr_variant` judges a program, through the real judge."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import cfr_rules as rules
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

TASK = load("cfr_variant")
FILES = judging_files("cfr_variant", "games", "tree", "values", "exact", "playing", "evaluator")
SMALL = {"games": "kuhn2", "horizons": "30 60", "screen": "kuhn2", "screen_horizons": "10"}
Judged = Callable[..., Report]


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a program's source on the task, or on a smaller one."""
    executor = LocalExecutor(TASK, 1)

    def judge(source: str, seed: int = 0, **parameters: Any) -> Report:
        trial = Trial(seed, parameters=Parameters({**TASK.parameters, **parameters}))
        job = Job("1.0", "evaluate", trial, {"seed.py": source}, ungated=True)
        return decode_report(executor.submit(job.id, encode_job(job)).result(240))

    yield judge
    executor.close()


def shown(report: Report) -> float:
    """The fitness as the user reads it."""
    assert report.evaluation.fitness is not None, report.texts[report.evaluation.feedback]
    return TASK.fitness.shown(report.evaluation.fitness)


def told(report: Report) -> str:
    return report.texts[report.evaluation.feedback]


def test_the_seed_is_plain_cfr_with_numbers_to_tune(evaluated: Judged) -> None:
    """It keeps all regrets, hopes for nothing, and counts every iteration alike."""
    assert template(TASK.seed).values == (1.0, 1.0, 0.0, 0.0)
    plain = """
import numpy as np

def regret_update(R, r, t, state):
    return R + r

def policy(R, r_pred, t, state):
    return np.maximum(R, 0)

def average_weight(t, own_reach, state):
    return 1
"""
    seed, other = evaluated(rules.CFR, **SMALL), evaluated(plain, **SMALL)
    assert seed.evaluation.fitness == other.evaluation.fitness
    assert seed.evaluation.descriptors == other.evaluation.descriptors
    assert seed.evaluation.descriptors["recency"] == 0.5


def test_the_score_is_the_mean_over_games_and_horizons(evaluated: Judged) -> None:
    """Each of which is a case; equal judgings are equal."""
    options = {**SMALL, "games": "kuhn2 kuhn3"}
    report = evaluated(rules.CFR_PLUS, **options)
    cases = report.evaluation.cases
    assert set(cases) == {"kuhn2 after 30", "kuhn2 after 60", "kuhn3 after 30", "kuhn3 after 60"}
    assert shown(report) == pytest.approx(-sum(cases.values()) / 4, abs=1e-12)
    assert evaluated(rules.CFR_PLUS, **options).evaluation.cases == cases
    assert "kuhn3: " in told(report)


def test_another_seed_plays_for_other_payoffs_and_none_with_the_published_ones(evaluated: Judged) -> None:
    """Where the order of sets changes nothing, and units neither."""
    scores = [shown(evaluated(rules.CFR, seed=seed, **SMALL)) for seed in (0, 1)]
    published = [
        shown(evaluated(rules.CFR, seed=seed, **{**SMALL, "disguise": 0.0, "draw_units": True})) for seed in (0, 1)
    ]
    assert abs(scores[0] - scores[1]) > 1e-4
    assert published[0] == pytest.approx(published[1], abs=1e-6)


REFUSED = {
    "not a number": ("policy", "return R * np.nan", Outcome.INVALID),
    "a negative weight": ("average_weight", "return -1.0", Outcome.INVALID),
    "nothing": ("policy", "pass", Outcome.INVALID),
    "a text": ("policy", "return 'best'", Outcome.INVALID),
    "raises after a while": ("regret_update", "assert t < 5\n    return R + r", Outcome.CRASHED),
    "stops": ("regret_update", "import os\n    os._exit(0)", Outcome.CRASHED),
    "never answers": ("average_weight", "\n    while True:\n        pass", Outcome.TIMED_OUT),
}
HEADS = {
    "policy": "policy(R, r_pred, t, state)",
    "regret_update": "regret_update(R, r, t, state)",
    "average_weight": "average_weight(t, own_reach, state)",
}


@pytest.mark.parametrize(("function", "body", "outcome"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_play_is_refused(evaluated: Judged, function: str, body: str, outcome: Outcome) -> None:
    """With a reason, and without a fitness."""
    report = evaluated(f"{rules.CFR}\n\ndef {HEADS[function]}:\n    {body}\n", **SMALL)
    assert (report.evaluation.outcome, report.evaluation.fitness) == (outcome, None)
    assert told(report)


def test_a_program_without_one_of_the_functions_is_told_which(evaluated: Judged) -> None:
    """It crashes."""
    report = evaluated(rules.CFR.replace("def average_weight", "def weight"), **SMALL)
    assert report.evaluation.outcome is Outcome.CRASHED
    assert "average_weight" in told(report)


@pytest.mark.parametrize(
    ("parameters", "remedy"),
    [
        ({"games": "chess"}, "there is no game 'chess'"),
        ({"games": ""}, "Do: --set task.games="),
        ({"horizons": "300, 1000"}, "Do: --set task.horizons='300 1000'"),
        ({"horizons": "0"}, "Do: --set task.horizons='300 1000'"),
        ({"disguise": 1.5}, "Do: --set task.disguise=0.1"),
    ],
)
def test_parameters_that_name_nothing_to_play_are_the_evaluators_fault(
    evaluated: Judged, parameters: dict[str, str], remedy: str
) -> None:
    """And it says what to set."""
    report = evaluated(rules.CFR, **{**SMALL, **parameters})
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert remedy in told(report)


@pytest.mark.slow
@pytest.mark.parametrize("variant", rules.VARIANTS)
def test_known_variants_have_the_values_of_the_table_without_a_secret(evaluated: Judged, variant: str) -> None:
    """On the whole task, with disguised payoffs; descriptors lie on the axes."""
    report = evaluated(rules.VARIANTS[variant])
    public = {"CFR": -1.924, "LCFR": -2.422, "CFR+": -3.252, "PCFR+": -3.304, "DCFR": -3.692, "DPCFR+": -3.905}
    assert shown(report) == pytest.approx(public[variant], abs=2e-3)
    assert all(axis.low <= report.evaluation.descriptors[axis.name] <= axis.high for axis in TASK.axes)


def test_the_task_promises_held_out_games_and_nothing_below_the_bound() -> None:
    """What `task.toml` says agrees with the evaluator."""
    assert (TASK.deterministic, TASK.promotion, TASK.bound, TASK.fitness.direction) == (True, "held_out", -12.05, "min")
    assert {name for case in TASK.held_out for name in case.parameters["games"].split()} >= {"kuhn4", "goof5", "liars6"}
    assert [stage.name for stage, _ in FILES.evaluator.evaluate.stages(TASK)] == ["evaluate", "full"]
    assert all(anchor.source for anchor in TASK.anchors)
    assert FILES.exact.log10(FILES.exact.Fraction(0)) >= TASK.bound
