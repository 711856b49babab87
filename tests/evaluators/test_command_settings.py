"""Settings of the evaluator `command`, and the sources of a script's score: what cannot be meant is an error, with what to do."""

from collections.abc import Mapping

import pytest

from evolve.evaluators.command import Metric
from evolve.evaluators.saved import Unreadable
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
        ({"bytes": 0}, "greater than or equal to 1"),
        ({"metrik": "x"}, "no setting 'metrik'"),
    ],
)
def test_settings_that_cannot_be_meant_are_an_error(changes: Mapping[str, object], said: str) -> None:
    """That says what is wrong and what to do."""
    with pytest.raises(ConfigError) as error:
        load(()).evaluator(EvaluatorSource(plugin="command", settings={**CLAIMED, **changes}))
    assert said in str(error.value)
    assert str(error.value).count("Try: ") == 1


def test_braces_of_a_shell_and_of_json_are_no_placeholders() -> None:
    """They reach the script as they are."""
    settings = {**CLAIMED, "argv": ["sh", "-c", "echo ${HOME}", '{"lr": 0.1}']}
    load(()).evaluator(EvaluatorSource(plugin="command", settings=settings))


FILES = {"out/results.json": b'{"validation": {"accuracy": 0.75}}'}
STREAMS = {"stdout": "loss = 3\nloss = 2.5\nloss = nothing", "stderr": "warning: 7 %"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("out/results.json:validation.accuracy", 0.75),
        (r"stdout:loss = ([\d.]+)", 2.5),
        (r"stderr:: (\d+) %", 7.0),
    ],
)
def test_a_metric_is_read_from_where_it_stands(written: str, value: float) -> None:
    """Of lines that match, the last one counts."""
    assert Metric.parse(written).read(FILES, STREAMS) == value


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("results.json:accuracy", "results.json: the script left no such file"),
        ("out/results.json:loss", "out/results.json: there is no 'loss'"),
        (r"stdout:accuracy (\d+)", "stdout: no line matches"),
        ("stdout:loss = (nothing)", "'nothing' is no number"),
        ("stdout:(x)?warn|loss", "'' is no number"),
    ],
)
def test_what_is_not_there_is_said_with_its_place(written: str, said: str) -> None:
    """So that whoever writes the script can mend it."""
    with pytest.raises(Unreadable, match=said):
        Metric.parse(written).read(FILES, STREAMS)


@pytest.mark.parametrize(
    "written",
    [
        "accuracy",
        "results.json",
        "results.json:",
        "results.txt:accuracy",
        "log.csv:loss",
        ":x",
        "stdout:[",
        "stdout:none",
        "stdout:(a)(b)",
    ],
)
def test_a_metric_that_nothing_can_be_read_from_is_an_error(written: str) -> None:
    """Before anything runs, with the remedy."""
    with pytest.raises(ValueError, match="Try: "):
        Metric.parse(written)


def test_only_the_beginning_of_a_long_line_is_searched() -> None:
    """An expression that goes back and forth over a line of megabytes has no end."""
    with pytest.raises(Unreadable):
        Metric.parse("stdout:x(1)").read({}, {"stdout": " " * 10_000 + "x1", "stderr": ""})
