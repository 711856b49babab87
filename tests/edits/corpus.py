"""The replies in `tests/data/replies`: how one file tells of a reply, the program that it answers, and what is expected."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evolve.types import Program

FOLDER = Path(__file__).parents[1] / "data" / "replies"
_CUT = "--8<-- "


@dataclass(frozen=True)
class Case:
    """A reply, and what is expected: the files of each candidate that differ, or the kind of the failure."""

    reply: str
    program: Program
    expected: tuple[Program, ...]
    kind: str
    thought: str | None
    finish: str
    new_files: tuple[str, ...]


def case(path: Path) -> Case:
    """The case that a file holds: `key: value` lines, then parts, each behind a line that names it."""
    head, *parts = path.read_text("utf-8").split(_CUT)
    keys = dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in head.splitlines())
    named = [(name, text) for name, _, text in (part.partition("\n") for part in parts)]
    crlf = keys.get("crlf", "")
    program = _program(keys["program"])
    reply = dict(named)["reply"].removesuffix("\n")
    changed: dict[str, dict[str, str]] = {}
    for name, text in named:
        if name != "reply":
            _, number, file = name.split(" ", 2)
            changed.setdefault(number, {})[file] = text
    return Case(
        reply=reply.replace("\n", "\r\n") if crlf == "reply" else reply,
        program=_ended(program, crlf),
        expected=tuple(_ended({**program, **files}, crlf) for files in changed.values()),
        kind=keys.get("kind", ""),
        thought=keys.get("thought"),
        finish=keys.get("finish", ""),
        new_files=tuple(keys["new_files"].split()) if "new_files" in keys else (),
    )


def _program(name: str) -> Mapping[str, str]:
    folder = FOLDER / "programs" / name
    return {
        file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in folder.rglob("*") if file.is_file()
    }


def _ended(files: Mapping[str, str], crlf: str) -> Program:
    return Program({path: text.replace("\n", "\r\n") if crlf == "program" else text for path, text in files.items()})
