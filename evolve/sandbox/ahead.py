"""A module of a program as code objects, made by the judge and piece by piece, so that of a program that differs from its parent in one
function one function is compiled and not all of them, again, in a fresh fork.

Nothing of a program runs here. Running the pieces one after another in one namespace is what running the text is; where that is
not certain, or the compiler has anything to say, there are none, and the candidate's process compiles the text itself."""

import functools
import marshal
import re
import warnings
from types import CodeType

_LONGEST = 8_000
"""Characters of a piece: what nests so deeply that it costs the compiler's stack is longer."""
_MOST = 200_000
_KEPT = 1_000
_BEGINS = re.compile(r"(?<=\n\n)(?=[A-Za-z_@#])")
"""A statement of the module begins behind an empty line, in its first column. What is not whole there, such as a text over several lines or a
`try` whose `except` comes behind an empty line, is no piece that compiles."""
_OF_THE_WHOLE = re.compile(r"__future__|\bglobal\b|[\r\f\0]")
"""What a later line can forbid or change in an earlier one, and characters at which the compiler and a regular expression see different lines."""
_HIDDEN_NAMES = frozenset({"__doc__", "__annotate__", "__conditional_annotations__"})
"""What the compiler sets in a module by itself, of the module as a whole."""


def compile_ahead(path: str, text: str) -> tuple[bytes, ...]:
    """The marshalled pieces of a module whose file is `path`; none where the text must be compiled as a whole."""
    if len(text) > _MOST or _OF_THE_WHOLE.search(text):
        return ()
    pieces, line = [], 1
    for part in _BEGINS.split(text):
        piece = _piece(path, part, line, first=line == 1)
        if piece is None:
            return ()
        pieces.append(piece)
        line += part.count("\n")
    return tuple(pieces)


@functools.lru_cache(maxsize=_KEPT)
def _piece(path: str, text: str, line: int, *, first: bool) -> bytes | None:
    """The code of one part of a module, which begins in this line; None where it has none by itself."""
    if len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            code = compile("\n" * (line - 1) + text, path, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None
    return None if _is_of_the_whole(code, first) else marshal.dumps(code)


def _is_of_the_whole(code: CodeType, first: bool) -> bool:
    """Only the module's first statement may be its docstring; annotations may be one function for all of them."""
    return not _HIDDEN_NAMES.isdisjoint(code.co_names) and not (first and "__annotate__" not in code.co_names)
