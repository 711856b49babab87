"""Elements as text: nothing that goes in comes out as markup."""

from xml.etree import ElementTree

import pytest

from evolve.drawing import element, escaped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b & c", "a &lt; b &amp; c"),
        ('"it\'s"', "&quot;it&#x27;s&quot;"),
        ("]]>", "]]&gt;"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("bell\x07", "bell�"),
        ("turned \u202eround", "turned �round"),
        ("\ud800", "�"),
        ("\ufffe", "�"),
    ],
)
def test_a_text_is_escaped_and_what_nobody_sees_is_marked(text: str, shown: str) -> None:
    assert shown == escaped(text)


def test_an_attribute_cannot_end_early() -> None:
    made = element("text", "inside", class_='"><script>', stroke_width=1.0, x=-0.001, y=12.345, fill=None)
    assert made == '<text class="&quot;&gt;&lt;script&gt;" stroke-width="1" x="0" y="12.35">inside</text>'
    assert ElementTree.fromstring(made).get("class") == '"><script>'


def test_an_element_without_content_closes_itself() -> None:
    assert element("path", d="M0 0") == '<path d="M0 0"/>'
