"""Python programs as trees whose every node knows its bytes in the text, so that a part can be changed and all else stays as it is
written.

Invariant: pure functions of the text; nothing of a program is ever run."""

from evolve.syntax.scopes import Binding, Names, Scope
from evolve.syntax.source import Change, Edit, Extent, Member, Site, Source, applied, indented, read
from evolve.syntax.strength import fitted, needed, strength

__all__ = [
    "Binding",
    "Change",
    "Edit",
    "Extent",
    "Member",
    "Names",
    "Scope",
    "Site",
    "Source",
    "applied",
    "fitted",
    "indented",
    "needed",
    "read",
    "strength",
]
