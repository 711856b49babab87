"""A reply that is a program without a fence around it.

Invariant: words alone are no program: it has the markers of a block, or is Python that defines something."""

import ast
import re
from collections.abc import Sequence

from evolve.blocks import END, START, changeable
from evolve.edits.answer import Item, Prose, Rewrite
from evolve.edits.parsing import tree
from evolve.edits.paths import from_label
from evolve.types import Program

_BEGINS = re.compile(
    r"(?:# *EVOLVE-BLOCK-START|import [\w.]+|from [\w.]+ import\b|def \w+\(|class \w+|async def|@\w+|\"\"\"|'''|#!|[A-Za-z_]\w* *(?::[^=]+)?= *\S)"
)
_MEANS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
_MOST_WORDS = 60
"""Lines of prose that may stand before the program."""


def unfenced(lines: Sequence[str], program: Program) -> tuple[Item, ...] | None:
    """The items of a reply in which a program stands without a fence; None where none does, or where it is not clear of which file."""
    paths = [path for path, spans in changeable(program.files).items() if spans]
    python = any(path.endswith(".py") for path in paths)
    bounds = (_python(lines) if python else None) or _marked(lines)
    if bounds is None:
        return None
    start, end = bounds
    named = from_label(next((line for line in reversed(lines[:start]) if line.strip()), ""))
    text = Rewrite(named, bool(named), "", tuple(lines[start:end]), True)
    return (*map(Prose, lines[:start]), text, *map(Prose, lines[end:]))


def _marked(lines: Sequence[str]) -> tuple[int, int] | None:
    """From the first to the last line with a marker."""
    places = [index for index, line in enumerate(lines) if (START in line or END in line) and len(line.split()) <= 6]
    return (places[0], places[-1] + 1) if len(places) >= 2 else None


def _python(lines: Sequence[str]) -> tuple[int, int] | None:
    """From the first line that looks like code to the end, where that parses and defines something."""
    start = next((index for index, line in enumerate(lines[:_MOST_WORDS]) if _BEGINS.match(line)), None)
    if start is None:
        return None
    module = tree("\n".join(lines[start:]))
    means = module is not None and any(isinstance(node, _MEANS) for node in module.body)
    return (start, len(lines)) if means else None
