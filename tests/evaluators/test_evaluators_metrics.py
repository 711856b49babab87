"""Facts about where a script says what it is worth."""

import pytest

from evolve.evaluators.metrics import Metric
from evolve.evaluators.saved import Unreadable

FILES = {"out/results.json": b'{"validation": {"accuracy": 0.75}}', "log.CSV": b"loss\n3\n2\n"}
STREAMS = {"stdout": "loss = 3\nloss = 2.5\nloss = nothing", "stderr": "warning: 7 %"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("out/results.json:validation.accuracy", 0.75),
        ("log.CSV:loss", 2.0),
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
        ":x",
        "stdout:[",
        "stdout:none",
        "stdout:(a)(b)",
    ],
)
def test_a_metric_that_nothing_can_be_read_from_is_an_error(written: str) -> None:
    """Before anything runs, with the remedy."""
    with pytest.raises(ValueError, match="Do: "):
        Metric.parse(written)


def test_only_the_beginning_of_a_long_line_is_searched() -> None:
    """An expression that goes back and forth over a line of megabytes has no end."""
    with pytest.raises(Unreadable):
        Metric.parse("stdout:x(1)").read({}, {"stdout": " " * 10_000 + "x1", "stderr": ""})
