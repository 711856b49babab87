"""HTML of documents and pages: whole, without a script or an address, and nothing of what others wrote is markup."""

import re
from html.parser import HTMLParser

import pytest

from evolve_view.charts import Reference, Series
from evolve_view.documents import (
    Block,
    Bullets,
    Chapter,
    ChartFigure,
    ChartRow,
    CodeChange,
    CodeListing,
    CommandList,
    Document,
    Facts,
    Folded,
    ImageFigure,
    Mono,
    Paragraph,
    Strong,
    TableBlock,
    Words,
    cut_line,
    cut_lines,
    cut_words,
)
from evolve_view.rendering import format_ago, render_document
from evolve_view.requests import root
from tests.plugins.evolve_view.hostile import EVIL, text_of, wrong_in
from tests.plugins.evolve_view.reports import HOSTILE, MARK

OURS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section", "figure", "figcaption"),
    *("h1", "h2", "p", "ul", "ol", "li", "a", "dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td"),
    *("blockquote", "pre", "code", "span", "strong", "details", "summary", "img"),
    *("svg", "text", "line", "path", "circle", "mark"),
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
    table = TableBlock((text, "n"), ((text, Mono(text)),), frozenset({1}))
    series = Series(text, [0, 1], [0, 1])
    chart = ChartFigure((series,), text, text, text, table, (Reference(0.5, text), Reference(0.7, text)))
    inside: tuple[Block, ...] = (
        Paragraph((text, Strong(text), Mono(text)), "bad"),
        Bullets((text,)),
        Facts(((text, text),)),
        table,
        Words(text),
        Words(text, prose=True),
        CodeListing(text, f"x = 1  # {text}\n'{text}'\n", (text, text)),
        CodeChange(text, text, f"{text}\n{text}", f"--- {text}\n+++ {text}\n@@ -1 +1 @@\n-{text}\n+{text}"),
        CommandList(((text, text),)),
        chart,
        ChartRow((chart,)),
        ImageFigure(text, text, text),
    )
    return (*inside, Folded(text, inside, unfolded=True))


def page(*blocks: Block, title: str = "title") -> str:
    return render_document(Document(title, title, blocks[:1], (Chapter("one", title, blocks),)), MARK)


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
    """Control characters and direction marks are left out, and stand in code by their numbers."""
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
    text = page(ImageFigure("<svg><script>alert(1)</script></svg>", "caption", "instead"))
    assert 'src="data:image/svg+xml;base64,PHN2Zz48c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+PC9zdmc+"' in text


def test_what_is_too_long_is_cut_and_the_rest_is_counted() -> None:
    long = CodeChange("a.py", "", "x\n" * 301, "+x\n" * 301)
    text = page(CodeListing("a.py", "x\n" * 2000), long, Paragraph(Mono("y" * 1000)))
    assert "… 500 more lines are left out" in text
    assert "… 1 more lines are left out" in text
    assert "… (600 more characters)" in text


def test_lines_of_code_have_numbers_notes_and_marks() -> None:
    code = "# EVOLVE-BLOCK-START\nx = 2\n# EVOLVE-BLOCK-END\n"
    text = page(CodeListing("a.py", code, ("7", "8", "9")))
    assert '<tr><td class="at" data-at="1"></td><td class="by">7</td>' in text
    assert '<tr class="block"><td class="at" data-at="2"></td><td class="by">8</td><td class="text"><span' in text


def test_prose_flows_and_what_must_stand_stands() -> None:
    text = page(Words("one\ntwo\n\n- a list\n- of two\n\n    code", prose=True))
    assert "<p>one\ntwo</p><pre>- a list\n- of two</pre><pre>    code</pre>" in text


def test_what_is_left_out_is_counted() -> None:
    assert cut_line("abcdef", 4) == "abcd … (2 more characters)"
    assert cut_lines("a\nb\nc\n", 2) == (["a", "b"], 1)
    assert cut_words("x" * 12_005).endswith("x\n… (5 more characters)")


def test_only_a_line_feed_ends_a_line() -> None:
    assert cut_lines("a\x0cb\u2028c\n", 5) == (["a\x0cb\u2028c"], 0)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "now"), (1, "1 s ago"), (59, "59 s ago"), (61, "1 min ago"), (7300, "2 h ago"), (200_000, "2 d ago")],
)
def test_how_long_ago_is_said_in_one_unit(seconds, said):
    assert format_ago(seconds) == said


def test_a_name_in_an_address_is_quoted():
    assert root("a b/<c>") == "/c/a%20b%2F%3Cc%3E"


def test_a_page_shows_hostile_words_as_they_are_but_what_nobody_sees(browse, hostile):
    page = browse(hostile).get("/c/hostile/lessons").text
    assert wrong_in(page) == []
    assert "<script>alert(1)</script>" in text_of(page)
    assert "{{ 7 * 7 }}" in text_of(page)
    assert "&lt;" in text_of(page)
    assert "\x1b" in EVIL
    assert "\x1b" not in page
    assert "\u202e" not in page
