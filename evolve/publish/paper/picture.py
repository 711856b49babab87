"""The task's own picture of a result, as a file that a browser may open.

Invariant: a picture that could do anything but be looked at is left out: it was drawn from what a program has answered."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

_ELEMENTS = frozenset(
    {
        "svg",
        "g",
        "defs",
        "title",
        "desc",
        "rect",
        "circle",
        "ellipse",
        "line",
        "polyline",
        "polygon",
        "path",
        "text",
        "tspan",
        "linearGradient",
        "radialGradient",
        "stop",
        "clipPath",
        "pattern",
        "marker",
    }
)
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_INSIDE = re.compile(r"\s*#[\w-]+\s*")
_URL = re.compile(r"url\(\s*(?!['\"]?#)|@import|expression\(|javascript:", re.IGNORECASE)


def refusal(picture: str) -> str:
    """Why a picture (SVG) is not written; empty where it may be."""
    if "<!DOCTYPE" in picture.upper() or "<!ENTITY" in picture.upper() or "<?xml-" in picture:
        return "it declares more than a picture"
    try:
        root = ElementTree.fromstring(picture)
    except (ElementTree.ParseError, ValueError) as error:
        return f"it is no XML: {error}"
    if root.tag != f"{_NAMESPACE}svg":
        return "it is no SVG"
    return next(_faults(root), "")


def _faults(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        name = element.tag.removeprefix(_NAMESPACE)
        if name not in _ELEMENTS:
            yield f"it has an element {name[:40]!r}"
        for key, value in element.attrib.items():
            plain = key.rpartition("}")[2].lower()
            if plain.startswith("on") or _URL.search(value) or (plain == "href" and not _INSIDE.fullmatch(value)):
                yield f"it has an attribute {plain[:40]!r} that leads elsewhere"
