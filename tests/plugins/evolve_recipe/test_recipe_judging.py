"""Facts about the evaluator `recipe`: what a program is served, what it is asked, and what its answers are worth. In real processes."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from evolve.evaluation import Report
from evolve.task import load
from evolve.testing import check_evaluator
from evolve.types import EvolveError, Outcome
from evolve_recipe.data import load_module, read_data
from evolve_recipe.recipe import Recipe
from tests.judged_here import Judged, judging

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the candidate's processes need Linux"),
]

PROBLEM = """
import numpy as np

def data(parameters):
    rng = np.random.default_rng(1)
    targets = rng.integers(parameters["classes"], size=400)
    inputs = rng.normal(size=(400, 3)) + 3.0 * targets[:, None]
    inputs[:20] *= -1
    return inputs, targets

def disturbed(inputs, rng, parameters):
    return inputs + parameters["moved"]
"""
SEED = """
import numpy as np

def train(inputs, targets, told):
    return {"means": [float(inputs[targets == label].mean()) for label in range(told["classes"])]}

def predict(model, inputs):
    return np.abs(inputs.mean(axis=1)[:, None] - np.array(model["means"])).argmin(axis=1)
"""
BARE = SEED.replace('{"means": ', "").replace("]}", "]").replace('model["means"]', "model")
"""The same, with a list of two numbers for a model."""
ALWAYS = "def predict(model, inputs):\n    return [0] * len(inputs)\n"
TASK = """
schema = 1
evaluator = {{ plugin = "recipe", predict_seconds = 60{settings} }}

[parameters]
part = "search"
folds = 3
sample = 0
labels_per_class = 0
control = ""
moved = 0.0
classes = 2

[[stages]]
seconds = 200

[sandbox]
preload = ["numpy"]
"""
PATIENT = ", seconds = 60"
"""No test but that of the limit is about how fast this machine is."""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., Judged]]:
    """Makes a task with some settings of the evaluator, and gives what judges programs on it: one judge, as in one process."""
    with ExitStack() as stack:

        def make(settings: str = "", before_seed: str = "") -> Judged:
            for name, text in (("problem.py", PROBLEM), ("seed.py", before_seed + SEED), ("README.md", "Classify.")):
                (tmp_path / name).write_text(text)
            patient = settings if " seconds" in settings else settings + PATIENT
            (tmp_path / "task.toml").write_text(TASK.format(settings=patient))
            task = load(tmp_path)
            judge = stack.enter_context(judging(task, Recipe(task.evaluator.settings)))
            return lambda source=SEED, seed=0, **parameters: judge({"seed.py": source}, seed, **parameters)

        yield make


def told(report: Report) -> str:
    return report.texts[report.evaluation.feedback]


def test_it_keeps_the_promises_of_an_evaluator() -> None:
    """For any task, with a cheap first stage and without."""
    check_evaluator(lambda: Recipe({}))
    check_evaluator(lambda: Recipe({}))


def test_the_fitness_is_the_share_of_right_labels(made: Callable[..., Judged]) -> None:
    """The means of two clouds are a good recipe, and the commonest label is none; the same trial gets the same."""
    evaluated = made()
    good, again, bad = evaluated(), evaluated(), evaluated(SEED.split("def predict")[0] + ALWAYS)
    assert good.evaluation.fitness is not None
    assert good.evaluation.fitness > 0.9
    assert again.evaluation.fitness == good.evaluation.fitness
    assert bad.evaluation.fitness == pytest.approx(0.5, abs=0.1)
    metrics = good.evaluation.metrics
    assert metrics["accuracy_low"] < good.evaluation.fitness < metrics["accuracy_high"]
    assert set(good.evaluation.descriptors) == {"log2_model_bytes", "log10_train_seconds"}


def test_a_program_is_compared_with_the_seed_on_the_same_rows(made: Callable[..., Judged]) -> None:
    """Also where this judge has never seen the seed; the seed's gain over itself is none, and a tie."""
    evaluated = made()
    worse = evaluated(SEED.split("def predict")[0] + ALWAYS)
    seed = evaluated()
    assert worse.evaluation.metrics["gain"] == pytest.approx(
        (worse.evaluation.fitness or 0) - (seed.evaluation.fitness or 0)
    )
    assert worse.evaluation.metrics["gain_p"] < 1e-6
    assert "(worse)" in told(worse)
    assert (seed.evaluation.metrics["gain"], seed.evaluation.metrics["gain_p"]) == (0.0, 1.0)
    assert "(a tie)" in told(seed)


def test_what_the_baseline_takes_is_not_the_programs(made: Callable[..., Judged]) -> None:
    """A seed that computes for a while costs no program its processor time."""
    slow = SEED.replace("    return {", "    sum(range(6_000_000))\n    return {")
    evaluated = made(", repeats = 1")
    assert evaluated(slow).evaluation.cpu_seconds > 3 * evaluated(SEED + "\n").evaluation.cpu_seconds


def test_a_failing_baseline_takes_nothing_from_a_program(made: Callable[..., Judged]) -> None:
    """There is no comparison then."""
    evaluated = made(", model_bytes = 40")
    found = evaluated(BARE)
    assert found.evaluation.outcome is Outcome.OK, told(found)
    assert "gain" not in found.evaluation.metrics
    assert evaluated().evaluation.outcome is Outcome.INVALID


def test_a_baseline_that_crashes_takes_nothing_from_a_program(made: Callable[..., Judged], tmp_path: Path) -> None:
    """As on parameters that the seed cannot train with."""
    evaluated = made(", repeats = 1", 'raise ValueError("not with these")\n')
    found = evaluated(BARE)
    assert (found.evaluation.outcome, "gain" in found.evaluation.metrics) == (Outcome.OK, False), told(found)


NOISY = SEED.replace(
    "    return {",
    '    rng = np.random.default_rng(told["seed"])\n    if rng.random() < 0.5:\n        targets = 1 - targets\n    return {',
)


def test_the_standard_error_is_that_of_the_seeds(made: Callable[..., Judged]) -> None:
    """Nothing for a recipe that draws nothing; much for one that inverts the labels by a coin; unknown for one training per fold."""
    evaluated = made(", repeats = 3")
    assert evaluated().evaluation.standard_error == 0.0
    noisy = [evaluated(NOISY, seed=seed).evaluation for seed in range(3)]
    assert all(found.standard_error is not None and found.standard_error > 0.05 for found in noisy)
    assert len({found.fitness for found in noisy}) > 1
    assert made(", repeats = 1")().evaluation.standard_error is None


SERVED = """
import numpy as np
COUNTS = []

def train(inputs, targets, told):
    COUNTS.append(len(inputs))
    if told["samples_left"] > LEAST:
        return 50
    assert len(inputs) == len(targets)
    return COUNTS

def predict(model, inputs):
    return [int(inputs[row].mean() > 1.5) for row in range(len(inputs))]
"""


def test_samples_are_metered_by_the_judge(made: Callable[..., Judged]) -> None:
    """A training asks for as many as it wants, and gets what the budget has left."""
    evaluated = made(", samples = 230, first = 100")
    found = evaluated(SERVED.replace("LEAST", "0"))
    assert (found.evaluation.outcome, found.evaluation.metrics["samples_served"]) == (Outcome.OK, 230.0)
    assert evaluated(SERVED.replace("LEAST", "100")).evaluation.metrics["samples_served"] == 150.0


@pytest.mark.parametrize(
    ("settings", "train", "outcome", "message"),
    [
        ("", "return 5", Outcome.INVALID, "everything at once"),
        (", samples = 200", "return 10_000", Outcome.INVALID, "all 200 samples"),
        (", samples = 200", "return -3", Outcome.INVALID, "got -3"),
        ("", "return None", Outcome.INVALID, "must return its model"),
        (", model_bytes = 10000", "return np.zeros(2000)", Outcome.INVALID, "10,000 bytes"),
        (", seconds = 0.3", "while True: pass", Outcome.TIMED_OUT, "in time"),
        ("", "raise ValueError('no')", Outcome.CRASHED, "ValueError: no"),
    ],
)
def test_a_training_that_breaks_its_bounds_has_its_outcome(
    made: Callable[..., Judged], settings: str, train: str, outcome: Outcome, message: str
) -> None:
    """And says which bound."""
    source = f"import numpy as np\n\ndef train(inputs, targets, told):\n    {train}\n\n{ALWAYS}"
    found = made(settings)(source)
    assert (found.evaluation.outcome, message in told(found)) == (outcome, True), told(found)


@pytest.mark.parametrize(
    "answer",
    [
        "None", "[0]", "[True] * len(inputs)", "[0.0] * len(inputs)", "[2] * len(inputs)", "[-1] * len(inputs)",
        "np.zeros((len(inputs), 2))", "np.zeros(len(inputs))", "np.full(len(inputs), 7)", "np.full(len(inputs), True)",
        "[10 ** 400] * len(inputs)", "np.zeros((0, 5), dtype=int)", "{'labels': [0] * len(inputs)}",
    ],
)  # fmt: skip
def test_what_is_no_list_of_labels_is_invalid(made: Callable[..., Judged], answer: str) -> None:
    """However it comes."""
    source = SEED.split("def predict")[0] + f"def predict(model, inputs):\n    return {answer}\n"
    found = made(", repeats = 1")(source)
    assert (found.evaluation.outcome, "predict() must return" in told(found)) == (Outcome.INVALID, True), told(found)


def test_an_answer_depends_on_its_own_input_alone(made: Callable[..., Judged]) -> None:
    """Who looks at what else is asked answers otherwise in the other process."""
    ranked = "def predict(model, inputs):\n    return (np.argsort(np.argsort(inputs[:, 0])) % 2)\n"
    found = made()(SEED.split("def predict")[0] + ranked)
    assert (found.evaluation.outcome, "among other inputs" in told(found)) == (Outcome.WRONG, True)


def test_nothing_of_a_training_but_its_model_reaches_the_predictions(made: Callable[..., Judged]) -> None:
    """Neither what a module remembers, nor what was written."""
    source = """
SEEN = []

def train(inputs, targets, told):
    SEEN.append(1)
    open("left", "w").write("x")
    return [0]

def predict(model, inputs):
    import os
    assert not SEEN and not os.path.exists("left")
    return [0] * len(inputs)
"""
    assert made()(source).evaluation.outcome is Outcome.OK


KNOWS = """
def train(inputs, targets, told):
    return {"none": 0}

def predict(model, inputs):
    return [min(3, max(0, round(float(row.mean()) / 3))) for row in inputs]
"""


def test_shuffled_labels_find_out_who_has_its_answers_from_elsewhere(made: Callable[..., Judged]) -> None:
    """A recipe that learns scores at chance there, and all such recipes alike."""
    evaluated = made()
    control: Any = {"control": "shuffled", "classes": 4, "folds": 4}
    honest, knowing = evaluated(**control), evaluated(KNOWS, **control)
    assert (honest.evaluation.outcome, honest.evaluation.fitness) == (Outcome.OK, 0.25)
    assert (knowing.evaluation.outcome, "dealt out at random" in told(knowing)) == (Outcome.WRONG, True)


def test_a_problem_may_disturb_what_is_asked_about(made: Callable[..., Judged]) -> None:
    """Moved far away, all inputs look like one class."""
    assert made()(moved=100.0).evaluation.fitness == pytest.approx(0.5, abs=0.1)


def test_rows_that_are_kept_are_asked_about_after_one_training_each(made: Callable[..., Judged]) -> None:
    """The parts have other rows, and so other values."""
    evaluated = made(", repeats = 1")
    assert evaluated(part="promotion", folds=1).evaluation.metrics["samples_served"] == 240.0
    assert evaluated(part="search", folds=3).evaluation.metrics["samples_served"] == 160.0
    assert evaluated(labels_per_class=4).evaluation.metrics["samples_served"] == 8.0


def test_what_is_wrong_with_a_problem_is_one_error(made: Callable[..., Judged], tmp_path: Path) -> None:
    """At the first judging; it is nobody's program's fault."""
    evaluated = made(", problem = 'other.py'")
    found = evaluated()
    assert (found.evaluation.outcome, "Try: write it" in told(found)) == (Outcome.INTERNAL, True)
    (tmp_path / "other.py").write_text("x = 1\n")
    assert "there is no function data(parameters)" in told(evaluated())
    (tmp_path / "other.py").write_text("def data(parameters):\n    return [[0.0], [1.0]], [0, 5, 6]\n")
    assert "a whole number from 0 on for each" in told(evaluated())


@pytest.mark.parametrize("targets", ["[0, 1.5]", "[0, -1]", "[0, 0]", "[]"])
def test_labels_are_whole_numbers_of_two_classes_at_least(tmp_path: Path, targets: str) -> None:
    """Read before any program is asked."""
    (tmp_path / "problem.py").write_text(f"def data(parameters):\n    return [[0.0], [1.0]], {targets}\n")
    with pytest.raises(EvolveError, match="Try: return finite inputs"):
        read_data(load_module(tmp_path, "problem.py"), {})


def test_a_program_with_files_of_its_own_is_compared_with_the_seed(made: Callable[..., Judged], tmp_path: Path) -> None:
    """Which has none of them: its sessions are in another box, so nothing of the program stands in the way of what the seed imports."""
    made()
    text = TASK.format(settings=", repeats = 1" + PATIENT)
    new_files = 'program.new_files = ["*.py"]\n\n[parameters]'
    (tmp_path / "task.toml").write_text(text.replace("[parameters]", new_files, 1))
    (tmp_path / "seed.py").write_text("try:\n    import more\nexcept ImportError:\n    more = None\n" + SEED)
    task = load(tmp_path)
    better = task.seed.files["seed.py"].replace("    return {", "    assert more\n    return {", 1)
    worse = better.split("def predict")[0] + ALWAYS
    with judging(task, Recipe(task.evaluator.settings)) as judge:
        found = judge({"seed.py": worse, "more.py": "x = 1\n"}).evaluation
    assert found.metrics["gain_p"] < 1e-6


@pytest.mark.parametrize("name", ["digits_recipe", "digits_torch"])
def test_the_problems_of_the_bundled_recipes_can_be_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is a link to the other's; none needs what programs need."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    task = load(name)
    module = load_module(task.folder, task.evaluator.settings["problem"])
    assert read_data(module, task.parameters).classes == 10
