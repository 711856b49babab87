"""How benchmarks tell their figures."""

import importlib.util
import json
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("figures", Path(__file__).parents[1] / "benchmarks" / "figures.py")
assert _SPEC is not None
assert _SPEC.loader is not None
figures = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(figures)


@pytest.mark.parametrize(
    ("figure", "wanted", "expected"),
    [(150, ">= 150", True), (149, ">= 150", False), (9.9, "<= 10", True), (150, "< 150", False), (1, "> 0.5", True)],
)
def test_a_figure_reaches_its_mark_or_not(figure, wanted, expected):
    """The mark is written with its direction."""
    assert figures.reached(figure, wanted) is expected


def test_a_mark_of_another_form_is_an_error():
    """It would never be missed."""
    with pytest.raises(ValueError, match="written like"):
        figures.reached(1, "about 3")


def test_a_table_marks_what_was_missed(capsys):
    """Figures without a mark are told, too."""
    figures.report("speed", {"a": 5.0, "long_name": 12345.6, "c": 1.0}, {"a": "< 6", "c": ">= 2"}, json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["a", "5", "wanted", "<", "6", "reached"],
        ["long_name", "12,346"],
        ["c", "1", "wanted", ">=", "2", "MISSED"],
    ]


def test_what_is_to_be_known_beside_ends_the_table(capsys):
    """Such as what the figures were measured in."""
    figures.report("speed", {"a": 5.0}, {}, json=False, notes={"isolation": "reduced"})
    assert capsys.readouterr().out.splitlines()[1:] == ["a  5", "isolation: reduced"]


def test_what_was_missed_is_named_and_what_was_not_measured_is_not():
    """For an exit code."""
    assert figures.missed({"a": 5.0, "b": 1.0}, {"a": "< 5", "b": "<= 1", "c": ">= 3"}) == ["a"]


def test_json_is_one_object_with_the_machine(capsys):
    """Figures by name, what was wanted, the machine, what is to be known beside."""
    figures.report("speed", {"a": 5.0}, {"a": "< 6"}, json=True, notes={"isolation": "reduced"})
    found = json.loads(capsys.readouterr().out)
    assert (found["figures"], found["wanted"]) == ({"a": 5.0}, {"a": "< 6"})
    assert found["notes"] == {"isolation": "reduced"}
    assert set(found["machine"]) == {"processor", "cores", "python", "system"}
