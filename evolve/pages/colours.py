"""The words of a program's lines, by what they are: comments, strings, numbers, keywords.

Invariant: the pieces of all lines together are the text; what is coloured wrongly is still shown."""

import functools
import keyword
import re
from collections.abc import Iterator

from evolve.edits.blocks import ESCAPED_QUOTE, language

Piece = tuple[str, str]
"""A class, empty for most words, and a text."""
_C_WORDS = frozenset(
    [
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "class",
        "const",
        "constexpr",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "false",
        "float",
        "fn",
        "for",
        "if",
        "impl",
        "in",
        "inline",
        "int",
        "let",
        "long",
        "match",
        "mut",
        "namespace",
        "new",
        "nullptr",
        "pub",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "true",
        "typedef",
        "typename",
        "union",
        "unsigned",
        "use",
        "using",
        "void",
        "volatile",
        "while",
    ]
)


@functools.cache
def _pattern(path: str) -> re.Pattern[str]:
    known = language(path)
    return re.compile(
        rf"(?P<comment>{known.comment})|{ESCAPED_QUOTE}|(?P<string>{known.string})|(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)"
    )


def coloured(text: str, path: str) -> list[list[Piece]]:
    """The lines of a text with their pieces."""
    found: list[list[Piece]] = [[]]
    for kind, piece in _pieces(text, path):
        for place, part in enumerate(piece.split("\n")):
            if place:
                found.append([])
            if part:
                found[-1].append((kind, part))
    return found


def _pieces(text: str, path: str) -> Iterator[Piece]:
    words = frozenset(keyword.kwlist) if language(path).indented else _C_WORDS
    end = 0
    for match in _pattern(_suffix(path)).finditer(text):
        kind = match.lastgroup or ""
        if kind == "word":
            kind = "keyword" if match[0] in words else ""
        if not kind:
            continue
        yield "", text[end : match.start()]
        yield kind, match[0]
        end = match.end()
    yield "", text[end:]


def _suffix(path: str) -> str:
    """So few patterns are kept, however many files there are."""
    return f"x{path[path.rfind('.') :]}" if "." in path else "x"
