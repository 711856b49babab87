"""What is left out, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.prompts.trimming import SectionDraft, SectionPiece, choose_forms, join_items


@st.composite
def pieces(draw: st.DrawFn) -> SectionPiece:
    """A piece with one to three forms, each shorter than the one before."""
    lengths = sorted(draw(st.lists(st.integers(1, 50), min_size=1, max_size=3, unique=True)), reverse=True)
    forms = ["x" * length for length in lengths]
    if draw(st.booleans()):
        forms.append("")
    worth = sorted(draw(st.lists(st.integers(0, 9), min_size=len(forms) - 1, max_size=len(forms) - 1)))
    return SectionPiece(tuple(forms), tuple(map(float, worth)))


drafts = st.lists(st.builds(SectionDraft, st.lists(pieces(), max_size=5).map(tuple)), max_size=5)


def length(found: list[SectionDraft], forms: list[list[int]]) -> int:
    """Of all sections, with an empty line after each that is not empty itself."""
    shown = (join_items(draft, form) for draft, form in zip(found, forms, strict=True))
    return sum(len(text) + 2 for text in shown if text)


@given(drafts, st.integers(0, 400))
def test_so_much_is_saved_as_must_be(found: list[SectionDraft], excess: int) -> None:
    """Or nothing is left that could be."""
    whole, forms = length(found, choose_forms(found, 0)), choose_forms(found, excess)
    last = all(
        form == len(piece.forms) - 1
        for draft, chosen in zip(found, forms, strict=True)
        for piece, form in zip(draft.pieces, chosen, strict=True)
    )
    assert whole - length(found, forms) >= excess or last


@given(drafts, st.integers(1, 400))
def test_the_least_valuable_goes_first(found: list[SectionDraft], excess: int) -> None:
    """Nothing that is given up is worth more than what stays."""
    forms = choose_forms(found, excess)
    given_up, stays = [-1.0], [10.0]
    for draft, chosen in zip(found, forms, strict=True):
        for piece, form in zip(draft.pieces, chosen, strict=True):
            given_up += piece.worth[:form]
            stays += piece.worth[form:]
    assert max(given_up) <= min(stays)


def test_of_equal_worth_the_last_goes_first() -> None:
    """And the others keep their order."""
    draft = SectionDraft(tuple(SectionPiece((name * 10, ""), (1.0,)) for name in "abc"), between="\n")
    assert join_items(draft, choose_forms([draft], 5)[0]) == "aaaaaaaaaa\nbbbbbbbbbb"


def test_what_has_one_form_stays() -> None:
    """However much is too much."""
    draft = SectionDraft((SectionPiece(("must be",)), SectionPiece(("may be", ""), (99.0,))))
    assert join_items(draft, choose_forms([draft], 1000)[0]) == "must be"


def test_a_longer_form_is_not_worth_more() -> None:
    """Forms are given up one after the other."""
    with pytest.raises(AssertionError, match="not worth more"):
        SectionPiece(("long", "short", ""), (2.0, 1.0))
