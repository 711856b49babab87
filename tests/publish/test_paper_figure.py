"""The figure of a paper, drawn by the library of the extra `paper`."""

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from evolve import report
from evolve.publish.paper import figure
from evolve.types import Anchor, ConfigError, Fitness
from tests.publish.paper_campaigns import HOSTILE
from tests.written import number_task

installed = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed (the extra `paper`)"
)


def points(*values: float) -> tuple[report.Point, ...]:
    """A curve with a point at each tenth program."""
    return tuple(
        report.Point(number, 10 * number, 1.0 * number, 0, 0, 0.0, value, confirmed=True)
        for number, value in enumerate(values, 1)
    )


def words(svg: bytes) -> list[str]:
    """What is written in a figure: letters are drawn as outlines, and the library notes each text beside its own."""
    return re.findall(r"<!-- (.*?) -->", svg.decode("utf-8"))


@installed
@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_equal_curves_give_equal_bytes(kind: str) -> None:
    """No date, and no ids by chance."""
    first, second = (figure.drawing().curve(number_task(), points(5.0, 6.0, 6.0), kind) for _ in range(2))
    assert first == second
    assert b"<dc:date>" not in first
    assert b"/CreationDate" not in first


@installed
def test_the_anchors_near_the_curve_are_named() -> None:
    """Those that are far beyond it would flatten it; of two at one place the harder one is named."""
    anchors = (Anchor(6.5, "Near", 2024), Anchor(6.51, "Nearer", 2025), Anchor(900.0, "Far"))
    told = words(figure.drawing().curve(number_task(anchors=anchors), points(5.0, 6.0), "svg"))
    assert "Nearer 2025" in told
    assert "Near 2024" not in told
    assert "Far" not in told
    assert {"programs judged", "nearness"} <= set(told)


@installed
@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_names_are_drawn_and_never_read_as_mathematics(kind: str) -> None:
    """Nor as markup; a letter that the font lacks is no error."""
    for name in (HOSTILE, r"$\frac{1}{0$", "-->", "a" * 500):
        task = number_task(fitness=Fitness(name), anchors=(Anchor(5.5, name),))
        drawn = figure.drawing().curve(task, points(5.0, 6.0), kind)
        if kind == "svg":
            assert {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(drawn).iter()}.isdisjoint(
                {"script", "a"}
            )


@installed
@pytest.mark.parametrize("values", [(5.0,), (0.0, 0.0), (-1e300, 1e300), (1.0, 1.0 + 1e-15)])
def test_any_curve_can_be_drawn(values: tuple[float, ...]) -> None:
    """One point, none of any height, and heights as far apart as floats go."""
    assert figure.drawing().curve(number_task(), points(*values), "svg").startswith(b"<?xml")


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is written."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        ConfigError, match=r"need matplotlib, which is not installed. Do: pip install 'evolve\[paper\]'"
    ):
        figure.drawing()


def test_the_extra_is_one_of_the_package() -> None:
    """The remedy that the error names exists."""
    assert f"\n{figure.EXTRA} = [" in (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
