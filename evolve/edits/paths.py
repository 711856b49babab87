"""Paths of the files that a model means, from the text near an edit.

A path is one that the program has, or one that was written as a path; words are never taken for one."""

import re
from collections.abc import Collection, Sequence

from evolve.edits.changes import matches
from evolve.edits.errors import EditFailed, EditKind

_MARKS = "`*_\"'<>()[]#:, \t"
_LABELS = frozenset(
    [
        "file",
        "filename",
        "name",
        "path",
        "filepath",
        "new",
        "the",
        "updated",
        "modified",
        "changed",
        "improved",
        "in",
        "edit",
        "update",
        "create",
        "modify",
        "full",
        "complete",
        "final",
    ]
)
_ASIDE = re.compile(r"\([^()]*\)[\s:*]*$")
_ATTRIBUTE = re.compile(r"(?:title|file|filename|path|name|src)\s*[=:]\s*[\"'{]?([^\s\"'}]+)", re.IGNORECASE)
_PATH = re.compile(r"[\w./\\@+-]{1,200}")
_COMMENT = re.compile(r"\s*(?:#|//|--|/\*|<!--|;|%)+\s*(?P<rest>.{1,220}?)\s*(?:\*/|-->)?\s*")
_WORD = re.compile(r"[\w./\\-]+")


def clean_path(path: str) -> str:
    """Returns a path without decoration, with `/` between its parts."""
    found = path.strip(_MARKS).replace("\\", "/").removesuffix(".") if path else ""
    while found.startswith("./"):
        found = found[2:]
    return found


def read_info(info: str) -> tuple[str, str]:
    """Returns the language and the path of a fence's info string (```` ```python seed.py ````, `python:seed.py`, `seed.py`, `title="seed.py"`),
    each empty where it names none."""
    info = info.strip()[:300]
    attribute = _ATTRIBUTE.search(info)
    language, _, rest = info.partition(" ")
    if attribute:
        return language.strip("{}.").lower() if attribute.start() else "", clean_path(attribute[1])
    if ":" in language and not rest:
        language, _, rest = language.partition(":")
    if not rest and _is_path(language):
        return "", clean_path(language)
    first = rest.split()[0] if rest.split() else ""
    return language.strip("{}.").lower(), clean_path(first) if _is_path(clean_path(first)) else ""


def read_label(line: str) -> str:
    """Returns the path in a line that has nothing else to say: `### File: seed.py`, `**seed.py** (lines 3-8)`, `seed.py:`; empty where it has."""
    if len(line) > 240:
        return ""
    words = [clean_path(word) for word in _ASIDE.sub("", line.replace(":", ": ")).split()]
    telling = [word for word in words if word.strip("=-.*#").strip("0123456789") and word.lower() not in _LABELS]
    return telling[0] if len(telling) == 1 and _is_path(telling[0]) else ""


def read_comment(line: str) -> str:
    """Returns the path in a comment that has nothing else to say, such as the first line of a file: `# seed.py`."""
    found = _COMMENT.fullmatch(line[:260])
    return read_label(found["rest"]) if found else ""


def find_in_passing(line: str, paths: Collection[str]) -> str:
    """Returns the one path of a program that a line of prose tells of; empty where it tells of none, or of several."""
    words = {clean_path(word) for word in _WORD.findall(line[:1000])}
    found = [path for path in paths if path in words]
    return found[0] if len(found) == 1 else ""


def resolve_path(path: str, paths: Sequence[str], new_files: Sequence[str]) -> str:
    """Returns the path of the program, or the new one, that a model means; a leading folder too many or too few is forgiven where it is
    certain which is meant; a path that climbs (`..`) is none of a program's. Raises `EditFailed`."""
    if path in paths:
        return path
    if ".." in path.split("/"):
        raise _unknown(path, paths, new_files)
    bare = path.removeprefix("a/") if path.startswith("a/") else path.removeprefix("b/")
    if bare in paths:
        return bare
    if any(matches(path, pattern) for pattern in new_files):
        return path
    near = [known for known in paths if known.endswith(f"/{path}") or path.endswith(f"/{known}")]
    if len(near) == 1:
        return near[0]
    raise _unknown(path, paths, new_files)


def _unknown(path: str, paths: Sequence[str], new_files: Sequence[str]) -> EditFailed:
    allowed = f", and new ones that match {' or '.join(new_files)}" if new_files else ", and no new ones"
    return EditFailed(
        EditKind.UNKNOWN_FILE,
        f"There is no file {path[:200]!r} that could be edited. The program has {', '.join(paths)[:600]}{allowed}. Do: name one of these",
    )


def _is_path(text: str) -> bool:
    """Reports a text with a suffix or a folder, and no character that no path of a program has."""
    name = text.rpartition("/")[2].rpartition("\\")[2]
    stem, _, suffix = name.rpartition(".")
    has_suffix = bool(stem) and suffix.isalnum() and not suffix.isdigit()
    return bool(_PATH.fullmatch(text)) and (has_suffix or name in ("Makefile", "Dockerfile"))
