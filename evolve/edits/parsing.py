"""Whether the files that an edit has changed still parse, so that a slip is mended before a judge is asked.

Invariant: nothing of a program is run, and a language that is not known is never held against it."""

import ast
import warnings
from bisect import bisect_left
from functools import lru_cache

from evolve.edits.failure import shown
from evolve.types import Program

_CONTEXT = 2
_LARGEST = 1_000_000


def unparsable(program: Program, before: Program) -> str:
    """Why a file that differs from `before` cannot be parsed, with the line quoted; empty where all can, or their language is not
    known. Only Python (`.py`) is."""
    for path, text in program.files.items():
        if path.endswith(".py") and text != before.files.get(path):
            old = before.files.get(path, "")
            fault = "" if _changed_part_parses(text, old) else _fault(path, text)
            if fault:
                return fault
    return ""


def _changed_part_parses(text: str, old: str) -> bool:
    """Whether the statements of the module that changed parse by themselves, between others that did before. That is a fraction of the
    whole text; where it says no, the whole text decides."""
    starts = _starts(old)
    if not starts or "__future__" in text:
        return False
    lines, before = text.split("\n"), old.split("\n")
    shorter = min(len(lines), len(before))
    same = next((place for place in range(shorter) if lines[place] != before[place]), shorter)
    rest = next((back for back in range(shorter - same) if lines[-1 - back] != before[-1 - back]), shorter - same)
    start = starts[max(0, bisect_left(starts, same) - 1)]
    after = bisect_left(starts, len(before) - rest)
    end = starts[after] if after < len(starts) else len(before)
    if start > same:
        return False
    try:
        _compile("\n".join(lines[start : end + len(lines) - len(before)]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


@lru_cache(maxsize=256)
def _starts(text: str) -> tuple[int, ...]:
    """The lines, from 0, on which a statement of the module begins, its decorators included; none where the text does not parse."""
    module = tree(text)
    if module is None:
        return ()
    found = (min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]) for node in module.body)
    return tuple(sorted({line - 1 for line in found}))


def tree(text: str) -> ast.Module | None:
    """A text as Python; None where it is none, or larger than any program."""
    if len(text) > _LARGEST:
        return None
    try:
        _compile(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _compile(text: str) -> None:
    """Parses it, and finds what parses and is no program, such as a `return` outside of a function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "<program>", "exec", dont_inherit=True)


def _fault(path: str, text: str) -> str:
    try:
        _compile(text)
    except SyntaxError as error:
        return _told(path, text, error)
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{path} does not parse: {error or type(error).__name__}. Do: write plain Python that is not nested as deeply"
    return ""


def _told(path: str, text: str, error: SyntaxError) -> str:
    number = error.lineno or 0
    lines = text.split("\n")
    near = lines[max(0, number - 1 - _CONTEXT) : number]
    where = f", line {number}" if number else ""
    quoted = f" The last of these lines:\n{shown(near)}\n" if near else " "
    return f"{path} does not parse{where}: {error.msg}.{quoted}Do: write Python that parses"
