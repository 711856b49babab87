"""Whether the files that an edit has changed still parse, so that a slip is mended before a judge is asked.

Invariant: nothing of a program is run, and a language that is not known is never held against it."""

import ast
import warnings

from evolve.edits.failure import shown
from evolve.types import Program

_CONTEXT = 2
_LARGEST = 1_000_000


def unparsable(program: Program, before: Program) -> str:
    """Why a file that differs from `before` cannot be parsed, with the line quoted; empty where all can, or their language is not
    known. Only Python (`.py`) is."""
    for path, text in program.files.items():
        if path.endswith(".py") and text != before.files.get(path):
            fault = _fault(path, text)
            if fault:
                return fault
    return ""


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
