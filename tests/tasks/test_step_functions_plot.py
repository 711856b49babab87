"""Facts about the picture of a step function."""

import xml.etree.ElementTree as ElementTree

import pytest
import step_samples
from task_files import judging_files

FILES = judging_files("step_functions")
plot = FILES.plot

SVG = "{http://www.w3.org/2000/svg}"


def points(kind: str, values: list[float]) -> list[list[tuple[float, float]]]:
    """The corners of both panels."""
    root = ElementTree.fromstring(plot.svg(kind, values))
    texts = [polygon.attrib["points"] for polygon in root.findall(f".//{SVG}polygon")]
    return [[(float(x), float(y)) for x, y in (pair.split(",") for pair in text.split())] for text in texts]


def test_the_steps_are_above_and_their_autoconvolution_below() -> None:
    """Each fills its panel; up is up."""
    function, curve = points("c2", [1.0, 2.0])
    assert function == [(0, 44), (0, 22), (80, 22), (80, 0), (160, 0), (160, 44)]
    assert curve == [(0, 44), (40, 33), (80, 0), (120, 0), (160, 44)]


def test_negative_steps_lie_below_the_line() -> None:
    """From the lowest to the highest."""
    function, _ = points("c3abs", [3.0, -1.0])
    assert [y for _, y in function] == [33, 0, 0, 44, 44, 33]


@pytest.mark.parametrize("kind", step_samples.KINDS)
def test_the_value_is_the_title(kind: str) -> None:
    """In a picture that is well-formed, for every kind."""
    root = ElementTree.fromstring(plot.svg(kind, [0.5] * 6))
    expected = {"c2": "0.666666666667", "erdos": "0.500000000000"}.get(kind, "2.000000000000")
    assert root.findtext(f"{SVG}title") == f"{kind} with 6 steps: {expected}"
