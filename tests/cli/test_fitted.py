"""Tables that fit a terminal."""

import pytest

from evolve.cli.fitted import Fit, fitted, shortened

HEADINGS = ("program", "score", "cell", "trust", "about")
ROWS = [("number/1", "6.5", "97", "witnessed", "a " * 10), ("number/2", "7", "85", "witnessed", "b")]
FIT = Fit(once=("trust",), spare=("cell",), cut="about", least=9)


def at(monkeypatch: pytest.MonkeyPatch, columns: int, fit: Fit = FIT) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    return fitted(HEADINGS, ROWS, fit).splitlines()


def test_a_table_with_room_is_as_it_is(monkeypatch):
    """All columns, nothing below."""
    assert at(monkeypatch, 60) == [
        "program   score  cell  trust      about",
        "number/1  6.5    97    witnessed  a a a a a a a a a a",
        "number/2  7      85    witnessed  b",
    ]


def test_what_all_rows_share_is_said_once_below(monkeypatch):
    """A score is never without its trust."""
    assert at(monkeypatch, 45) == [
        "program   score  cell  about",
        "number/1  6.5    97    a a a a a a a a a a",
        "number/2  7      85    b",
        "(all: trust witnessed)",
    ]


def test_a_column_that_differs_stays(monkeypatch):
    """However narrow the terminal is."""
    monkeypatch.setenv("COLUMNS", "10")
    lines = fitted(("program", "trust"), [("number/1", "witnessed"), ("number/2", "claimed")], FIT).splitlines()
    assert lines == ["program   trust", "number/1  witnessed", "number/2  claimed"]


def test_an_empty_column_goes_without_a_word(monkeypatch):
    """There is nothing to say of it."""
    monkeypatch.setenv("COLUMNS", "20")
    assert fitted(("program", "trust"), [("number/1234567890", "")], FIT).splitlines() == [
        "program",
        "number/1234567890",
    ]


def test_a_long_text_is_cut_to_the_terminal_before_a_column_goes(monkeypatch):
    """With an ellipsis."""
    assert at(monkeypatch, 35)[:2] == ["program   score  cell  about", "number/1  6.5    97    a a a a a a…"]


def test_columns_that_are_left_out_are_named(monkeypatch):
    """Ids stay whole."""
    assert at(monkeypatch, 28) == [
        "program   score  about",
        "number/1  6.5    a a a a a…",
        "number/2  7      b",
        "(all: trust witnessed)",
        "(no room for cell: a wider terminal and --json have it)",
    ]


def test_what_may_not_get_narrower_is_wider_than_the_terminal(monkeypatch):
    """Rather than without its ids."""
    assert at(monkeypatch, 5)[1] == "number/1  6.5    a a a a…"


def test_a_table_without_rows_has_its_headings(monkeypatch):
    """Nothing is equal in none."""
    monkeypatch.setenv("COLUMNS", "10")
    assert fitted(HEADINGS, [], Fit()) == "program  score  cell  trust  about"


def test_a_heading_is_one_line(monkeypatch):
    """An evaluator may have chosen it."""
    monkeypatch.setenv("COLUMNS", "80")
    assert fitted(("a\nb",), [("1",)], Fit()).splitlines()[1:] == ["1"]


def test_a_text_that_fits_is_not_cut():
    """Another one ends in an ellipsis."""
    assert [shortened("12345", room) for room in (5, 4)] == ["12345", "123…"]
