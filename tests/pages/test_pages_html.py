"""HTML of documents: whole, without a script or an address, and nothing of what others wrote is markup."""

import re
from html.parser import HTMLParser

import pytest

from evolve.drawing import Level, Series
from evolve.pages import Document, html
from evolve.pages.document import (
    Block,
    Bullets,
    Change,
    Chart,
    Code,
    Commands,
    Facts,
    Folded,
    Mono,
    Paragraph,
    Picture,
    Row,
    Section,
    Strong,
    Table,
    Words,
)
from tests.pages.told import HOSTILE, MARK

OURS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section", "figure", "figcaption"),
    *("h1", "h2", "p", "ul", "ol", "li", "a", "dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td"),
    *("blockquote", "pre", "code", "span", "strong", "details", "summary", "img"),
    *("svg", "text", "line", "path", "circle"),
}
VOID = ("meta", "img")


class Tags(HTMLParser):
    """The tags of a page, with whether each is closed, and its addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.addresses += [
            value or "" for key, value in attrs if key in ("href", "src", "action", "data", "xlink:href")
        ]
        self.handlers += [key for key, _ in attrs if key.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def every_block(text: str) -> tuple[Block, ...]:
    """One of each kind, with a text wherever one may stand."""
    table = Table((text, "n"), ((text, Mono(text)),), frozenset({1}))
    series = Series(text, [0, 1], [0, 1])
    chart = Chart((series,), text, text, text, table, (Level(0.5, text), Level(0.7, text)))
    inside: tuple[Block, ...] = (
        Paragraph((text, Strong(text), Mono(text)), "bad"),
        Bullets((text,)),
        Facts(((text, text),)),
        table,
        Words(text),
        Words(text, prose=True),
        Code(text, f"x = 1  # {text}\n'{text}'\n", frozenset({1}), (text, text)),
        Change(text, f"--- {text}\n+++ {text}\n@@ -1 +1 @@\n-{text}\n+{text}"),
        Commands(((text, text),)),
        chart,
        Row((chart,)),
        Picture(text, text, text),
    )
    return (*inside, Folded(text, inside, unfolded=True))


def page(*blocks: Block, title: str = "title") -> str:
    return html(Document(title, title, blocks[:1], (Section("one", title, blocks),)), MARK)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_becomes_markup(hostile: str) -> None:
    """Also in what looks like the end of a script, a comment or an attribute."""
    tags = Tags(page(*every_block(hostile), title=hostile))
    assert tags.seen <= OURS
    assert tags.handlers == []
    assert tags.open == []
    assert all(each.startswith(("#one", "data:image/svg+xml;base64,")) for each in tags.addresses)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_is_not_seen_is_in_the_file(hostile: str) -> None:
    """Control characters and direction marks are shown as a mark, and do nothing."""
    text = page(*every_block(hostile), title=hostile)
    assert all(character.isprintable() or character == "\n" for character in text)
    assert text.encode()


def test_a_page_asks_nobody_for_anything() -> None:
    """Its policy forbids it, too."""
    text = page(*every_block("plain"))
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert not re.search(r"<script|<link|@import|url\(", text)
    assert text.startswith(f"<!doctype html>\n{MARK}\n<html lang=")


def test_a_picture_is_an_image_and_never_part_of_the_page() -> None:
    """An `img` runs no script and loads nothing."""
    text = page(Picture("<svg><script>alert(1)</script></svg>", "caption", "instead"))
    assert 'src="data:image/svg+xml;base64,PHN2Zz48c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+PC9zdmc+"' in text


def test_a_long_line_is_cut_and_the_rest_is_counted() -> None:
    text = page(Code("a.py", f"x = '{'y' * 1000}'\n"), Change("a.py", f"--- a\n+++ b\n+{'z' * 1000}"))
    assert "y" * 395 in text
    assert "y" * 396 not in text
    assert "… (606 more characters)" in text
    assert "… (601 more characters)" in text


def test_a_long_file_is_cut_and_the_rest_is_counted() -> None:
    text = page(Code("a.py", "x\n" * 2000), Change("a.py", "+x\n" * 301))
    assert "… 500 more lines are left out" in text
    assert "… 1 more lines are left out" in text


def test_lines_of_code_have_numbers_notes_and_marks() -> None:
    text = page(Code("a.py", "x = 1\n\ty = 2\n", frozenset({2}), ("7", "8")))
    assert '<tr><td class="n">1</td><td class="w">7</td><td>x = <span class="number">1</span></td></tr>' in text
    assert (
        '<tr class="open"><td class="n">2</td><td class="w">8</td><td>    y = <span class="number">2</span></td></tr>'
        in text
    )


def test_prose_flows_and_what_must_stand_stands() -> None:
    text = page(Words("one\ntwo\n\n- a list\n- of two\n\n    code", prose=True))
    assert "<p>one two</p><pre>- a list\n- of two</pre><pre>    code</pre>" in text


def test_an_unknown_block_is_our_mistake() -> None:
    with pytest.raises(TypeError, match="is no block"):
        page(3)  # type: ignore[arg-type]
