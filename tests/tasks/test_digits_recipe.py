"""Facts about the task `digits_recipe`: its data, how it judges, and values that are known from elsewhere."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from task_files import judging_files

from evolve.evaluation import Report
from evolve.operators.literals import template
from evolve.task import load
from evolve.types import EvolveError, Outcome
from evolve_recipe.recipe import Recipe
from tests.judged_here import Judged, judging

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the candidate's processes need Linux"),
]

TASK = load("digits_recipe")
SEED = TASK.seed.files["seed.py"]
DIGITS: Any = judging_files("digits_recipe", "digits").digits
PER_CLASS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
NEAREST = """
def train(inputs, targets, told):
    return {"inputs": inputs, "targets": targets}

def predict(model, inputs):
    known = model["inputs"]
    far = (known**2).sum(axis=1)[None, :] - 2.0 * inputs @ known.T
    return model["targets"][far.argmin(axis=1)]
"""


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a program's source, as one judge process does."""
    # No test here is about how fast this machine is.
    patient = Recipe({**TASK.evaluator.settings, "repeats": 1, "seconds": 60.0, "predict_seconds": 60.0})
    with judging(TASK, patient) as judge:
        yield lambda source, **parameters: judge({"seed.py": source}, **parameters)


def accuracy(report: Report) -> float:
    assert report.evaluation.fitness is not None, report.texts[report.evaluation.feedback]
    return report.evaluation.fitness


def test_the_data_are_the_published_images() -> None:
    """Their number, range and classes, as the UCI repository and scikit-learn tell them; the first is a zero."""
    inputs, targets = DIGITS.data({})
    assert (inputs.shape, inputs.dtype, inputs.min(), inputs.max()) == ((1797, 64), np.float32, 0, 16)
    assert np.bincount(targets).tolist() == PER_CLASS
    assert (int(inputs.sum()), inputs[0, :8].tolist(), targets[:10].tolist()) == (
        561718,
        [0, 0, 5, 13, 9, 1, 0, 0],
        list(range(10)),
    )


def test_a_moved_image_is_the_image_a_pixel_further() -> None:
    """Each of the four sides occurs, and what comes in is empty."""
    images = np.arange(1, 65, dtype=np.float32).reshape(1, 64).repeat(100, axis=0)
    moved = DIGITS.disturbed(images, np.random.default_rng(0), {"shift": 1}).reshape(-1, 8, 8)
    image = images[0].reshape(8, 8)
    sides = {
        "down": (moved[:, 1:] == image[:-1]).all(axis=(1, 2)) & (moved[:, 0] == 0).all(axis=1),
        "up": (moved[:, :-1] == image[1:]).all(axis=(1, 2)) & (moved[:, -1] == 0).all(axis=1),
        "right": (moved[:, :, 1:] == image[:, :-1]).all(axis=(1, 2)) & (moved[:, :, 0] == 0).all(axis=1),
        "left": (moved[:, :, :-1] == image[:, 1:]).all(axis=(1, 2)) & (moved[:, :, -1] == 0).all(axis=1),
    }
    assert sum(found.astype(int) for found in sides.values()).tolist() == [1] * 100
    assert all(found.any() for found in sides.values())
    assert DIGITS.disturbed(images, np.random.default_rng(0), {"shift": 0}) is images
    with pytest.raises(EvolveError, match="Do: set shift"):
        DIGITS.disturbed(images, np.random.default_rng(0), {"shift": 8})


def test_where_programs_could_read_the_labels_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """scikit-learn brings the same images."""
    monkeypatch.setattr(DIGITS.importlib.util, "find_spec", lambda name: ModuleType(name))
    with pytest.raises(EvolveError, match="scikit-learn is installed") as error:
        DIGITS.data({})
    assert "Do: name a Python without it" in str(error.value)


def test_the_seed_learns_and_has_numbers_to_tune(evaluated: Judged) -> None:
    """It is worse than the nearest neighbour, and within the axes."""
    seed, nearest = evaluated(SEED), evaluated(NEAREST)
    assert 0.9 < accuracy(seed) < accuracy(nearest)
    assert nearest.evaluation.metrics["gain"] == pytest.approx(accuracy(nearest) - accuracy(seed))
    assert nearest.evaluation.metrics["gain_p"] < 0.05
    assert all(axis.low <= seed.evaluation.descriptors[axis.name] <= axis.high for axis in TASK.axes)
    assert len(template(TASK.seed).values) >= 4


def test_the_nearest_neighbour_has_its_known_accuracy(evaluated: Judged) -> None:
    """0.9878 by five folds over all images (scikit-learn's, measured elsewhere), and 0.9141 with ten labels per class over ten draws."""
    assert accuracy(evaluated(NEAREST, part="all")) == pytest.approx(0.9878, abs=0.003)
    assert accuracy(evaluated(NEAREST, part="all", folds=10, labels_per_class=10)) == pytest.approx(0.9141, abs=0.02)


def test_every_anchor_is_what_this_judge_finds(evaluated: Judged) -> None:
    """To its last digit."""
    (anchor,) = [anchor for anchor in TASK.anchors if anchor.by == "the nearest neighbour"]
    assert accuracy(evaluated(NEAREST)) == pytest.approx(anchor.value, abs=5e-5)


@pytest.mark.parametrize("case", TASK.held_out, ids=lambda case: case.name)
def test_the_nearest_neighbour_is_no_worse_than_the_seed_on_what_is_held_out(evaluated: Judged, case: Any) -> None:
    """So it can be promoted."""
    nearest, seed = (evaluated(source, **case.parameters) for source in (NEAREST, SEED))
    assert accuracy(nearest) >= accuracy(seed)


def test_who_knows_the_labels_from_elsewhere_is_found_out(evaluated: Judged) -> None:
    """By the control, in which the labels that it is served mean nothing: here they stand in the program."""
    inputs, targets = DIGITS.data({})
    known = {
        hash(tuple(image)): label for image, label in zip(inputs.astype(int).tolist(), targets.tolist(), strict=True)
    }
    source = f"""
KNOWN = {known!r}

def train(inputs, targets, told):
    return [0]

def predict(model, inputs):
    return [KNOWN[hash(tuple(image))] for image in inputs.astype(int).tolist()]
"""
    assert accuracy(evaluated(source)) == 1.0
    (control,) = [case for case in TASK.held_out if case.parameters["control"]]
    assert evaluated(source, **control.parameters).evaluation.outcome is Outcome.WRONG


def test_the_file_with_the_data_says_whose_they_are() -> None:
    """The licence asks for it."""
    folder = Path(TASK.folder)
    assert "CC BY 4.0" in (folder / "README.md").read_text("utf-8")
    assert (folder / "digits.npz").stat().st_size < 80_000
