"""Facts about the settings of the evaluator `benchmark`, and how it is registered."""

import pytest

from evolve.plugins import BUNDLED, load
from evolve.types import ConfigError, EvaluatorSource
from evolve_benchmark.settings import BenchmarkSettings

MODULE = {"module": "problem.py"}


def test_it_is_bundled():
    """And known by its name."""
    assert load([]).evaluators["benchmark"].plugin == "evolve_benchmark"
    assert "evolve_benchmark" in BUNDLED


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "module"),
        ({**MODULE, "mode": "fast"}, "'quality', 'quality at time' or 'speed'"),
        ({**MODULE, "mode": "speed", "seconds": 1.0}, 'mode "speed" has no use for seconds: leave that out'),
        ({**MODULE, "mode": "speed", "mean": "harmonic", "late": 0.5}, "has no use for mean and late: leave that out"),
        ({**MODULE, "pairs_most": 10}, 'mode "quality" has no use for pairs_most: leave that out'),
        ({**MODULE, "mode": "speed", "pairs_most": 6}, "pairs_most is 6, fewer than pairs_first, 8"),
        ({**MODULE, "mode": "speed", "clock": "sun"}, "clock"),
        ({**MODULE, "mode": "quality at time"}, "write seconds, such as"),
        ({**MODULE, "seconds": 1.0}, "leave seconds out, or write"),
        ({**MODULE, "mean": "median"}, "mean"),
        ({**MODULE, "at_most": 0.0}, "at_most"),
        ({**MODULE, "better": "max"}, "better"),
        ({**MODULE, "modul": "x"}, "no setting 'modul'. Did you mean 'module'?"),
    ],
)
def test_what_cannot_be_judged_by_is_an_error(settings, said):
    """Before anything is made."""
    with pytest.raises(ConfigError, match=said.replace("?", r"\?").replace(".", r"\.")):
        load([]).evaluator(EvaluatorSource(plugin="benchmark", settings=settings))


def test_little_must_be_written():
    """The module alone."""
    assert BenchmarkSettings(**MODULE).function == "solve"
