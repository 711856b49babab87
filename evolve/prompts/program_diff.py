"""Differences between a program and the one that it was made from, line by line.

The time is bounded whatever the two programs are, and a change is shown whole or summarised."""

import difflib
import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evolve.prompts.quoting import path_name
from evolve.types import Program

_NUMBER = re.compile(r"-?\b[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_SHOWN = 40
"""Lines of a change that are shown."""
_COMPARED = 250_000
"""Pairs of lines that are compared at most; a larger change is only counted."""
_TELLING = 12
"""Characters of a line that is worth to be told of, the spaces around it aside."""
_PROSE = ("#", "//", "/*", "*", "--", '"', "'")
"""How a line begins that only says something, in most languages."""


@dataclass(frozen=True, slots=True)
class ProgramChange:
    """Difference of two programs. `diff`: unified, one line around each change, empty where it is long. `taken`: the telling lines that are gone, stripped, in their
    order."""

    diff: str
    summary: str
    taken: tuple[str, ...]


@functools.lru_cache(maxsize=512)
def compare_programs(old: Program, new: Program) -> ProgramChange:
    """Compares two programs."""
    lines, gone, come = list[str](), 0, 0
    whole = True
    for path in sorted({*old.files, *new.files}):
        before, after = (program.files.get(path, "").splitlines() for program in (old, new))
        if before == after:
            continue
        gone += (Counter(before) - Counter(after)).total()
        come += (Counter(after) - Counter(before)).total()
        body = list(_body(before, after)) if len(before) * len(after) <= _COMPARED and whole else None
        whole = whole and body is not None and len(lines) + len(body) <= _SHOWN
        if whole and body is not None:
            lines += [f"@ {path_name(path)}", *body] if len(new.files) > 1 else body
    summary = f"lines: {gone} taken out, {come} put in"
    return ProgramChange("\n".join(lines) if whole else "", summary, _find_removed(old, new))


def _body(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yields the hunks of a unified diff, `@@` between two of them."""
    found = difflib.unified_diff(before, after, n=1, lineterm="")
    for number, line in enumerate(found):
        if number >= 2:
            yield "@@" if line.startswith("@@") else line


@functools.lru_cache(maxsize=512)
def index_lines(program: Program) -> Mapping[str, str]:
    """Returns the program's lines without the spaces around them, but for those that say little, by their outlines: a line with another number
    in it is the same line."""
    lines = (line.strip() for text in program.files.values() for line in text.splitlines())
    found = dict[str, str]()
    for line in lines:
        if len(line) >= _TELLING and not line.startswith(_PROSE):
            found.setdefault(mask_numbers(line), line)
    return found


@functools.lru_cache(maxsize=8192)
def mask_numbers(line: str) -> str:
    """Returns a line with one number in place of every number."""
    return _NUMBER.sub("0", line)


def _find_removed(old: Program, new: Program) -> tuple[str, ...]:
    kept = index_lines(new)
    return tuple(line for form, line in index_lines(old).items() if form not in kept)
