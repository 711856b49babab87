"""Trimming of prompts that would be too long: the least valuable pieces go first, always whole.

Pieces keep their order, and a piece is in one of its own forms, never cut."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SectionPiece:
    """A part of a section in forms of decreasing length, of which the last may be empty. `worth[n]` is the value of the n-th form over the
    next one; it rises, so that forms are given up one after the other. One form: it is never left out."""

    forms: tuple[str, ...]
    worth: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.worth) == len(self.forms) - 1, "each form but the last has its worth"
        assert len(self.worth) < 2 or list(self.worth) == sorted(self.worth), (
            "a longer form is not worth more than a shorter one"
        )


@dataclass(frozen=True, slots=True)
class SectionDraft:
    """A section before anything is left out: its pieces, what stands between two, and what else its template says. `always`: it is there
    without any piece, too."""

    pieces: tuple[SectionPiece, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    between: str = "\n\n"
    always: bool = False


def choose_forms(drafts: Sequence[SectionDraft], excess: int) -> list[list[int]]:
    """Chooses the form of each piece so that `excess` characters are saved at least; the shortest of each where that cannot be."""
    forms = [[0] * len(draft.pieces) for draft in drafts]
    if excess <= 0:
        return forms
    # The least valuable piece goes first, whichever section it is in.
    for _, section, piece in sorted(_list_choices(drafts)):
        draft, index = drafts[section], -piece
        form = forms[section][index]
        forms[section][index] = form + 1
        excess -= _count_saved(draft, index, form)
        if excess <= 0:
            break
    return forms


def _list_choices(drafts: Iterable[SectionDraft]) -> Iterator[tuple[float, int, int]]:
    """Yields the choices: the value, the section, and the piece, of which the later goes first."""
    for section, draft in enumerate(drafts):
        for index, piece in enumerate(draft.pieces):
            for worth in piece.worth:
                yield worth, section, -index


def _count_saved(draft: SectionDraft, index: int, form: int) -> int:
    """Characters that the next form is shorter by, with the gap that an empty one closes: to the next piece, or to the next section,
    which is no smaller."""
    forms = draft.pieces[index].forms
    gap = len(draft.between) if not forms[form + 1] and len(draft.pieces) > 1 else 0
    return len(forms[form]) - len(forms[form + 1]) + gap


def join_items(draft: SectionDraft, forms: Sequence[int]) -> str:
    """Returns the pieces in the forms that are shown."""
    texts = (piece.forms[form] for piece, form in zip(draft.pieces, forms, strict=True))
    return draft.between.join(filter(None, texts)).rstrip("\n")
