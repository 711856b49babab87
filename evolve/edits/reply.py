"""Replies of a model as candidate programs: the algorithm, top to bottom.

A candidate is applied whole or not at all, and differs from the program that was shown. A text is for a file only where nothing else can be
meant. Every pattern is anchored and looks at one short line, or at the beginning of the reply."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evolve.edits.apply import apply_edits, view_files
from evolve.edits.blocks import END, START, changeable
from evolve.edits.changes import matches
from evolve.edits.errors import EditFailed, EditKind, quote_lines
from evolve.edits.matching import FileView
from evolve.edits.paths import read_comment, read_label, resolve_path
from evolve.edits.python_check import parse_module
from evolve.edits.rewriting import new_text, rewrite_file
from evolve.edits.scanner import BrokenEdit, EditBlock, FencedText, Item, Prose, scan
from evolve.types import Program


@dataclass(frozen=True, slots=True)
class EditedProgram:
    """A program that a reply describes. `thought`: the hypothesis that the reply states, one line of at most 500 characters, empty
    where it states none."""

    program: Program
    thought: str


@dataclass
class ReplyPart:
    """One candidate of a reply, or the part before the first: its title's own words, and what is in it; `last`: the reply
    ends in it."""

    title: str = ""
    last: bool = False
    items: list[Item] = field(default_factory=list)


MOST_CANDIDATES = 16
_CUT = "length"
_HOW = (
    "Do: answer with SEARCH/REPLACE blocks, or with the whole file in one fenced text with its path behind the language"
)


def read(reply: str, program: Program, *, new_files: Sequence[str] = (), finish: str = "") -> tuple[EditedProgram, ...]:
    """Returns the programs that a reply to `program` describes, in its order: at least one. `new_files`: patterns of the paths that may be
    added; `finish`: why the model stopped, `length` where it was cut. Raises `EditFailed` where none can be applied."""
    text = remove_thinking(reply)
    lines = _lines(text)
    items = drop_samples(scan(lines, program.files), program)
    parts = [option for section in split_parts(items) for option in _options(section, _only_file(program))]
    if not any(_is_edit(item) for item in items):
        items, parts = _without_fence(lines, program)
    if not parts:
        raise _nothing(text, finish)
    return _candidates(parts[:MOST_CANDIDATES], items, program, new_files, finish == _CUT)


def remove_thinking(reply: str) -> str:
    """Returns a reply without the thoughts that some servers leave in it."""
    text = reply.removeprefix("\ufeff")
    start = text.lstrip()
    if start.startswith("<think>"):
        return start.partition("</think>")[2]
    before, closed, rest = text.partition("\n</think>")
    return rest if closed and "<think>" not in before else text


def _lines(text: str) -> list[str]:
    """The lines of a reply; a `\\r` before each line's end is the reply's own way to end lines."""
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    return text.split("\n")


def _is_edit(item: Item) -> bool:
    return not isinstance(item, Prose)


def _only_file(program: Program) -> str:
    """Returns the one file in which something may change; empty where there are more."""
    found = [path for path, spans in changeable(program.files).items() if spans]
    return found[0] if len(found) == 1 else ""


def _options(section: ReplyPart, only: str) -> Iterator[ReplyPart]:
    """Yields a section, or the candidates in it where it writes the same file more than once; what tells no path is the `only` one."""
    if any(isinstance(item, EditBlock | BrokenEdit) for item in section.items):
        yield section
        return
    options = [ReplyPart(section.title)]
    written: set[str] = set()
    for item in section.items:
        if isinstance(item, FencedText):
            path = item.path or only
            if path in written:
                options.append(ReplyPart(section.title))
                written = set()
            written.add(path)
        options[-1].items.append(item)
    options[-1].last = section.last
    yield from options


def _candidates(
    parts: Sequence[ReplyPart], items: Sequence[Item], program: Program, new_files: Sequence[str], cut: bool
) -> tuple[EditedProgram, ...]:
    known = view_files(program)
    found: list[EditedProgram] = []
    failures: list[EditFailed] = []
    before = find_preamble(items)
    for part in parts:
        try:
            made = _program(part, program, known, new_files, cut and part.last)
        except EditFailed as failure:
            failures.append(failure)
            continue
        if all(made != other.program for other in found):
            found.append(EditedProgram(made, find_thought(part, before)))
    if not found:
        raise _worst(failures)
    return tuple(found)


def _program(
    part: ReplyPart, program: Program, known: Mapping[str, FileView], new_files: Sequence[str], cut: bool
) -> Program:
    """Returns the program of one candidate. Raises `EditFailed`."""
    edits = [item for item in part.items if isinstance(item, EditBlock)]
    rewrites = [item for item in part.items if isinstance(item, FencedText)]
    if cut and not _is_finished(part, known):
        raise EditFailed(
            EditKind.CUT_OFF,
            "The reply was cut at its greatest length, so nothing of it was applied. Do: answer in fewer words, or with smaller edits",
        )
    for item in part.items:
        if isinstance(item, BrokenEdit):
            raise EditFailed(item.kind, item.message)
    texts = apply_edits(edits, known, new_files) if edits else {}
    for rewrite in rewrites:
        if rewrite.named or not edits:
            _add(texts, rewrite, known, new_files)
    made = Program({**program.files, **texts})
    if made == program:
        raise EditFailed(EditKind.NO_OP, "The program would stay exactly as it is. Do: change it")
    return made


def _add(texts: dict[str, str], rewrite: FencedText, known: Mapping[str, FileView], new_files: Sequence[str]) -> None:
    """Adds a written file; a file that is only shown, and equal, may stand beside edits of it."""
    path = find_target(rewrite, known, new_files)
    text = rewrite_file(rewrite, known[path]) if path in known else new_text(rewrite)
    shown_before = path in known and text == known[path].text
    if path in texts and texts[path] != text and not shown_before:
        raise EditFailed(
            EditKind.CONFLICT,
            f"The reply both edits {path} and writes it anew, with different results. Do: write it once",
        )
    if not shown_before:
        texts[path] = text


def _is_finished(part: ReplyPart, known: Mapping[str, FileView]) -> bool:
    """Returns whether a reply that was cut had nothing left to write but words: its one file is whole, and words follow."""
    written = [index for index, item in enumerate(part.items) if _is_edit(item)]
    rewrite = part.items[written[0]]
    if len(written) != 1 or not isinstance(rewrite, FencedText) or not rewrite.closed:
        return False
    words = any(isinstance(item, Prose) and item.text.strip() for item in part.items[written[0] :])
    return words and sum(bool(sheet.spans) for sheet in known.values()) == 1


def _without_fence(lines: Sequence[str], program: Program) -> tuple[tuple[Item, ...], list[ReplyPart]]:
    """Returns a reply that is a program and nothing else, or after a few words."""
    found = read_unfenced(lines, program)
    items = found or tuple(Prose(line) for line in lines)
    return items, list(split_parts(items))


def _nothing(text: str, finish: str) -> EditFailed:
    if finish == _CUT:
        return EditFailed(
            EditKind.CUT_OFF,
            "The reply was cut at its greatest length before an edit began. Do: answer in fewer words, with the edit first",
        )
    if is_refusal(text):
        return EditFailed(
            EditKind.REFUSED,
            f"The reply refuses, and holds no edit. The task is to improve a program, and harmless. {_HOW}",
        )
    said = "The reply is empty." if not text.strip() else "The reply holds no edit and no program."
    return EditFailed(EditKind.NO_EDIT, f"{said} {_HOW}")


def _worst(failures: Sequence[EditFailed]) -> EditFailed:
    """Returns the failure that tells most: any other before that a shown part changes nothing, or is a part."""
    telling = [failure for failure in failures if failure.kind not in (EditKind.NO_OP, EditKind.PARTIAL)]
    return (telling or failures)[0]


LONGEST_THOUGHT = 500
_LONGEST_TITLE = 200

_TITLE = re.compile(
    r"(?P<mark>#{1,6} *|\*\*|<|=+ *|\[)?(?:candidate|option|solution|variant|version|alternative|"
    r"proposal|approach|program)[ _#]*(?P<which>\d{1,2}|[A-H])\b"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_HYPOTHESIS = re.compile(
    r"[#*_ >-]*(?:hypothesis|thought|idea|rationale|motivation|insight)[*_ ]*(?:[:\u2014][*_ ]*(?P<said>.*)|)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:sure|certainly|of course|okay|ok|great|absolutely|here(?:'s| is| are)|below (?:is|are)|hope|feel free|looking at|let me|let us|"
    r"i(?:'ll| will| have|'ve)|the following)\b.{0,140}",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\W*(?:(?:i'?m|i am) (?:really |very |so )?(?:sorry|afraid|unable|not able)|sorry\b|"
    r"i apologi[sz]e|(?:unfortunately,? )?i (?:can(?:'t|not)|won'?t|will not|must decline|am not able)|as an ai\b|my apologies)",
    re.IGNORECASE,
)


def split_parts(items: Sequence[Item]) -> tuple[ReplyPart, ...]:
    """Returns the parts of a reply that hold something else than prose, split where a line says that another candidate begins."""
    found = [ReplyPart()]
    for item in items:
        title = _title(item.text) if isinstance(item, Prose) else None
        if title is not None:
            found.append(ReplyPart(title))
        else:
            found[-1].items.append(item)
    found[-1].last = True
    return tuple(section for section in found if any(not isinstance(item, Prose) for item in section.items))


def find_preamble(items: Sequence[Item]) -> tuple[Item, ...]:
    """Returns the words before the first candidate."""
    end = next((n for n, item in enumerate(items) if not isinstance(item, Prose) or _title(item.text) is not None), 0)
    return tuple(items[:end])


def find_thought(section: ReplyPart, before: Sequence[Item]) -> str:
    """Returns the hypothesis that a section states, else its title, else the hypothesis that is stated in `before` it, else the first paragraph in
    it that says something."""
    texts = [item.text for item in section.items if isinstance(item, Prose)]
    general = [item.text for item in before if isinstance(item, Prose)]
    stated = _find_hypothesis(texts) or section.title or _find_hypothesis(general) or _paragraph(section.items)
    return _one_line(stated)


def is_refusal(reply: str) -> bool:
    """Returns whether a reply without any edit says that the model will not make one."""
    start = reply[:3000].replace("\u2019", "'").lstrip()
    return bool(_REFUSAL.match(start)) or any(_REFUSAL.match(part.strip()) for part in re.split(r"[.!\n]", start[:400]))


def _title(line: str) -> str | None:
    """Returns the words behind the number of a line that begins a candidate; None for other lines."""
    if len(line) > _LONGEST_TITLE:
        return None
    found = _TITLE.fullmatch(line.strip())
    if not found:
        return None
    rest = found["rest"].strip(" *#:=>]-\u2014\u2013.")
    bare = found["rest"][:1] in ("", ":", "*", ".", ")") or found["rest"].lstrip()[:1] in (
        "-",
        "\u2014",
        "\u2013",
        ":",
        "(",
    )
    return rest if bare or found["mark"] else None


def _find_hypothesis(texts: Sequence[str]) -> str:
    """Returns the first hypothesis in tags, or behind its word."""
    whole = "\n".join(texts)
    for tag in ("hypothesis", "thought"):
        _, opened, rest = whole.partition(f"<{tag}>")
        if opened:
            return rest.partition(f"</{tag}>")[0]
    for index, text in enumerate(texts):
        found = _HYPOTHESIS.fullmatch(text.strip()) if len(text) < 4_000 else None
        if found:
            said = (found["said"] or "").strip(" *_")
            return " ".join([said, *_until_blank(texts[index + 1 :], skip=not said)])
    return ""


def _until_blank(texts: Sequence[str], *, skip: bool) -> Iterator[str]:
    """Yields the lines of a paragraph; `skip`: blank ones may come before it."""
    for text in texts[:40]:
        if not text.strip():
            if skip:
                continue
            return
        skip = False
        yield text


def _paragraph(items: Sequence[Item]) -> str:
    """Returns the first paragraph that says more than that an edit follows."""
    texts = [item.text if isinstance(item, Prose) else "" for item in items]
    paragraph: list[str] = []
    for text in [*texts, ""]:
        if text.strip():
            paragraph.append(text.strip())
        elif paragraph:
            said = " ".join(paragraph)
            if (
                not _GREETING.fullmatch(said)
                and not said.endswith(":")
                and any(character.isalpha() for character in said)
            ):
                return said
            paragraph = []
    return ""


def _one_line(text: str) -> str:
    said = " ".join(text[: 4 * LONGEST_THOUGHT].split()).strip("*_ ")
    return said if len(said) <= LONGEST_THOUGHT else f"{said[: LONGEST_THOUGHT - 4]} ..."


_SUFFIXES = {
    "python": ("py",), "py": ("py",), "python3": ("py",), "c": ("c", "h"), "cpp": ("cpp", "cc", "h", "hpp", "cu"), "c++": ("cpp", "cc", "hpp"),
    "cuda": ("cu", "cuh"), "rust": ("rs",), "javascript": ("js", "mjs"), "js": ("js", "mjs"), "typescript": ("ts",), "go": ("go",), "java": ("java",),
    "bash": ("sh",), "sh": ("sh",), "shell": ("sh",), "console": (), "output": (), "json": ("json",), "toml": ("toml",), "yaml": ("yaml", "yml"),
    "text": ("txt", "md"), "txt": ("txt",), "markdown": ("md",), "md": ("md",), "latex": ("tex",), "math": (), "mermaid": (), "sql": ("sql",),
}  # fmt: skip
"""What a fence's language can be the suffix of; one that is not here can be that of any file."""


def drop_samples(items: Sequence[Item], program: Program) -> tuple[Item, ...]:
    """Returns the items of a reply; a fenced text that cannot be a file of the program is part of the words: a command line, or, where the reply
    holds programs, a text in no language that does not parse, which is what one of them prints."""
    fitting = [item for item in items if isinstance(item, FencedText) and _fits(item, program)]
    python = all(path.endswith(".py") for path in program.files)
    telling = [item for item in fitting if item.named or item.tag] if python else []
    kept = [
        item for item in fitting if not telling or item in telling or parse_module("\n".join(item.lines)) is not None
    ]
    return tuple(Prose("") if isinstance(item, FencedText) and item not in kept else item for item in items)


def _fits(item: FencedText, program: Program) -> bool:
    return item.named or any(_may_be(item.tag, path) for path in program.files)


def find_target(rewrite: FencedText, known: Mapping[str, FileView], new_files: Sequence[str]) -> str:
    """Returns the path of the file that a fenced text is for. Raises `EditFailed` where that is not certain."""
    path = rewrite.path or read_comment(next((line for line in rewrite.lines if line.strip()), ""))
    if rewrite.named:
        return resolve_path(path, tuple(known), new_files)
    if path in known or any(matches(path, pattern) for pattern in new_files if path):
        return path
    fitting = [name for name, sheet in known.items() if sheet.spans and _may_be(rewrite.tag, name)]
    if len(fitting) == 1:
        return fitting[0]
    raise EditFailed(
        EditKind.UNKNOWN_FILE,
        f"It is not said for which file this text is:\n{quote_lines(rewrite.lines, 4)}\n"
        f"The program has {', '.join(fitting or known)[:600]}. Do: write the path behind the language of the fence",
    )


def _may_be(tag: str, path: str) -> bool:
    return tag not in _SUFFIXES or path.rpartition(".")[2] in _SUFFIXES[tag]


_BEGINS = re.compile(
    r"(?:# *EVOLVE-BLOCK-START|import [\w.]+|from [\w.]+ import\b|def \w+\(|class \w+|async def|@\w+|\"\"\"|'''|#!|[A-Za-z_]\w* *(?::[^=]+)?= *\S)"
)
_MEANS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
_MOST_WORDS = 60
"""Lines of prose that may stand before the program."""


def read_unfenced(lines: Sequence[str], program: Program) -> tuple[Item, ...] | None:
    """Returns the items of a reply in which a program stands without a fence; None where none does, or where it is not clear of which file."""
    paths = [path for path, spans in changeable(program.files).items() if spans]
    python = any(path.endswith(".py") for path in paths)
    bounds = (_python(lines) if python else None) or _read_marked(lines)
    if bounds is None:
        return None
    start, end = bounds
    named = read_label(next((line for line in reversed(lines[:start]) if line.strip()), ""))
    text = FencedText(named, bool(named), "", tuple(lines[start:end]), True)
    return (*map(Prose, lines[:start]), text, *map(Prose, lines[end:]))


def _read_marked(lines: Sequence[str]) -> tuple[int, int] | None:
    """Returns the bounds of the first and the last line with a marker."""
    places = [index for index, line in enumerate(lines) if (START in line or END in line) and len(line.split()) <= 6]
    return (places[0], places[-1] + 1) if len(places) >= 2 else None


def _python(lines: Sequence[str]) -> tuple[int, int] | None:
    """Returns the bounds from the first line that looks like code to the end, where that parses and defines something."""
    start = next((index for index, line in enumerate(lines[:_MOST_WORDS]) if _BEGINS.match(line)), None)
    if start is None:
        return None
    module = parse_module("\n".join(lines[start:]))
    means = module is not None and any(isinstance(node, _MEANS) for node in module.body)
    return (start, len(lines)) if means else None
