"""Facts about the picture of a benchmark."""

import xml.etree.ElementTree as ElementTree

import pytest
from benchmark_problems import evaluated, halving

from evolve.types import Trial
from evolve_benchmark.evaluator import Benchmark
from evolve_benchmark.picture import LATE, draw_scores
from evolve_benchmark.settings import BenchmarkSettings

SPACE = "{http://www.w3.org/2000/svg}"


def row(score, kind="", late=False):
    return {"kind": kind, "label": "", "value": 1.0, "reference": 1.0, "score": score, "late": late}


def bars(text):
    """Height and colour of each."""
    found = ElementTree.fromstring(text).iter(f"{SPACE}rect")
    return [(float(one.attrib["height"]), one.attrib["fill"]) for one in found]


def test_every_instance_has_a_bar_and_the_worst_is_first():
    """Their heights are in proportion to the scores; one that was late is red."""
    drawn = bars(draw_scores([row(1.0), row(0.25, late=True), row(0.5)]))
    assert [height for height, _ in drawn] == pytest.approx([20.0, 40.0, 80.0])
    assert [colour == LATE for _, colour in drawn] == [True, False, False]


def test_kinds_have_colours_and_names_and_names_are_escaped():
    """A name is a text of the task's, and no tag."""
    text = draw_scores([row(1.0, "<few>"), row(3.0, "many")])
    assert len({colour for _, colour in bars(text)}) == 2
    words = [one.text for one in ElementTree.fromstring(text).iter(f"{SPACE}text")]
    assert words == ["2 instances, the worst 1", "<few>", "many"]


def test_the_evaluator_draws_what_it_has_kept(tmp_path):
    """From the artifacts of an evaluation alone."""
    task = halving(tmp_path)
    draw = Benchmark(BenchmarkSettings(module="problem.py")).functions(task)["draw"]
    assert len(bars(draw(evaluated(task, lambda number: number / 2).artifacts, Trial()))) == 6
