"""Application of edits: each is looked up in the text as it was shown, and all of them are applied, or none.

Text outside the blocks is the same afterwards; two edits never change the same lines; a new line that stands for code which is left out
(`...`, `# rest of the code unchanged`) is refused."""

import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise, zip_longest

from evolve.edits.blocks import END, START, Span, changeable, outside
from evolve.edits.errors import EditFailed, EditKind, quote_lines
from evolve.edits.matching import (
    MATCHES,
    MOST_PLACES,
    FileView,
    LineChange,
    Match,
    find_nearest,
    is_blank,
    list_spellings,
)
from evolve.edits.paths import resolve_path
from evolve.edits.scanner import NO_NEWLINE, EditBlock, Lines, Split
from evolve.types import Program

_LONGEST = 160
_CODE = (
    r"(?:codes?|functions?|methods?|class|classes|implementations?|program|file|logic|body|lines?|blocks?|helpers?|imports?|"
    r"definitions?|section|parts?|contents?|loop|\w+\([\w, .]*\))"
)
_REST = r"(?:the |all |any |your |of |this |that |from |above |below |and |in |for |my )*"
_LEFT = r"(?:rest|remainder|remaining|existing|unchanged|omitted)"
_OTHER = r"(?:other|others|previous|original|same|old|preceding|following|current|initial)"
_OF = rf"(?: (?:of|in) {_REST}\w+)?[ ,.:;-]*"
_STAYS = (
    r"(?:\(?(?:is|are|was|remains?|stays?|goes|kept|left|continues?|stay|keep|be|here|exactly|completely|the|same|"
    r"unchanged|untouched|identical|unmodified|omitted|elided|truncated|not shown|as|before|above|below|is|it|in|for|brevity|original|to|version|previous|from|of|file|code|now|etc|parent|program|this|line)[ ,.;]*)"
)
_WORDS = re.compile(
    rf"(?:keep |insert |include |see |with |and |use |add )*{_REST}(?:"
    rf"{_LEFT} {_REST}(?:{_OTHER} )?(?:\w+ )?{_CODE}{_OF}{_STAYS}{{0,8}}"
    rf"|{_OTHER} {_REST}(?:{_LEFT} )?(?:\w+ )?{_CODE}{_OF}{_STAYS}{{1,8}}"
    rf"|(?:helper )?{_CODE} {_STAYS}{{1,8}}"
    rf"|(?:{_LEFT}|others) (?:as|of|is|remains|stays|unchanged|omitted|goes)[ ]?{_STAYS}{{0,6}}"
    rf"|(?:everything|all) (?:else|below|above) {_STAYS}{{1,8}}"
    rf"|(?:no changes?|snip|unchanged|not changed|omitted|not shown|same as|as before|as above|etc)[ .,:]*{_STAYS}{{0,6}}"
    rf"|(?:code|implementation|body|logic) (?:goes |comes )?here[ .]*"
    r")",
    re.IGNORECASE,
)
_TELLING = re.compile(r"\b(?:rest|remain\w*|existing|unchanged|omitted|elided|truncated|snip)\b", re.IGNORECASE)
_TELLING_BETWEEN = re.compile(r"\b(?:previous|other|original|same|before|here|above|below|code|keep)\b", re.IGNORECASE)
"""Said between dots, or in brackets."""
_COMMENT = re.compile(r"(?:#+|//+|--+|/\*+|<!--|;+|%+|\[|\(|<)[ \t]*(?P<said>.*?)[ \t]*(?:\*+/|-->|\]|\)|>)?")
_DOTS = re.compile(r"(?:\.{3,}|…)")
_EMPTY = re.compile(
    rf"(?:pass|raise NotImplementedError(?:\(.*\))?)\s*#+\s*{_REST}(?:{_LEFT}|{_OTHER}) {_REST}(?:\w+ )?{_CODE}\b.*",
    re.IGNORECASE,
)
"""A body that does nothing, with the word that something was there."""
_DEFINES = re.compile(r"(?:async )?(?:def|class) (\w+)")
_STUB = re.compile(r"(?:async )?(?:def|class) (?P<name>\w+)\b.*:[ \t]*(?:\.\.\.|…)[ \t]*(?:#.*)?")


def find_elision(lines: Sequence[str], kept: Callable[[], Collection[str]]) -> str:
    """Returns the first line that stands for what it leaves out; empty where none does. `kept` gives the lines of the program as it is, without
    the blanks around them; it is asked where a line looks like one."""
    for line in lines:
        text = line.strip()
        if text and len(text) <= _LONGEST and _may_leave_out(text) and _leaves_out(text, kept()):
            return text
    return ""


def _leaves_out(text: str, kept: Collection[str]) -> bool:
    """Returns whether a line that looks like it does: not where the program has it already, and a stub only of what the program defines."""
    stub = _STUB.fullmatch(text)
    if stub:
        return text not in kept and stub["name"] in {found[1] for line in kept if (found := _DEFINES.match(line))}
    return text not in kept


def _may_leave_out(text: str) -> bool:
    """Returns whether a short line looks as if it did."""
    if _DOTS.fullmatch(text) or _STUB.fullmatch(text) or _EMPTY.fullmatch(text):
        return True
    comment = _COMMENT.fullmatch(text)
    if comment:
        return _stands_for_code(comment["said"])
    return bool(_DOTS.match(text)) and _stands_for_code(text)


def _stands_for_code(said: str) -> bool:
    """Reports words such as `... existing code ...` or `rest of the code unchanged`."""
    words = _DOTS.sub(" ", said).strip(" .-\u2013\u2014()[]{}:*")
    if not words:
        return bool(_DOTS.search(said))
    if _WORDS.fullmatch(words):
        return True
    bracketed = said[:1] in ("[", "<")
    begins, ends = bool(_DOTS.match(said)) or bracketed, said.endswith(("...", "\u2026")) or bracketed
    told = _TELLING.search(words) or (ends and _TELLING_BETWEEN.search(words))
    return begins and bool(told) and len(words.split()) <= 12


LARGEST = 400_000
"""Characters that a file may always have; a larger one may not grow to twice its size."""
_OTHERS = 5

Found = tuple[FileView, LineChange]


@functools.lru_cache(maxsize=16)
def view_files(program: Program) -> Mapping[str, FileView]:
    """Returns the files of a program, with what may change of each. Cached: one parent has many children."""
    spans = changeable(program.files)
    return {path: FileView(path, text, tuple(map(Span._make, spans[path]))) for path, text in program.files.items()}


def apply_edits(edits: Sequence[EditBlock], known: Mapping[str, FileView], new_files: Sequence[str]) -> dict[str, str]:
    """Returns the texts of the files that the edits change or add. Raises `EditFailed`, with a word on every edit that does not apply."""
    changes: dict[str, list[LineChange]] = {}
    added: dict[str, str] = {}
    failures: list[tuple[int, EditFailed]] = []
    for edit in edits:
        try:
            path = resolve_path(edit.path, tuple(known), new_files) if edit.path else ""
            if path and path not in known:
                _add(added, path, edit)
                continue
            sheet, change = _place(edit, [known[path]] if path else list(known.values()))
            changes.setdefault(sheet.path, []).append(change)
        except EditFailed as failure:
            failures.append((edit.number, failure))
    if failures:
        raise _combine(failures)
    return added | {path: merge_changes(known[path], found) for path, found in changes.items()}


def merge_changes(sheet: FileView, changes: Sequence[LineChange]) -> str:
    """Returns the text of a file with all its changes."""
    distinct = {(change.start, change.end, change.new): change for change in reversed(changes)}
    ordered = sorted(distinct.values(), key=lambda change: (change.start, change.end, change.number))
    for before, after in pairwise(ordered):
        if after.start < before.end:
            there = quote_lines(sheet.lines[after.start : before.end])
            raise EditFailed(
                EditKind.CONFLICT,
                f"Edits {before.number} and {after.number} both change these lines of {sheet.path}:\n{there}\nDo: write one edit for them",
            )
    return check_outside(sheet, sheet.apply(ordered))


def check_outside(sheet: FileView, text: str) -> str:
    """Returns a new text of a file, if its outside is the same."""
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


def refuse_large(sheet: FileView, size: int) -> None:
    """Raises `EditFailed` where a file would have more characters than any file needs."""
    if size > max(LARGEST, 2 * len(sheet.text)):
        raise EditFailed(
            EditKind.TOO_LARGE, f"{sheet.path} would have {size:,} characters. Do: keep it below {LARGEST:,}"
        )


def _without_new_markers(text: str, sheet: FileView) -> str:
    """Returns a file without blocks gets none: their markers would say that the rest may not change any more."""
    if START not in text or START in sheet.text:
        return text
    return "\n".join(line for line in text.split("\n") if START not in line and END not in line)


def join_lines(lines: Lines) -> str:
    """Returns the text of a new file: its last line is ended, unless it is said that it is not."""
    if lines and lines[-1] == NO_NEWLINE:
        return "\n".join(lines[:-1])
    return "\n".join(lines if not lines or lines[-1] == "" else [*lines, ""])


def _add(added: dict[str, str], path: str, edit: EditBlock) -> None:
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
    added[path] = join_lines(way.replace)


def _place(edit: EditBlock, candidates: Sequence[FileView]) -> Found:
    """Returns the one place of an edit."""
    ways = [way for way in edit.ways if not is_blank(way.search)]
    if not ways:
        return _into_nothing(edit, candidates)
    for spelled in zip_longest(*map(list_spellings, ways)):
        for match in MATCHES:
            found = _find_places(match, [way for way in spelled if way], candidates)
            if found:
                return _only(edit, found)
    raise _not_found(edit.number, ways[0], candidates)


def _find_places(
    match: Match, ways: Sequence[Split], candidates: Sequence[FileView]
) -> list[tuple[FileView, LineChange, Split]]:
    """Returns all places. Where a program has lines like dividers, the reading with as many before as behind the middle is meant, if it fits."""
    middle = [ways[len(ways) // 2]] if len(ways) % 2 else []
    for meant in (middle, ways):
        found = [(sheet, change, way) for way in meant for sheet in candidates for change in match(sheet, way)]
        if found:
            return found
    return []


def _only(edit: EditBlock, found: Sequence[tuple[FileView, LineChange, Split]]) -> Found:
    inside = [(sheet, change, way) for sheet, change, way in found[: 2 * MOST_PLACES] if sheet.allows(change)]
    if not inside:
        sheet, change, way = found[0]
        raise EditFailed(
            EditKind.OUTSIDE,
            f"Edit {edit.number} would change {_at(sheet, change)}, which is outside the blocks that may change:\n"
            f"{quote_lines(way.search, 8)}\n{_describe_allowed([sheet for sheet, _, _ in found])}",
        )
    if len(inside) > 1:
        raise _ambiguous(edit.number, inside)
    sheet, change, way = inside[0]
    _refuse_elision(change.new, lambda: frozenset(sheet.bare), edit.number)
    return sheet, LineChange(change.start, change.end, change.new, edit.number)


def _into_nothing(edit: EditBlock, candidates: Sequence[FileView]) -> Found:
    """Returns an edit that searches for nothing: it fills the one block, or the one file, that is empty."""
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
        return sheet, LineChange(0, len(sheet.lines), tuple(join_lines(new).split("\n")), edit.number)
    if span.start not in sheet.starts or span.end not in sheet.starts:
        raise EditFailed(
            EditKind.AMBIGUOUS,
            f"The block of {sheet.path} shares its line. Do: search for that line, and repeat it with the change",
        )
    first, last = sheet.starts.index(span.start), sheet.starts.index(span.end)
    return sheet, LineChange(first, last, tuple(line.rstrip("\r") + sheet.newline for line in new), edit.number)


def _refuse_elision(lines: Sequence[str], kept: Callable[[], Collection[str]], number: int) -> None:
    left_out = find_elision(lines, kept)
    if left_out:
        raise EditFailed(
            EditKind.ELIDED,
            f"Edit {number} puts a line into the program that stands for code which is left out: {left_out!r}. "
            "Do: write that code, or do not touch it",
        )


def _not_found(number: int, way: Split, candidates: Sequence[FileView]) -> EditFailed:
    candidates = [sheet for sheet in candidates if sheet.spans] or candidates
    names = ", ".join(sheet.path for sheet in candidates)[:300]
    begin = f"The SEARCH text of edit {number} is not in {names}:\n{quote_lines(way.search, 8)}\n"
    known = frozenset(line for sheet in candidates for line in sheet.bare)
    left_out = find_elision(way.search, lambda: known)
    if left_out:
        return EditFailed(
            EditKind.NOT_FOUND,
            f"{begin}Its line {left_out!r} stands for others. Do: write all lines of a SEARCH text, or make it shorter",
        )
    for sheet in candidates:
        rows = list(sheet.changeable_lines())
        near = find_nearest([line.strip() for line in way.search], [sheet.bare[index] for index in rows])
        if near:
            first, last = rows[near[0]], rows[near[1] - 1]
            while last > first and not sheet.plain[last]:
                last -= 1
            there = quote_lines(sheet.plain[first : last + 1])
            where = (
                f"The nearest lines are {first + 1} to {last + 1}"
                if last > first
                else f"The nearest line is line {first + 1}"
            )
            return EditFailed(
                EditKind.NOT_FOUND,
                f"{begin}{where} of {sheet.path}:\n{there}\nDo: copy the lines as they stand, each one in full",
            )
    return EditFailed(EditKind.NOT_FOUND, f"{begin}Nothing there is like it. {_describe_allowed(candidates)}")


def _ambiguous(number: int, inside: Sequence[tuple[FileView, LineChange, Split]]) -> EditFailed:
    where = "; ".join(_at(sheet, change) for sheet, change, _ in inside[:6])
    return EditFailed(
        EditKind.AMBIGUOUS,
        f"The SEARCH text of edit {number} stands in {len(inside)} places ({where}):\n{quote_lines(inside[0][2].search, 8)}\n"
        "Do: add lines before or after it, until it stands in one place",
    )


def _at(sheet: FileView, change: LineChange) -> str:
    return f"{sheet.path} line {min(change.start, len(sheet.lines) - 1) + 1}"


def _span(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _describe_allowed(candidates: Sequence[FileView]) -> str:
    """Returns the remedy: what may change, in a line or two."""
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


def _combine(failures: Sequence[tuple[int, EditFailed]]) -> EditFailed:
    """Returns the first failure in full, and a line on the others."""
    _, first = failures[0]
    others = [f"edit {number} ({failure.kind.value.replace('_', ' ')})" for number, failure in failures[1:]]
    if not others:
        return first
    more = f" and {len(others) - _OTHERS} more" if len(others) > _OTHERS else ""
    return EditFailed(
        first.kind, f"{first}\nThese do not apply either: {', '.join(others[:_OTHERS])}{more}. Nothing was changed."
    )
