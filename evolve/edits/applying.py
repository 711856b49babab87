"""Edits on a program: each is looked up in the text as it was shown, and all of them are applied, or none.

Invariant: what is outside the blocks is the same afterwards; two edits never change the same lines."""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from evolve.blocks import END, START, Span, changeable, outside
from evolve.edits.answer import NO_NEWLINE, Lines, Replace, Split
from evolve.edits.elision import elision
from evolve.edits.failure import EditFailed, EditKind, shown
from evolve.edits.matching import MATCHES, Match, is_blank, spellings
from evolve.edits.nearest import nearest
from evolve.edits.paths import resolved
from evolve.edits.sheet import MOST_PLACES, Change, Sheet
from evolve.types import Program

LARGEST = 400_000
"""Characters that a file may always have; a larger one may not grow to twice its size."""
_OTHERS = 5

Found = tuple[Sheet, Change]


@functools.lru_cache(maxsize=16)
def sheets(program: Program) -> Mapping[str, Sheet]:
    """The files of a program, with what may change of each. Cached: one parent has many children."""
    spans = changeable(program.files)
    return {path: Sheet(path, text, tuple(map(Span._make, spans[path]))) for path, text in program.files.items()}


def applied(edits: Sequence[Replace], known: Mapping[str, Sheet], new_files: Sequence[str]) -> dict[str, str]:
    """The texts of the files that the edits change or add. Raises `EditFailed`, with a word on every edit that does not apply."""
    changes: dict[str, list[Change]] = {}
    added: dict[str, str] = {}
    failures: list[tuple[int, EditFailed]] = []
    for edit in edits:
        try:
            path = resolved(edit.path, tuple(known), new_files) if edit.path else ""
            if path and path not in known:
                _add(added, path, edit)
                continue
            sheet, change = _placed(edit, [known[path]] if path else list(known.values()))
            changes.setdefault(sheet.path, []).append(change)
        except EditFailed as failure:
            failures.append((edit.number, failure))
    if failures:
        raise _together(failures)
    return added | {path: settled(known[path], found) for path, found in changes.items()}


def settled(sheet: Sheet, changes: Sequence[Change]) -> str:
    """The text of a file with all its changes."""
    distinct = {(change.start, change.end, change.new): change for change in reversed(changes)}
    ordered = sorted(distinct.values(), key=lambda change: (change.start, change.end, change.number))
    for before, after in pairwise(ordered):
        if after.start < before.end:
            there = shown(sheet.lines[after.start : before.end])
            raise EditFailed(
                EditKind.CONFLICT,
                f"Edits {before.number} and {after.number} both change these lines of {sheet.path}:\n{there}\nDo: write one edit for them",
            )
    return guarded(sheet, sheet.changed(ordered))


def guarded(sheet: Sheet, text: str) -> str:
    """A new text of a file, if its outside is the same."""
    refuse_large(sheet, len(text))
    if sheet.whole:
        return _without_new_markers(text, sheet)
    if outside(text, sheet.path) != outside(sheet.text, sheet.path):
        raise EditFailed(
            EditKind.OUTSIDE,
            f"{sheet.path} would change outside its blocks, or its EVOLVE-BLOCK markers would: "
            "a marker was written, or a string or a comment is not ended. "
            "Do: change only the lines between the markers, and leave the markers as they are",
        )
    return text


def refuse_large(sheet: Sheet, size: int) -> None:
    """Raises `EditFailed` where a file would have more characters than any file needs."""
    if size > max(LARGEST, 2 * len(sheet.text)):
        raise EditFailed(
            EditKind.TOO_LARGE, f"{sheet.path} would have {size:,} characters. Do: keep it below {LARGEST:,}"
        )


def _without_new_markers(text: str, sheet: Sheet) -> str:
    """A file without blocks gets none: their markers would say that the rest may not change any more."""
    if START not in text or START in sheet.text:
        return text
    return "\n".join(line for line in text.split("\n") if START not in line and END not in line)


def whole(lines: Lines) -> str:
    """The text of a new file: its last line is ended, unless it is said that it is not."""
    if lines and lines[-1] == NO_NEWLINE:
        return "\n".join(lines[:-1])
    return "\n".join(lines if not lines or lines[-1] == "" else [*lines, ""])


def _add(added: dict[str, str], path: str, edit: Replace) -> None:
    way = edit.ways[0]
    if not is_blank(way.search):
        raise EditFailed(
            EditKind.NOT_FOUND,
            f"Edit {edit.number} searches in {path}, and there is no such file. Do: leave SEARCH empty to add it",
        )
    if path in added:
        raise EditFailed(
            EditKind.CONFLICT, f"Edit {edit.number} adds {path}, and so does one before it. Do: add it once"
        )
    _refuse_elision(way.replace, tuple, edit.number)
    added[path] = whole(way.replace)


def _placed(edit: Replace, candidates: Sequence[Sheet]) -> Found:
    """The one place of an edit."""
    ways = [way for way in edit.ways if not is_blank(way.search)]
    if not ways:
        return _into_nothing(edit, candidates)
    for spelled in zip(*(_padded(way) for way in ways), strict=True):
        for match in MATCHES:
            found = _found(match, [way for way in spelled if way], candidates)
            if found:
                return _only(edit, found)
    raise _not_found(edit.number, ways[0], candidates)


def _found(match: Match, ways: Sequence[Split], candidates: Sequence[Sheet]) -> list[tuple[Sheet, Change, Split]]:
    """All places. Where a program has lines like dividers, the reading with as many before as behind the middle is meant, if it fits."""
    middle = [ways[len(ways) // 2]] if len(ways) % 2 else []
    for meant in (middle, ways):
        found = [(sheet, change, way) for way in meant for sheet in candidates for change in match(sheet, way)]
        if found:
            return found
    return []


def _padded(way: Split) -> Iterator[Split | None]:
    """The spellings of an edit, and nothing for those that it lacks: four in all."""
    found = list(spellings(way))
    yield from (found[index] if index < len(found) else None for index in range(4))


def _only(edit: Replace, found: Sequence[tuple[Sheet, Change, Split]]) -> Found:
    inside = [(sheet, change, way) for sheet, change, way in found[: 2 * MOST_PLACES] if sheet.allows(change)]
    if not inside:
        sheet, change, way = found[0]
        raise EditFailed(
            EditKind.OUTSIDE,
            f"Edit {edit.number} would change {_at(sheet, change)}, which is outside the blocks that may change:\n"
            f"{shown(way.search, 8)}\n{_allowed([sheet for sheet, _, _ in found])}",
        )
    if len(inside) > 1:
        raise _ambiguous(edit.number, inside)
    sheet, change, way = inside[0]
    _refuse_elision(change.new, lambda: frozenset(sheet.bare), edit.number)
    return sheet, Change(change.start, change.end, change.new, edit.number)


def _into_nothing(edit: Replace, candidates: Sequence[Sheet]) -> Found:
    """An edit that searches for nothing: it fills the one block, or the one file, that is empty."""
    empty = [
        (sheet, span) for sheet in candidates for span in sheet.spans if not sheet.text[span.start : span.end].strip()
    ]
    if len(empty) != 1:
        raise EditFailed(
            EditKind.AMBIGUOUS,
            f"Edit {edit.number} has nothing between SEARCH and =======, so it does not say where. "
            "Do: search for the line before the place, and repeat it in REPLACE",
        )
    sheet, span = empty[0]
    new = edit.ways[0].replace
    _refuse_elision(new, tuple, edit.number)
    if sheet.whole:
        return sheet, Change(0, len(sheet.lines), tuple(whole(new).split("\n")), edit.number)
    if span.start not in sheet.starts or span.end not in sheet.starts:
        raise EditFailed(
            EditKind.AMBIGUOUS,
            f"The block of {sheet.path} shares its line. Do: search for that line, and repeat it with the change",
        )
    first, last = sheet.starts.index(span.start), sheet.starts.index(span.end)
    return sheet, Change(first, last, tuple(line.rstrip("\r") + sheet.newline for line in new), edit.number)


def _refuse_elision(lines: Sequence[str], kept: Callable[[], Collection[str]], number: int) -> None:
    left_out = elision(lines, kept)
    if left_out:
        raise EditFailed(
            EditKind.ELIDED,
            f"Edit {number} puts a line into the program that stands for code which is left out: {left_out!r}. "
            "Do: write that code, or do not touch it",
        )


def _not_found(number: int, way: Split, candidates: Sequence[Sheet]) -> EditFailed:
    candidates = [sheet for sheet in candidates if sheet.spans] or candidates
    names = ", ".join(sheet.path for sheet in candidates)[:300]
    begin = f"The SEARCH text of edit {number} is not in {names}:\n{shown(way.search, 8)}\n"
    known = frozenset(line for sheet in candidates for line in sheet.bare)
    left_out = elision(way.search, lambda: known)
    if left_out:
        return EditFailed(
            EditKind.NOT_FOUND,
            f"{begin}Its line {left_out!r} stands for others. Do: write all lines of a SEARCH text, or make it shorter",
        )
    for sheet in candidates:
        rows = list(sheet.changeable_lines())
        near = nearest([line.strip() for line in way.search], [sheet.bare[index] for index in rows])
        if near:
            first, last = rows[near[0]], rows[near[1] - 1]
            while last > first and not sheet.plain[last]:
                last -= 1
            there = shown(sheet.plain[first : last + 1])
            where = (
                f"The nearest lines are {first + 1} to {last + 1}"
                if last > first
                else f"The nearest line is line {first + 1}"
            )
            return EditFailed(
                EditKind.NOT_FOUND,
                f"{begin}{where} of {sheet.path}:\n{there}\nDo: copy the lines as they stand, each one in full",
            )
    return EditFailed(EditKind.NOT_FOUND, f"{begin}Nothing there is like it. {_allowed(candidates)}")


def _ambiguous(number: int, inside: Sequence[tuple[Sheet, Change, Split]]) -> EditFailed:
    where = "; ".join(_at(sheet, change) for sheet, change, _ in inside[:6])
    return EditFailed(
        EditKind.AMBIGUOUS,
        f"The SEARCH text of edit {number} stands in {len(inside)} places ({where}):\n{shown(inside[0][2].search, 8)}\n"
        "Do: add lines before or after it, until it stands in one place",
    )


def _at(sheet: Sheet, change: Change) -> str:
    return f"{sheet.path} line {min(change.start, len(sheet.lines) - 1) + 1}"


def _span(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _allowed(candidates: Sequence[Sheet]) -> str:
    """What may change, as far as it can be said in a line or two."""
    parts = []
    for sheet in candidates[:_OTHERS]:
        lines = list(sheet.changeable_lines())
        if lines:
            parts.append(
                f"{_span(lines[0] + 1, lines[-1] + 1)} of {sheet.path}"
                if len(sheet.spans) == 1
                else f"the blocks of {sheet.path}"
            )
    return (
        f"Do: edit {' or '.join(dict.fromkeys(parts))}"
        if parts
        else "Do: edit what is between the EVOLVE-BLOCK markers"
    )


def _together(failures: Sequence[tuple[int, EditFailed]]) -> EditFailed:
    """The first failure in full, and a line on the others."""
    _, first = failures[0]
    others = [f"edit {number} ({failure.kind.value.replace('_', ' ')})" for number, failure in failures[1:]]
    if not others:
        return first
    more = f" and {len(others) - _OTHERS} more" if len(others) > _OTHERS else ""
    return EditFailed(
        first.kind, f"{first}\nThese do not apply either: {', '.join(others[:_OTHERS])}{more}. Nothing was changed."
    )
