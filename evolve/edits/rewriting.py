"""Files that a model writes anew, whole or the block alone, placed into the program.

The text outside the blocks is the file's own, never the model's; an ambiguous text is refused."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve.edits.apply import FileView, join_lines, refuse_elision, refuse_large, resolve_path
from evolve.edits.blocks import END, START, blocks, outside
from evolve.edits.errors import EditFailed, EditKind, quote_lines

_HOW_TO_ANSWER = "Try: answer with SEARCH/REPLACE blocks, or with the whole file in one fenced text with its path behind the language"
_SUFFIXES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("python", "python3", "py"), ("py",)),
    **dict.fromkeys(("cpp", "c++", "cuda"), ("cpp", "cc", "h", "hpp", "cu", "cuh")),
    **dict.fromkeys(("bash", "sh", "shell", "console"), ("sh",)),
    **dict.fromkeys(("text", "txt", "output"), ("txt", "md")),
    "c": ("c", "h"),
    "rust": ("rs",),
    "json": ("json",),
}
"""Suffixes of files that a fence's language can mean; a language that is not here can be that of any file."""
_SHARED = re.compile(r"(?:import|from|#include|#define|using|use|package)\b|#|//|/\*|\*|--|\W*$|.{0,3}$")
"""Lines that a block may have as well as the text around it."""


@dataclass(frozen=True, slots=True)
class FencedText:
    """A text in a fence; `path` and `tag`, its language, are empty where they are not given."""

    path: str
    tag: str
    lines: tuple[str, ...]


def write_files(
    fences: Sequence[FencedText], known: Mapping[str, FileView], new_files: Sequence[str]
) -> dict[str, str]:
    """Returns the texts of the files that are written whole."""
    texts: dict[str, str] = {}
    for fence in _choose_fences(fences, known):
        if fence.tag in ("diff", "patch"):
            raise EditFailed(
                EditKind.UNPARSABLE, f"The reply is a diff, which is no form of an answer. {_HOW_TO_ANSWER}"
            )
        path = resolve_path(fence.path, tuple(known), new_files) if fence.path else _find_only_file(fence, known)
        text = _rewrite(fence.lines, known[path]) if path in known else _write_new(path, fence.lines)
        if texts.setdefault(path, text) != text:
            raise EditFailed(EditKind.CONFLICT, f"The reply writes {path} twice, differently. Try: write it once")
    if not texts:
        raise EditFailed(EditKind.NO_EDIT, f"The reply holds no edit and no program. {_HOW_TO_ANSWER}")
    return texts


def _choose_fences(fences: Sequence[FencedText], known: Mapping[str, FileView]) -> Sequence[FencedText]:
    """Returns the fenced texts that are files: those with a path, else the longest that may be one. The others are illustrations."""
    fences = [fence for fence in fences if any(line.strip() for line in fence.lines)]
    named = [fence for fence in fences if fence.path]
    changeable = [path for path, view in known.items() if view.spans]
    fitting = [
        fence
        for fence in fences
        if fence.tag in ("diff", "patch") or any(_may_have_suffix(fence.tag, path) for path in changeable)
    ]
    # Without a path the longest fits best: models show short excerpts beside the program that they mean.
    return named or sorted(fitting, key=lambda fence: len(fence.lines))[-1:]


def _find_only_file(fence: FencedText, known: Mapping[str, FileView]) -> str:
    """Returns the one file that a text without a path can be. Raises `EditFailed` where there are several."""
    fitting = [path for path, view in known.items() if view.spans and _may_have_suffix(fence.tag, path)]
    if len(fitting) == 1:
        return fitting[0]
    raise EditFailed(
        EditKind.UNKNOWN_FILE,
        f"It is not said for which file this text is:\n{quote_lines(fence.lines, 4)}\n"
        f"The program has {', '.join(fitting)[:600]}. Try: write the path behind the language of the fence",
    )


def _may_have_suffix(tag: str, path: str) -> bool:
    """Returns whether a text in a fence of this language can be the file."""
    return tag not in _SUFFIXES or path.rpartition(".")[2] in _SUFFIXES[tag]


def _rewrite(lines: Sequence[str], view: FileView) -> str:
    """Returns the file with what was written for it. Raises `EditFailed`."""
    # First the size: the checks below look at every line.
    refuse_large(view, sum(map(len, lines)))
    refuse_elision(lines, frozenset(view.bare), f"The new text of {view.path}")
    if view.whole:
        return view.finish(join_lines(lines))
    text = join_lines(lines)
    if not view.spans:
        if _list_lines(text) == _list_lines(view.text):
            return view.finish(view.text)
        raise _refuse_outside(view, "differs from the file, of which nothing may change", "leave this file out")
    if START in text or END in text:
        return view.finish(_fill(view, _read_blocks(text, view)))
    if len(view.spans) != 1:
        raise _refuse_outside(
            view, f"has no EVOLVE-BLOCK markers, and the file has {len(view.spans)} blocks", "repeat the markers"
        )
    return view.finish(_fill(view, [_indent(_read_alone(lines, view), view)]))


def _write_new(path: str, lines: Sequence[str]) -> str:
    """Returns the text of a file that the program does not have yet. Raises `EditFailed`."""
    refuse_elision(lines, (), f"The new file {path}")
    return join_lines(lines)


def _read_blocks(text: str, view: FileView) -> list[str]:
    """Returns the contents of the blocks that a text with markers has. It may leave out the beginning and the end of the file, and change
    nothing between."""
    found = blocks(text, view.path)
    if len(found) != len(view.spans):
        raise _refuse_outside(
            view,
            f"has {len(found)} blocks between EVOLVE-BLOCK markers, and the file has {len(view.spans)}",
            "repeat each line with a marker as it stands",
        )
    written = [_list_lines(part) for part in outside(text, view.path)]
    own = [_list_lines(part) for part in outside(view.text, view.path)]
    for index, (new, old) in enumerate(zip(written, own, strict=True)):
        begins, ends = index == 0, index == len(own) - 1
        shown = old[len(old) - len(new) :] if begins else old[: len(new)] if ends else old if new else []
        if new != shown:
            odd = next((line for line in new if line not in old), "")
            told = f": {odd.strip()[:100]!r} is not there" if odd else ", where lines are missing or were moved"
            raise _refuse_outside(
                view,
                f"differs from the file outside the EVOLVE-BLOCK markers{told}",
                "change only what is between them",
            )
    return [text[span.start : span.end] for span in found]


def _read_alone(lines: Sequence[str], view: FileView) -> Sequence[str]:
    """Returns the content of the one block, which stands alone. Raises `EditFailed` for lines from around it: where the block begins is
    not certain then."""
    # A model that leaves out the markers and repeats the file would nest the whole file in its own block.
    around = {line for part in outside(view.text, view.path) for line in _list_lines(part)}
    for line in lines:
        if line.rstrip() in around and not _SHARED.match(line.strip()):
            raise _refuse_outside(
                view,
                f"has no EVOLVE-BLOCK markers, and has a line from outside the block: {line.strip()[:100]!r}",
                "repeat the lines with the markers, or write the block's content alone",
            )
    return lines


def _refuse_outside(view: FileView, fault: str, remedy: str) -> EditFailed:
    return EditFailed(
        EditKind.OUTSIDE,
        f"The new text of {view.path} {fault}. Try: {remedy}, or answer with SEARCH/REPLACE blocks",
    )


def _fill(view: FileView, contents: Sequence[str]) -> str:
    """Returns the file with new contents of its blocks."""
    first, *rest = outside(view.text, view.path)
    return first + "".join(content + part for content, part in zip(contents, rest, strict=True))


def _list_lines(text: str) -> list[str]:
    """Returns the lines that are not blank and hold no marker."""
    lines = [line.rstrip() for line in text.split("\n") if START not in line and END not in line]
    return [line for line in lines if line]


def _indent(lines: Sequence[str], view: FileView) -> str:
    """Returns a block's content, as far in as the old one: models often write a block inside a function from the first column on."""
    old, new = _find_margin(view.text[view.spans[0].start : view.spans[0].end].split("\n")), _find_margin(lines)
    moved = [old + line[len(new) :] if line.strip() and line.startswith(new) else line for line in lines]
    return join_lines(moved)


def _find_margin(lines: Sequence[str]) -> str:
    """Returns the least white space that lines with text begin with."""
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    return min(margins, key=len, default="")
