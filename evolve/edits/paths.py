"""Paths of the files that a model means, from the text near an edit or a fence."""

import re
from collections.abc import Sequence

from evolve.edits.changes import matches
from evolve.edits.errors import EditFailed, EditKind

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
_ASIDE = re.compile(r"\([^()]*\)[\s:*]*$")
_PATH = re.compile(r"[\w./\\@+-]{1,200}")
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


def clean_path(path: str) -> str:
    """Returns a path without decoration, with `/` between its parts."""
    return path.strip(_MARKS).replace("\\", "/").removesuffix(".").removeprefix("./")


def may_have_suffix(tag: str, path: str) -> bool:
    """Returns whether a text in a fence of this language can be the file."""
    return tag not in _SUFFIXES or path.rpartition(".")[2] in _SUFFIXES[tag]


def read_info(info: str) -> tuple[str, str]:
    """Returns the language and the path of a fence's info string (```` ```python seed.py ````, `python:seed.py`, `seed.py`), each empty
    where it names none."""
    words = re.split(r"[\s:=]+", info.strip()[:300])
    paths = [path for word in words if _is_path(path := clean_path(word))]
    return "" if words[0] in paths else words[0].lower(), paths[0] if paths else ""


def read_label(line: str) -> str:
    """Returns the path in a line that has nothing else to say: `### File: seed.py`, `**seed.py** (lines 3-8)`, `seed.py:`; empty where it has."""
    if len(line) > 240:
        return ""
    words = [clean_path(word) for word in _ASIDE.sub("", line.replace(":", ": ")).split()]
    telling = [word for word in words if word.strip("=-.*#/0123456789") and word.lower() not in _LABELS]
    return telling[0] if len(telling) == 1 and _is_path(telling[0]) else ""


def resolve_path(path: str, paths: Sequence[str], new_files: Sequence[str]) -> str:
    """Returns the path of the program, or the new one, that a model means; a leading folder too many or too few is forgiven where it is
    certain which is meant; a path that climbs (`..`) is none of a program's. Raises `EditFailed`."""
    if path in paths:
        return path
    # Where a path that climbs would end up is not asked: no file of a program is there.
    if ".." not in path.split("/"):
        if any(matches(path, pattern) for pattern in new_files):
            return path
        near = [known for known in paths if known.endswith(f"/{path}") or path.endswith(f"/{known}")]
        if len(near) == 1:
            return near[0]
    allowed = f", and new ones that match {' or '.join(new_files)}" if new_files else ", and no new ones"
    raise EditFailed(
        EditKind.UNKNOWN_FILE,
        f"There is no file {path[:200]!r} that could be edited. The program has {', '.join(paths)[:600]}{allowed}. Try: name one of these",
    )


def _is_path(text: str) -> bool:
    """Reports a text with a suffix, and no character that no path of a program has."""
    stem, _, suffix = text.rpartition("/")[2].rpartition(".")
    return bool(_PATH.fullmatch(text)) and (
        (bool(stem) and suffix.isalnum() and not suffix.isdigit()) or text in ("Makefile", "Dockerfile")
    )
