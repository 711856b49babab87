"""Where the comments and the strings of a program are, in any language and without a parser, so that texts that do not parse still count.

Invariant: a pattern never fails and never looks further back than two characters; an unfinished comment or string ends with the text."""

import functools
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

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
    """What little must be known of a language. `string` and `comment` are regular expressions; `indented`: leading white space
    means something; `begins`: the characters that either begins with; `spanning`: the quotes of strings that run on over line ends, and that stand
    alone where such a string does not end; `directive` matches lines for the preprocessor or the compiler whose numbers are no values; `prose`: no program."""

    comment: str
    string: str
    indented: bool
    begins: str
    spanning: str = ""
    directive: str = ""
    prose: bool = False


_HASH = Language(r"#[^\n]*", f"{_TRIPLE_STRING}|{_LINE_STRING}", indented=True, begins="#\"'")
_DASHED = Language(r"--\[\[[\s\S]*?(?:\]\]|\Z)|--[^\n]*", _LINE_STRING, indented=True, begins="-\"'")
_WRITING = Language(r"(?!)", r"(?!)", indented=True, begins="", prose=True)
_RUST = Language(
    _SLASH_COMMENT, _RUST_STRING, indented=False, begins="/r\"'", spanning='"', directive=r"#!?\[[^\]\n]*\]"
)
_SLASHED = Language(
    _SLASH_COMMENT,
    f"{_RAW_STRING}|{_LINE_STRING}|{_TEMPLATE_STRING}",
    indented=False,
    begins="/R\"'`",
    spanning="`",
    directive=r"#[ \t]*(?:include|version|line|if|elif|error)\b[^\n]*",
)


@functools.cache
def language(path: str) -> Language:
    """The language of a file, from its suffix; an unknown one is read like Python (`#` comments)."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".rs":
        return _RUST
    if _SLASH.fullmatch(suffix):
        return _SLASHED
    if _DASH.fullmatch(suffix):
        return _DASHED
    return _WRITING if _PROSE.fullmatch(suffix) else _HASH
