"""Facts about the settings of the evaluator `command`: what cannot be meant is an error, with what to do."""

from collections.abc import Mapping

import pytest

from evolve.plugins import load
from evolve.types import ConfigError, EvaluatorSource

CLAIMED = {"argv": ["python", "train.py"], "metric": "results.json:accuracy"}
RESCORED = {"argv": ["python", "train.py"], "trust": "rescored", "rescore": "rescore.py", "saved": ["model.npy"]}


@pytest.mark.parametrize("settings", [CLAIMED, RESCORED], ids=["claimed", "rescored"])
def test_settings_that_agree_make_an_evaluator(settings: Mapping[str, object]) -> None:
    """It is registered as a plugin's is."""
    found = load(())
    assert found.evaluators["command"].plugin == "evolve.evaluators"
    assert found.evaluator(EvaluatorSource(plugin="command", settings=settings)) is not None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metric": ""}, "a claimed score is read from `metric`"),
        ({"rescore": "rescore.py"}, "nothing is rescored"),
        ({"trust": "witnessed"}, "'claimed' or 'rescored'"),
        ({"trust": "rescored"}, "a rescored one is computed"),
        ({**RESCORED}, "no metric is read"),
        ({**RESCORED, "metric": "", "saved": []}, "from the files `saved`"),
        ({"argv": []}, "at least 1 item"),
        ({"argv": ["{out}"]}, "names a command"),
        ({"argv": ["python", "train.py", "{seeds}"]}, "Did you mean 'seed'"),
        ({"arguments": {"quick": ["{epochs}"]}}, "there is no {epochs}"),
        ({"metric": "results.txt:accuracy"}, "a metric is"),
        ({"metrics": {"loss": "stdout:("}}, "no regular expression"),
        ({"saved": ["../model.npy"]}, "without . and .."),
        ({"saved": ["a.npy", "a.npy"]}, "named twice"),
        ({"bytes": 0}, "greater than or equal to 1"),
        ({"cpu_seconds": float("inf")}, "finite"),
        ({"metrik": "x"}, "no setting 'metrik'"),
    ],
)
def test_settings_that_cannot_be_meant_are_an_error(changes: Mapping[str, object], said: str) -> None:
    """That says what is wrong and what to do."""
    with pytest.raises(ConfigError) as error:
        load(()).evaluator(EvaluatorSource(plugin="command", settings={**CLAIMED, **changes}))
    assert said in str(error.value)
    assert "Do: " in str(error.value)


def test_braces_of_a_shell_and_of_json_are_no_placeholders() -> None:
    """They reach the script as they are."""
    settings = {**CLAIMED, "argv": ["sh", "-c", "echo ${HOME}", '{"lr": 0.1}']}
    load(()).evaluator(EvaluatorSource(plugin="command", settings=settings))
