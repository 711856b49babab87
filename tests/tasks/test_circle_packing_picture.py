"""Facts about the picture of a packing."""

import xml.etree.ElementTree as ElementTree

import circles
import packing
import picture
import pytest

SVG = "{http://www.w3.org/2000/svg}"


def drawn(centres: object) -> ElementTree.Element:
    packed = packing.packed(centres)  # type: ignore[arg-type]
    return ElementTree.fromstring(picture.svg(packed, packing.contacts(packed)))


def test_a_picture_has_a_circle_each_a_line_for_each_contact_and_the_value_as_its_title() -> None:
    """And is well-formed XML."""
    touch = packing.contacts(packing.packed(circles.SEED))
    root = drawn(circles.SEED)
    assert root.tag == f"{SVG}svg"
    assert len(root.findall(f".//{SVG}circle")) == 26
    assert len(root.findall(f".//{SVG}line")) == len(touch.pairs) + len(touch.sides)
    assert root.findtext(f"{SVG}title") == "26 circles, sum of radii 2.541421356237"


def test_up_is_up() -> None:
    """SVG counts downwards."""
    circle = drawn([(0.25, 0.75)]).find(f".//{SVG}circle")
    assert circle is not None
    assert (circle.get("cx"), circle.get("cy"), circle.get("r")) == ("25.0000", "25.0000", "25.0000")


@pytest.mark.parametrize(
    ("centre", "line"),
    [
        ((0.1, 0.4), ("10.0000", "60.0000", "0.0000", "60.0000")),
        ((0.9, 0.4), ("90.0000", "60.0000", "100.0000", "60.0000")),
        ((0.4, 0.1), ("40.0000", "90.0000", "40.0000", "100.0000")),
        ((0.4, 0.9), ("40.0000", "10.0000", "40.0000", "0.0000")),
    ],
)
def test_a_contact_with_a_wall_is_a_line_to_it(centre: tuple[float, float], line: tuple[str, ...]) -> None:
    """Straight to the nearest point of the wall."""
    lines = drawn([centre]).findall(f".//{SVG}line")
    assert [tuple(found.get(name) for name in ("x1", "y1", "x2", "y2")) for found in lines] == [line]


def test_circles_of_no_radius_are_drawn_too() -> None:
    """A degenerate packing is no error."""
    assert len(drawn([(0.0, 0.0), (0.0, 0.0)]).findall(f".//{SVG}circle")) == 2
