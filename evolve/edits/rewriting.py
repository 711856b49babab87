"""Files that a model writes anew, whole or the block alone, placed into the program.

The text outside the blocks is the file's own, never the model's; an ambiguous text is refused."""

import re
from collections.abc import Sequence

from evolve.edits.apply import check_outside, find_elision, join_lines, refuse_large
from evolve.edits.blocks import END, START, blocks, outside
from evolve.edits.errors import EditFailed, EditKind
from evolve.edits.matching import FileView, normalize_blanks, remove_numbers, strip_line
from evolve.edits.paths import read_comment
from evolve.edits.python_check import refuse_part
from evolve.edits.scanner import FencedText, Lines

_DEFINES = re.compile(r"(?:async )?(?:def|class) (\w+)")
_SHARED = re.compile(r"(?:import|from|#include|#define|using|use|package)\b|#|//|/\*|\*|--|\W*$")
"""Lines that a block may have as well as the text around it."""


def rewrite_file(rewrite: FencedText, sheet: FileView) -> str:
    """Returns the file with what was written for it. Raises `EditFailed`."""
    refuse_large(sheet, sum(map(len, rewrite.lines)))
    lines = _normalize(rewrite.lines, sheet)
    left_out = find_elision(lines, lambda: frozenset(sheet.bare))
    if left_out:
        raise EditFailed(
            EditKind.ELIDED,
            f"The new text of {sheet.path} has a line that stands for code which is left out: {left_out!r}. "
            "Do: write every line of the file, also those that stay, or answer with SEARCH/REPLACE blocks",
        )
    if sheet.whole:
        return check_outside(sheet, _whole_file(lines, sheet))
    if not sheet.spans:
        return _same_or_refused(lines, sheet)
    contents = _contents(lines, sheet)
    new = "\n".join("\n".join(content) for content in contents)
    refuse_part(new, "\n".join(_insides(sheet)), sheet.path, "".join(outside(sheet.text, sheet.path)))
    return check_outside(sheet, _fill(sheet, contents))


def new_text(rewrite: FencedText) -> str:
    """Returns the text of a file that the program does not have yet. Raises `EditFailed`."""
    lines = normalize_blanks(rewrite.lines)
    left_out = find_elision(lines, tuple)
    if left_out:
        raise EditFailed(
            EditKind.ELIDED, f"The new file {rewrite.path} leaves code out: {left_out!r}. Do: write every line"
        )
    return join_lines(lines)


def _normalize(lines: Lines, sheet: FileView) -> Lines:
    """Returns the lines without numbers before them, odd blanks, or their own path as a first comment."""
    lines = normalize_blanks([line.rstrip("\r") for line in lines])
    numberless = remove_numbers(lines)
    if numberless and remove_numbers(sheet.plain) is None:
        lines = numberless
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if lines and sheet.bare[:1] != (lines[first].strip(),) and read_comment(lines[first]) == sheet.path:
        lines = lines[first + 1 :]
    return lines


def _whole_file(lines: Lines, sheet: FileView) -> str:
    text = join_lines(lines)
    refuse_part(text, sheet.text, sheet.path)
    if not sheet.text.endswith("\n") and text.removesuffix("\n") == sheet.text.replace("\r\n", "\n"):
        return sheet.text
    return text.replace("\n", "\r\n") if sheet.newline else text


def _same_or_refused(lines: Lines, sheet: FileView) -> str:
    if _trim(lines) == _trim(sheet.lines):
        return sheet.text
    raise EditFailed(
        EditKind.OUTSIDE,
        f"{sheet.path} has no block, so nothing in it may change. Do: change only what is between the EVOLVE-BLOCK markers",
    )


def _contents(lines: Lines, sheet: FileView) -> list[Lines]:
    """Returns the lines for each block: between its own markers, between the text around the blocks, or all lines."""
    text = "\n".join(lines)
    if START in text or END in text:
        return _read_marked(text, sheet)
    if len(sheet.spans) > 1:
        raise EditFailed(
            EditKind.OUTSIDE,
            f"The new text of {sheet.path} has no EVOLVE-BLOCK markers, and the file has {len(sheet.spans)} blocks. "
            "Do: repeat the markers, or answer with SEARCH/REPLACE blocks",
        )
    before, after = (_without_markers(part) for part in outside(sheet.text, sheet.path))
    body = _trim(lines)
    repeated = body[: len(before)] == before and (not after or body[-len(after) :] == after)
    if repeated and (before or after) and len(body) >= len(before) + len(after):
        return [_keep_edges(_cut(lines, len(before), len(after)), sheet)]
    _refuse_surroundings(body, [*before, *after], sheet)
    return [_keep_edges(_indent(lines, sheet), sheet)]


def _read_marked(text: str, sheet: FileView) -> list[Lines]:
    found = blocks(text, sheet.path)
    if len(found) != len(sheet.spans):
        raise EditFailed(
            EditKind.OUTSIDE,
            f"The new text of {sheet.path} has {len(found)} blocks between EVOLVE-BLOCK markers, and the file has {len(sheet.spans)}. "
            "Do: repeat each line with a marker as it stands",
        )
    mine = [_lines_with_text(part) for part in outside(text, sheet.path)]
    own = [_lines_with_text(part) for part in outside(sheet.text, sheet.path)]
    for index, (new, old) in enumerate(zip(mine, own, strict=True)):
        begins, ends = index == 0, index == len(own) - 1
        cut = old[len(old) - len(new) :] if begins else old[: len(new)] if ends else old if new else []
        if new != cut:
            raise _outside_changed(new, old, sheet)
    return [
        tuple(text[span.start : span.end].removesuffix("\n").split("\n")) if span.start < span.end else ()
        for span in found
    ]


def _outside_changed(new: Sequence[str], old: Sequence[str], sheet: FileView) -> EditFailed:
    known = set(old)
    odd = next((line for line in new if line not in known), "")
    told = f": {odd.strip()[:100]!r} is not there" if odd else ", where lines are missing or were moved"
    return EditFailed(
        EditKind.OUTSIDE,
        f"The new text of {sheet.path} differs from the file outside the EVOLVE-BLOCK markers{told}. "
        "Do: change only what is between the markers, and import what is needed there",
    )


def _refuse_surroundings(body: Sequence[str], around: Sequence[str], sheet: FileView) -> None:
    """Raises `EditFailed` for a text without markers that has some lines from around the block: where the block begins is not certain."""
    telling = {line.strip() for line in around if len(line.strip()) > 3 and not _SHARED.match(line.strip())}
    names = {found[1] for line in around if (found := _DEFINES.match(line))}
    for line in body:
        found = _DEFINES.match(line)
        if line.strip() in telling or (found and found[1] in names):
            raise EditFailed(
                EditKind.OUTSIDE,
                f"The new text of {sheet.path} has no EVOLVE-BLOCK markers, and has a line from outside the block: {line.strip()[:100]!r}. "
                "Do: repeat the lines with the markers, or write the block's content alone",
            )


def _insides(sheet: FileView) -> list[str]:
    return [sheet.text[span.start : span.end] for span in sheet.spans]


def _fill(sheet: FileView, contents: Sequence[Lines]) -> str:
    """Returns the file with new contents of its blocks."""
    parts = outside(sheet.text, sheet.path)
    text = parts[0]
    for content, span, part in zip(contents, sheet.spans, parts[1:], strict=True):
        if span.start not in sheet.starts or span.end not in sheet.starts:
            text += "\n".join(content) + part
            continue
        body = "".join(f"{line}{sheet.newline}\n" for line in content)
        ended = part or sheet.text.endswith("\n")
        text += (body if ended else body.removesuffix(f"{sheet.newline}\n")) + part
    return text


def _lines_with_text(text: str) -> list[str]:
    """Returns the lines that are not blank and hold no marker."""
    return [line for line in _without_markers(text) if line]


def _without_markers(text: str) -> list[str]:
    return _trim([line for line in text.split("\n") if START not in line and END not in line])


def _trim(lines: Sequence[str]) -> list[str]:
    """Returns the lines without blanks behind, and without blank ones at both ends."""
    found = [strip_line(line) for line in lines]
    while found and not found[-1]:
        found.pop()
    first = next((index for index, line in enumerate(found) if line), 0)
    return found[first:]


def _cut(lines: Lines, before: int, after: int) -> Lines:
    """Returns the lines without as many at their ends, blank ones there not counted."""
    kept = [index for index, line in enumerate(lines) if strip_line(line)]
    first, last = kept[0] + before, kept[-1] + 1 - after
    return lines[first:last]


def _keep_edges(lines: Lines, sheet: FileView) -> Lines:
    """Returns a block's content with the blank lines at its ends that the old one has."""
    old = _insides(sheet)[0].removesuffix("\n").split("\n")
    kept = [index for index, line in enumerate(old) if line.strip()]
    new = [index for index, line in enumerate(lines) if line.strip()]
    if not kept or not new:
        return lines
    return ("",) * kept[0] + lines[new[0] : new[-1] + 1] + ("",) * (len(old) - 1 - kept[-1])


def _indent(lines: Lines, sheet: FileView) -> Lines:
    """Returns a block's content, further in or out by the distance at which the old one is."""
    old, new = _depth(_insides(sheet)[0].split("\n")), _depth(lines)
    if old is None or new is None or old == new:
        return lines
    return tuple(old + line[len(new) :] if line.startswith(new) else line for line in lines)


def _depth(lines: Sequence[str]) -> str | None:
    """Returns the white space that all lines with text begin with; None where there is none with text."""
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    return min(margins, key=len) if margins else None
