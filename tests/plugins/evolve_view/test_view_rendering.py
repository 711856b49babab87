"""HTML from templates: nothing of what others wrote is markup, and long texts are cut."""

import pytest

from evolve_view.code import show_file
from evolve_view.rendering import cut_line, cut_words, environment, format_duration
from evolve_view.requests import root
from tests.plugins.evolve_view.hostile import EVIL, text_of, wrong_in


def render_macro(name, *values):
    """Calls a macro of `blocks.html`."""
    return str(getattr(environment().get_template("blocks.html").module, name)(*values))


def test_lines_of_code_have_numbers_notes_and_marks():
    text = render_macro("listing", show_file("a.py", "# EVOLVE-BLOCK-START\nx = 2\n# EVOLVE-BLOCK-END\n"), (7, 8, 9))
    assert '<tr><td class="at" data-at="1"></td><td class="by">7</td>' in text
    assert '<tr class="block"><td class="at" data-at="2"></td><td class="by">8</td><td class="text"><span' in text


def test_prose_flows_and_what_must_stand_stands():
    text = render_macro("words", "one\ntwo\n\n- a list\n- of two\n\n    code")
    assert "<p>one\ntwo</p><pre>- a list\n- of two</pre><pre>    code</pre>" in text


def test_a_long_file_is_cut_and_the_rest_is_counted():
    assert "… 500 more lines are left out" in render_macro("listing", show_file("a.py", "x\n" * 2000, most=1500), ())


def test_a_long_text_is_cut_and_the_rest_is_counted():
    assert cut_line("x" * 405) == f"{'x' * 400} … (5 more characters)"
    assert cut_words("x" * 12_005).endswith("x\n… (5 more characters)")


@pytest.mark.parametrize(("seconds", "text"), [(0.0123, "12.3 ms"), (125.0, "2 min 5 s")])
def test_a_time_has_the_digits_that_matter(seconds, text):
    assert format_duration(seconds) == text


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
