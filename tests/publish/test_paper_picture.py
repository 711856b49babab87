"""What a picture may be that is written where a browser may open it."""

import pytest

from evolve.publish.paper.picture import refusal

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'


@pytest.mark.parametrize(
    "inside",
    [
        '<title>a &lt;script&gt;</title><g fill="none"><circle cx="1" cy="1" r="1" fill="hsl(1 2% 3%)"/></g>',
        '<defs><linearGradient id="a"><stop offset="0"/></linearGradient></defs><rect fill="url(#a)"/>',
        '<text x="1">javascript is a word</text>',
    ],
)
def test_a_picture_is_written(inside: str) -> None:
    """Shapes, words, colours, and what leads to itself."""
    assert refusal(SVG.format(inside)) == ""


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        (SVG.format("<script>alert(1)</script>"), "it has an element 'script'"),
        (SVG.format("<foreignObject/>"), "it has an element 'foreignObject'"),
        (SVG.format('<image href="http://x/y.png"/>'), "it has an element 'image'"),
        (SVG.format("<style>@import 'http://x'</style>"), "it has an element 'style'"),
        (SVG.format('<a href="#x"/>'), "it has an element 'a'"),
        (SVG.format('<rect onclick="alert(1)"/>'), "it has an attribute 'onclick' that leads elsewhere"),
        (SVG.format('<rect ONLOAD="alert(1)"/>'), "it has an attribute 'onload' that leads elsewhere"),
        (SVG.format('<pattern xlink:href="http://x"/>'), "it has an attribute 'href' that leads elsewhere"),
        (SVG.format('<rect fill="url(http://x)"/>'), "it has an attribute 'fill' that leads elsewhere"),
        (SVG.format('<rect style="background: URL( http://x)"/>'), "it has an attribute 'style' that leads elsewhere"),
        (
            SVG.format('<html xmlns="http://www.w3.org/1999/xhtml"/>'),
            "it has an element '{http://www.w3.org/1999/xhtml}html'",
        ),
        ('<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format("&a;"), "it declares more than a picture"),
        ('<?xml-stylesheet href="http://x"?>' + SVG.format(""), "it declares more than a picture"),
        ("<html/>", "it is no SVG"),
        ("<svg/>", "it is no SVG"),
    ],
)
def test_what_could_do_more_than_be_looked_at_is_left_out(picture: str, why: str) -> None:
    """With the reason."""
    assert refusal(picture) == why


@pytest.mark.parametrize("picture", ["", "<svg", "\0", "\ud800"])
def test_what_is_no_xml_is_left_out(picture: str) -> None:
    """Half a picture, or none."""
    assert refusal(picture).startswith("it is no XML: ")
