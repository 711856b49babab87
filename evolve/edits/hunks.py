"""Unified diffs, and the patches that some models write instead of edits, as edits.

Invariant: a hunk applies by its lines alone; the numbers in its head are not read."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from evolve.edits.answer import NO_NEWLINE, Broken, Replace, Split
from evolve.edits.failure import EditKind, shown
from evolve.edits.paths import cleaned

_HEAD = re.compile(r"@@.*")
_FILE = re.compile(r"(?:\*\*\* (?:Update|Add) File: |\+\+\+ )(?P<path>[^\t\n]{1,300}?)(?:\t.*)?\s*")
_LIKE_CHANGES = ("--- ", "+++ ")
"""How lines of a diff's head begin that may be changed lines of a program, too: `-- a comment` that goes."""
_NOISE = re.compile(
    r"diff --git .*|index [0-9a-f]+\.\..*|(?:new|old|deleted) .*mode .*|--- .*|\*\*\* (?:Begin Patch|End Patch|End of File).*"
)


def begins(lines: Sequence[str], index: int) -> bool:
    """Whether a diff without a fence begins at a line."""
    line = lines[index]
    after = lines[index + 1] if index + 1 < len(lines) else ""
    return line.startswith("*** Begin Patch") or (line.startswith("--- ") and after.startswith("+++ "))


def ends(lines: Sequence[str], start: int, stop: int) -> int:
    """The line behind a diff without a fence."""
    for index in range(start, stop):
        line = lines[index]
        if line.startswith("*** End Patch"):
            return index + 1
        if line and line[0] not in " +-@\\*" and not _NOISE.fullmatch(line[:300]):
            return index
    return stop


def looks_like_diff(lines: Sequence[str], tag: str) -> bool:
    """Whether a fenced text is one: by its heads, or because it says so and has lines that are taken out or put in."""
    if any(_HEAD.match(line) for line in lines[:60]) and any(line[:1] in ("+", "-") for line in lines):
        return True
    return tag in ("diff", "patch") and any(line[:1] in ("+", "-") for line in lines)


def replaces(lines: Sequence[str], path: str) -> Iterator[Replace | Broken]:
    """The edits of a diff; `path` is what was named before it."""
    hunk: list[str] = []
    within = False
    for line, after in pairwise([*lines, "@@", ""]):
        if within and _is_change(line, after):
            hunk.append(line)
            continue
        found = _FILE.fullmatch(line[:400])
        if not (found or _HEAD.match(line) or _NOISE.fullmatch(line[:300])):
            hunk.append(line)
            within = within or bool(line.strip())
            continue
        if any(part.strip() for part in hunk):
            yield _replace(hunk, path)
        hunk, within = [], _HEAD.match(line) is not None
        if found and found["path"] != "/dev/null":
            path = cleaned(found["path"])


def _is_change(line: str, after: str) -> bool:
    """Whether a line of a hunk is one, though it begins as the head of the next file does."""
    return line.startswith(_LIKE_CHANGES) and not (line.startswith("--- ") and after.startswith("+++ "))


def _replace(hunk: Sequence[str], path: str) -> Replace | Broken:
    while hunk and not hunk[-1].strip():
        hunk = hunk[:-1]
    search: list[str] = []
    replace: list[str] = []
    for line in hunk:
        if line[:1] not in ("", " ", "+", "-", "\\"):
            return Broken(
                EditKind.UNPARSABLE,
                f"This part of a diff has a line that begins with none of ' ', '-' and '+': {line[:100]!r}\n"
                f"{shown(hunk)}\nDo: write SEARCH/REPLACE blocks",
            )
        if line[:1] != "+" and line != NO_NEWLINE:
            search.append(line[1:])
        if line[:1] != "-" and line != NO_NEWLINE:
            replace.append(line[1:])
    return Replace(0, path, (Split(tuple(search), tuple(replace)),))
