"""Replies of a model as programs: SEARCH/REPLACE edits of the program that was shown, or whole files in fences.

A reply is applied whole or not at all, and its program differs from the one that was shown. Every pattern is anchored and looks at one
short line, so that the work is linear in the length of the reply."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evolve.edits.apply import EditBlock, apply_edits, view_files
from evolve.edits.errors import EditFailed, EditKind, quote_lines
from evolve.edits.rewriting import FencedText, write_files
from evolve.types import Program

LONGEST_THOUGHT = 500
MOST_EDITS = 300
_CUT = "length"
_OPENS = re.compile(r"\s*<{5,9}[ \t]*(?:SEARCH|ORIGINAL)\b:?\s*", re.IGNORECASE)
_DIVIDES = re.compile(r"\s*={5,9}\s*")
_CLOSES = re.compile(r"\s*>{5,9}[ \t]*(?:REPLACE|UPDATED)\b:?\s*", re.IGNORECASE)
_FENCE = re.compile(r"(?P<margin>[ \t]*)(?P<run>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)")
_MARKS = "`*_\"'<>()[]#:, \t"
_LABELS = frozenset(
    [
        "file",
        "filename",
        "path",
        "new",
        "the",
        "updated",
        "modified",
        "improved",
        "in",
        "edit",
        "full",
        "complete",
        "final",
    ]
)
"""Words that stand beside a path and say nothing else."""
_ASIDE = re.compile(r"\([^()]*\)[\s:*]*$")
_PATH = re.compile(r"[\w./\\@+-]{1,200}")
_HYPOTHESIS = re.compile(r"[#*_ >-]*hypothesis[*_ ]*(?::[*_ ]*(?P<said>.*))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EditedProgram:
    """A program that a reply describes. `thought`: the hypothesis that the reply states, one line of at most 500 characters, empty
    where it states none."""

    program: Program
    thought: str


@dataclass(slots=True)
class _Parts:
    """Edits or fenced texts of a reply, and the words around them."""

    edits: list[EditBlock] = field(default_factory=list)
    fences: list[FencedText] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)


def read(reply: str, program: Program, *, new_files: Sequence[str] = (), finish: str = "") -> EditedProgram:
    """Returns the program that a reply to `program` describes. `new_files`: patterns of the paths that may be added; `finish`: why the
    model stopped, `length` where it was cut. Raises `EditFailed` where there is none, or where any part of it cannot be applied."""
    if finish == _CUT:
        # Even where an edit is complete: what was still to come may belong to it.
        raise EditFailed(
            EditKind.CUT_OFF,
            "The reply was cut at its greatest length, so nothing of it was applied. Try: answer in fewer words, or with smaller edits",
        )
    parts = split_reply(remove_thinking(reply).replace("\r\n", "\n").split("\n"))
    known = view_files(program)
    if parts.edits:
        _refuse_both_forms(parts.fences)
        texts = apply_edits(parts.edits, known, new_files)
    else:
        texts = write_files(parts.fences, known, new_files)
    # A reply is applied to the program that was shown, never to what an earlier reply made of it.
    made = Program({**program.files, **texts})
    if made == program:
        raise EditFailed(EditKind.NO_OP, "The program would stay exactly as it is. Try: change it")
    return EditedProgram(made, find_thought(parts.prose))


def remove_thinking(reply: str) -> str:
    """Returns a reply without the thoughts that some servers leave in it."""
    text = reply.removeprefix("\ufeff")
    start = text.lstrip()
    if start.startswith("<think>"):
        return start.partition("</think>")[2]
    # Some servers put the opening tag into the prompt, so that the reply has the closing one alone.
    before, closed, rest = text.partition("\n</think>")
    return rest if closed and "<think>" not in before else text


def split_reply(lines: Sequence[str]) -> _Parts:
    """Returns the parts of a reply. Raises `EditFailed` for an edit that cannot be read, and for more edits than any reply needs."""
    parts, rest, index = _Parts(), list[str](), 0
    while index < len(lines):
        if not _OPENS.fullmatch(lines[index][:200]):
            rest.append(lines[index])
            index += 1
            continue
        if len(parts.edits) == MOST_EDITS:
            raise EditFailed(
                EditKind.TOO_LARGE,
                f"The reply has more than {MOST_EDITS} edits. Try: write one fenced text with the whole file",
            )
        number, end = len(parts.edits) + 1, _find_end(lines, index)
        parts.edits.append(_split_edit(number, _find_label(rest), lines[index : end + 1]))
        index = end + 1
    # Edits are taken out first: the fences that models put around them are empty now.
    _split_fences(rest, parts)
    return parts


def find_thought(prose: Sequence[str]) -> str:
    """Returns the hypothesis that a reply states, else the first paragraph that says more than that an edit follows."""
    paragraphs = [" ".join(found) for found in _list_paragraphs(prose)]
    stated = [found["said"] for text in paragraphs if (found := _HYPOTHESIS.fullmatch(text))]
    others = [text for text in paragraphs if not text.endswith(":") and not read_label(text)]
    said = next((text for text in (*stated, *others) if text and not _HYPOTHESIS.fullmatch(text)), "")
    said = " ".join(said[: 4 * LONGEST_THOUGHT].split()).strip("*_# ")
    return said if len(said) <= LONGEST_THOUGHT else f"{said[: LONGEST_THOUGHT - 4]} ..."


def _list_paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yields the paragraphs of a text; a line with a hypothesis begins one."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        begins = _HYPOTHESIS.fullmatch(line)
        if paragraph and (begins or not line.strip()):
            yield paragraph
            paragraph = []
        if line.strip():
            paragraph.append(line.strip())


def _find_end(lines: Sequence[str], start: int) -> int:
    """Returns the line that closes the edit which `lines[start]` opens."""
    for index in range(start + 1, len(lines)):
        if _CLOSES.fullmatch(lines[index][:200]):
            return index
        if _OPENS.fullmatch(lines[index][:200]):
            break
    else:
        index = len(lines)
    begun = quote_lines(lines[start : min(index, start + 6)])
    raise EditFailed(
        EditKind.CUT_OFF if index == len(lines) else EditKind.UNPARSABLE,
        f"This edit has no line `>>>>>>> REPLACE`:\n{begun}\nTry: write every edit out to its end",
    )


def _split_edit(number: int, path: str, lines: Sequence[str]) -> EditBlock:
    dividers = [index for index, line in enumerate(lines) if _DIVIDES.fullmatch(line[:200])]
    # A text may have lines of `=` of its own, as headings have; the divider has seven.
    dividers = [index for index in dividers if lines[index].strip() == "======="] or dividers
    if len(dividers) != 1:
        wrong = f"{len(dividers)} lines" if dividers else "no line"
        raise EditFailed(
            EditKind.UNPARSABLE,
            f"This edit has {wrong} `=======` between what is searched and what replaces it:\n{quote_lines(lines)}\n"
            "Try: write one between both parts, or write the whole file",
        )
    return EditBlock(number, path, tuple(lines[1 : dividers[0]]), tuple(lines[dividers[0] + 1 : -1]))


def _find_label(before: Sequence[str]) -> str:
    """Returns the path that the lines right before an edit name, past a fence that opens or ends; empty where they name none."""
    told = [line for line in before[-4:] if line.strip()]
    for line in reversed(told[-2:]):
        fence = _FENCE.fullmatch(line[:300])
        path = read_info(fence["info"])[1] if fence else read_label(line)
        if path or not fence:
            return path
    return ""


def _split_fences(lines: Sequence[str], parts: _Parts) -> None:
    """Adds the fenced texts among the lines to the parts, and the other lines as prose."""
    index, free = 0, 0
    while index < len(lines):
        opened = _FENCE.fullmatch(lines[index][:300])
        if opened is None:
            parts.prose.append(lines[index])
            index += 1
            continue
        end = index + 1
        while end < len(lines) and not _ends(lines[end], opened["run"]):
            end += 1
        tag, path = read_info(opened["info"])
        label = next((line for line in reversed(parts.prose[free:][-3:]) if line.strip()), "")
        body = tuple(line.removeprefix(opened["margin"]) for line in lines[index + 1 : end])
        parts.fences.append(FencedText(path or read_label(label), tag, body))
        parts.prose.append("")
        # A line before an earlier fence names that one alone.
        index, free = end + 1, len(parts.prose)


def _ends(line: str, run: str) -> bool:
    text = line.strip()
    return text.startswith(run) and not text.strip(run[0])


def _refuse_both_forms(fences: Sequence[FencedText]) -> None:
    """Raises `EditFailed` where whole files stand beside edits. A fence without a path beside them is an illustration."""
    # To apply one form and drop the other would make a program that nobody meant.
    named = [fence.path for fence in fences if fence.path and any(line.strip() for line in fence.lines)]
    if named:
        raise EditFailed(
            EditKind.CONFLICT,
            f"The reply has edits, and writes {named[0]} whole. Try: use one form; an edit with an empty SEARCH adds a file",
        )


def read_info(info: str) -> tuple[str, str]:
    """Returns the language and the path of a fence's info string (```` ```python seed.py ````, `python:seed.py`, `seed.py`), each empty
    where it names none."""
    words = re.split(r"[\s:=]+", info.strip()[:300])
    paths = [path for word in words if _is_path(path := _clean_path(word))]
    return "" if words[0] in paths else words[0].lower(), paths[0] if paths else ""


def read_label(line: str) -> str:
    """Returns the path in a line that has nothing else to say: `### File: seed.py`, `**seed.py** (lines 3-8)`, `seed.py:`; empty where it has."""
    if len(line) > 240:
        return ""
    words = [_clean_path(word) for word in _ASIDE.sub("", line.replace(":", ": ")).split()]
    telling = [word for word in words if word.strip("=-.*#/0123456789") and word.lower() not in _LABELS]
    return telling[0] if len(telling) == 1 and _is_path(telling[0]) else ""


def _clean_path(path: str) -> str:
    """Returns a path without decoration, with `/` between its parts."""
    return path.strip(_MARKS).replace("\\", "/").removesuffix(".").removeprefix("./")


def _is_path(text: str) -> bool:
    """Reports a text with a suffix, and no character that no path of a program has."""
    stem, _, suffix = text.rpartition("/")[2].rpartition(".")
    return bool(_PATH.fullmatch(text)) and (
        (bool(stem) and suffix.isalnum() and not suffix.isdigit()) or text in ("Makefile", "Dockerfile")
    )
