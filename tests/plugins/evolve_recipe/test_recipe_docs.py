"""The page about training recipes: its example is a task, and it names every setting with its default."""

import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from evolve import plugins
from evolve.task import load
from evolve.types import Outcome
from evolve_recipe.data import CONTROLS, PARTS, Plan
from evolve_recipe.settings import RecipeSettings
from tests.judged_here import judging
from tests.pages import read_chapter

pytestmark = pytest.mark.integration

PAGE = read_chapter("evaluators", "Training recipes")
SEED = """
import numpy as np


def train(inputs, targets, told):
    return np.array([inputs[targets == label].mean() for label in range(told["classes"])])


def predict(model, inputs):
    return np.abs(inputs.mean(axis=1)[:, None] - model).argmin(axis=1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the candidate's processes need Linux")
def test_the_example_of_the_page_is_a_task(tmp_path: Path) -> None:
    """With a seed and a brief; its seed passes, on every held-out case too."""
    (toml,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (problem,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    texts = {"task.toml": toml, "problem.py": problem, "seed.py": SEED, "README.md": "Classify.\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    task = load(tmp_path)
    with judging(task, plugins.load([]).evaluator(task.evaluator)) as evaluated:
        for parameters in ({}, *(case.parameters for case in task.held_out)):
            report = evaluated(task.seed.files, **parameters)
            assert report.evaluation.outcome is Outcome.OK, report.texts
    assert len(task.held_out) == 3


def test_every_setting_and_parameter_is_told() -> None:
    """Those with a default that matters with it."""
    for name, field in RecipeSettings.model_fields.items():
        assert f"`{name}`" in PAGE or f"`{name} = " in PAGE, name
        assert field.description
    budgets = ("seconds", "predict_seconds", "model_bytes")
    for name in budgets:
        assert re.search(rf"\| `{name}` \| `{RecipeSettings.model_fields[name].default}`", PAGE), name
    for word in (*(field.name for field in fields(Plan)), *(f'"{word}"' for word in (*PARTS, *CONTROLS) if word)):
        assert word in PAGE
