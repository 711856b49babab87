"""Markdown of documents: what others wrote begins nothing."""

import re

import pytest
from markdown_it import MarkdownIt

from evolve_view.documents import Chapter, CodeListing, Document, Mono, Paragraph, Strong, TableBlock, Words
from evolve_view.markdown import render_markdown
from tests.plugins.evolve_view.reports import HOSTILE, MARK
from tests.plugins.evolve_view.test_view_rendering import every_block


def page(*blocks, title="title") -> str:
    return render_markdown(Document(title, title, blocks[:1], (Chapter("one", title, blocks),)), MARK)


KINDS = {
    *("heading", "paragraph", "bullet_list", "list_item", "table", "thead", "tbody", "tr", "th", "td"),
    *("blockquote", "strong", "inline", "text", "text_special", "code_inline", "fence"),
}


def kinds(text: str) -> tuple[set[str], list[str]]:
    """The kinds of all elements of a text without its mark, as CommonMark with tables reads it, and the headings."""
    found, headings = set[str](), []
    tokens = MarkdownIt("commonmark").enable("table").parse(text.removeprefix(MARK))
    for place, token in enumerate(tokens):
        found |= {each.type.removesuffix("_open").removesuffix("_close") for each in (token, *(token.children or ()))}
        if token.type == "heading_open":
            headings.append(f"{token.tag} {tokens[place + 1].content}")
    return found, headings


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_becomes_markup(hostile: str) -> None:
    """No HTML, link, image, heading or fence."""
    text = page(*every_block(hostile), title=hostile)
    found, headings = kinds(text)
    assert found <= KINDS
    assert [heading[:5] for heading in headings] == ["h1 " + headings[0][3:5], "h2 1."]
    assert "https://" not in re.sub(r"`[^`]*`", "", text)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_is_not_seen_is_in_the_file(hostile: str) -> None:
    text = page(*every_block(hostile), title=hostile)
    assert all(character.isprintable() or character == "\n" for character in text)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a_b *c* `d`", r"a\_b \*c\* \`d\`"),
        ("- no list", r"\- no list"),
        ("1. no list", r"1\. no list"),
        ("https://example.org www.example.org", r"https\://example.org www\.example.org"),
        (Mono("a `b` ``c``"), "``` a `b` ``c`` ```"),
        (("score ", Strong("2.5")), "score **2.5**"),
    ],
)
def test_a_text_is_told_as_it_is(line, told) -> None:
    assert page(Paragraph(line)).split("\n\n")[3] == told


def test_a_cell_does_not_end_early() -> None:
    text = page(TableBlock(("a|b", "c"), (("d|e", Mono("f|g")),), frozenset({1})))
    assert "| a\\|b | c |\n| --- | ---: |\n| d\\|e | `f\\|g` |" in text


@pytest.mark.parametrize("slashes", ["\\", "\\\\", "\\\\\\"])
def test_a_cell_of_code_does_not_end_at_a_bar_behind_backslashes(slashes) -> None:
    """What stands behind the bar would be read as Markdown, and as HTML."""
    text = page(TableBlock(("a", "b"), ((Mono(f"x{slashes}|<img src=y>"), "c"),), frozenset()))
    assert f"| x{2 * slashes}\\|\\<img src=y\\> | c |" in text


def test_a_fence_is_longer_than_any_within() -> None:
    assert "`````\n````\ntext\n`````" in page(Words("````\ntext"))


def test_lines_of_code_have_numbers_and_notes() -> None:
    assert "`a.py`\n\n```\n   1 1  x = 1\n   2 16 y = 2\n```" in page(
        CodeListing("a.py", "x = 1\ny = 2\n", ("1", "16"))
    )
