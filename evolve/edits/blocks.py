"""Parts of a text that may change: those between `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END`, in a comment of any language.

A marker in a string is none, so that code which is written between two markers cannot move them; the lines of the markers are outside.
Comments and strings are found without a parser, so that texts that do not parse still count: a pattern never fails and never looks
further back than two characters; an unfinished comment or string ends with the text."""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

_SLASH = re.compile(
    r"\.(c|h|cc|cpp|cxx|hpp|hh|cu|cuh|cl|metal|hip|glsl|wgsl|js|mjs|ts|tsx|jsx|go|java|cs|kt|swift|zig|scala|d|php)"
)
_DASH = re.compile(r"\.(lua|sql|hs|ada|vhd|elm)")
_PROSE = re.compile(r"\.(md|rst|txt|csv|tsv|svg|html|xml|lock)")

_LINE_STRING = r""""(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'"""
_TRIPLE_STRING = r'"""(?:\\[\s\S]|[^\\])*?(?:"""|\\?\Z)|' + r"'''(?:\\[\s\S]|[^\\])*?(?:'''|\\?\Z)"
_RAW_STRING = r'R"(?P<raw>[^\s()\\"]{0,16})\([\s\S]*?(?:\)(?P=raw)"|\Z)'
_RUST_STRING = r'r(?P<hashes>#+)"[\s\S]*?(?:"(?P=hashes)|\Z)' + r"""|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[^'\n]+|[^'\\\n])'"""
_TEMPLATE_STRING = r"`(?:\\[\s\S]|[^`\\])*`"
_SLASH_COMMENT = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"

ESCAPED_QUOTE = r"\\[\"'`]"
"""To be stepped over where it is in no string: were each of many tried as the beginning of one, the search would not end."""
OPERAND_FOLLOWS = frozenset("=([{,;:+-*/%<>&|^!?~")
"""Characters after which a minus is a sign."""
OPERAND_FOLLOWS_WORDS = frozenset(
    {"return", "in", "and", "or", "not", "if", "elif", "else", "while", "case", "yield", "lambda", "await"}
)
"""Words after which a minus is a sign."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """Lexical rules of a language, as far as they are needed. `string` and `comment` are regular expressions; `indented`: leading white space
    means something; `begins`: the characters that either begins with; `directive` matches lines for the preprocessor or the compiler whose numbers are no values; `prose`: no program."""

    comment: str
    string: str
    indented: bool
    begins: str
    directive: str = ""
    prose: bool = False


_HASH = Language(r"#[^\n]*", f"{_TRIPLE_STRING}|{_LINE_STRING}", indented=True, begins="#\"'")
_DASHED = Language(r"--\[\[[\s\S]*?(?:\]\]|\Z)|--[^\n]*", _LINE_STRING, indented=True, begins="-\"'")
_WRITING = Language(r"(?!)", r"(?!)", indented=True, begins="", prose=True)
_RUST = Language(_SLASH_COMMENT, _RUST_STRING, indented=False, begins="/r\"'", directive=r"#!?\[[^\]\n]*\]")
_SLASHED = Language(
    _SLASH_COMMENT,
    f"{_RAW_STRING}|{_LINE_STRING}|{_TEMPLATE_STRING}",
    indented=False,
    begins="/R\"'`",
    directive=r"#[ \t]*(?:include|version|line|if|elif|error)\b[^\n]*",
)


@functools.cache
def language(path: str) -> Language:
    """Returns the language of a file, from its suffix; an unknown one is read like Python (`#` comments)."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".rs":
        return _RUST
    if _SLASH.fullmatch(suffix):
        return _SLASHED
    if _DASH.fullmatch(suffix):
        return _DASHED
    return _WRITING if _PROSE.fullmatch(suffix) else _HASH


START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"

_REST_OF_LINE = re.compile(r"[ \t\r]*(?:\n|\Z)")


class Span(NamedTuple):
    """Span `text[start:end]`, in characters."""

    start: int
    end: int


class Marker(NamedTuple):
    """A marker with the comment, and if it stands alone the line, that it is in."""

    starts: bool
    span: Span


@functools.lru_cache(maxsize=64)
def blocks(text: str, path: str) -> tuple[Span, ...]:
    """Returns the blocks of a file in their order, none where it has no marker. One that is not ended goes on to the end of the text. Cached for
    the questions that are asked about every new program and its parent."""
    # Most files have no marker, and the scan below reads every comment and string.
    if START not in text:
        return ()
    found: list[Span] = []
    begun: int | None = None
    for marker in _markers(text, path):
        if marker.starts and begun is None:
            begun = marker.span.end
        elif not marker.starts and begun is not None:
            found.append(Span(begun, max(begun, marker.span.start)))
            begun = None
    return (*found, Span(begun, len(text))) if begun is not None else tuple(found)


def outside(text: str, path: str) -> tuple[str, ...]:
    """Returns the text before, between and after the blocks of a file: one piece more than there are blocks."""
    found = blocks(text, path)
    starts = [0, *(span.end for span in found)]
    ends = [*(span.start for span in found), len(text)]
    return tuple(text[start:end] for start, end in zip(starts, ends, strict=True))


def changeable(files: Mapping[str, str]) -> Mapping[str, tuple[Span, ...]]:
    """Returns the spans of each file of a program that may change: its blocks; where no file has one, all of every file."""
    found = {path: blocks(text, path) for path, text in files.items()}
    if any(found.values()):
        return found
    return {path: (Span(0, len(text)),) for path, text in files.items()}


def remarks(text: str, path: str) -> Iterator[tuple[str, Span]]:
    """Yields every comment ("comment") of a text, and each marker that is neither in one nor in a string ("bare"), in their order."""
    for match in _pattern(language(path)).finditer(text):
        if match.lastgroup in ("comment", "bare"):
            yield match.lastgroup, Span(*match.span(match.lastgroup))


def _markers(text: str, path: str) -> Iterator[Marker]:
    for kind, span in remarks(text, path):
        words = text[span.start : span.end]
        named = [name for name in (START, END) if name in words]
        if kind == "bare":
            yield Marker(named == [START], _line(text, *span))
        elif len(named) == 1:  # a comment that tells of both is none of them
            yield Marker(named == [START], _grown(text, *span))


@functools.cache
def _pattern(kind: Language) -> re.Pattern[str]:
    """Comments, strings, and markers that are in neither: those in comments of a language that is not known. Each match begins with what
    stands before them, which is stepped over at once, without a look at each of its characters for all that may begin there."""
    either = rf"(?P<comment>{kind.comment})|(?P<string>{kind.string})|(?P<bare>{START}|{END})|{ESCAPED_QUOTE}"
    return re.compile(rf"[^{re.escape(kind.begins)}E\\]*+(?:{either}|[\s\S]|\Z)")


def _grown(text: str, start: int, end: int) -> Span:
    """Returns a comment with the white space around it, as far as it has its lines for itself."""
    line = text.rfind("\n", 0, start) + 1
    rest = _REST_OF_LINE.match(text, end)
    return Span(line if not text[line:start].strip() else start, rest.end() if rest else end)


def _line(text: str, start: int, end: int) -> Span:
    """Returns the whole line."""
    stop = text.find("\n", end)
    return Span(text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop + 1)
