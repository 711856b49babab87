"""Values become text, and nothing else."""

import pytest

from evolve_view.rendering import format_ago
from evolve_view.requests import root
from tests.plugins.evolve_view.hostile import EVIL, text_of, wrong_in


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
