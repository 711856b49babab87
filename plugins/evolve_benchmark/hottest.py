"""A program's hottest lines: where its time goes, in a session of its own whose times count for nothing.

Invariant: a program says numbers of lines, never what they hold; whatever else it says, or does there, changes nothing but these lines."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolve import SessionFailed
from evolve_benchmark import tracer
from evolve_benchmark.asking import Arguments
from evolve_benchmark.judging import PROFILE, Judging

SECONDS, LIMIT = 0.3, 1.5
"""Of calls that are followed, and of wall time of the whole session with its import and the calls that come before."""
INPUTS = 16
"""At most so many are followed, some of them in several calls."""
LEAST = 1000
"""Microseconds in all: less tells nothing."""
PART = 200
"""Of so many equal parts of the time: lines with less than one are not shown."""
MOST, PLENTY = 200, 10_000_000
"""Lines that may come back, and microseconds of one."""
WIDTH = 100
"""Characters of a line that are shown."""


@dataclass(frozen=True, slots=True)
class _Line:
    """Of a file of the program, from 1."""

    file: str
    number: int


def profile(about: Judging, seconds: float) -> str:
    """The hottest lines of a program whose call takes so many seconds, as Markdown; empty where none are wanted, or the program has not let itself be looked at."""
    if about.settings.profile == 0 or about.trial.split != "search":
        return ""
    files, entry = _files(about), about.task.entry.replace(".", "/")
    path = next((path for path in (f"{entry}.py", f"{entry}/__init__.py") if path in files), "")
    if not path:
        return ""
    try:
        return _table(_found(_asked(about, files, path, seconds), files), files, about.settings.profile)
    except SessionFailed:
        return ""


def _files(about: Judging) -> dict[str, str]:
    """Those of the program's Python that it runs: where the task has one of the same name, that one runs."""
    files = about.candidate.program.files
    return {path: text for path, text in files.items() if path.endswith(".py") and path not in about.task.context}


def _asked(about: Judging, files: dict[str, str], path: str, seconds: float) -> Any:
    """What the program says; raises `SessionFailed`. Its module gets one line more, below its last, which brings the tracer in."""
    function, name = about.settings.function, "evolve_tracer"
    more = f"\nfrom {name} import call as {name}_call, lines as {name}_lines\n"
    placed = {path: (files[path] + more).encode(), f"{name}.py": Path(tracer.__file__).read_bytes()}
    first, rest = _questions(about, min(INPUTS, max(1, int(SECONDS / seconds))))
    with about.candidate.session(LIMIT, files=placed) as session:
        for arguments in first:
            session.call(function, *arguments)
        end = time.monotonic() + SECONDS
        for place, arguments in enumerate(rest):
            share = (end - time.monotonic()) / (len(rest) - place)
            if share <= 0:
                break
            session.call(f"{name}_call", about.task.entry, function, sorted(files), share, *arguments)
        return session.call(f"{name}_lines", MOST)


def _questions(about: Judging, count: int) -> tuple[list[Arguments], list[Arguments]]:
    """Those that a process begins with, of `count` places of a drawing at most, and `count` more of the same places."""
    rng = about.stream(PROFILE)

    def drawn() -> list[Arguments]:
        instances = about.problem.instances(rng, about.trial.parameters)
        return [about.problem.arguments(instance) for instance in instances]

    first = drawn()
    places = rng.permutation(len(first))[:count].tolist()
    rest = [arguments[place] for arguments in (drawn() for _ in range(-(-count // len(places)))) for place in places]
    return [first[place] for place in places], rest[:count]


def _found(said: Any, files: dict[str, str]) -> Counter[_Line]:
    """The microseconds of each line; none at all where anything is not as it should be."""
    if type(said) is not list or len(said) > MOST:
        return Counter()
    numbers = {file: len(_lines(text)) for file, text in files.items()}
    found = Counter({_Line(one[0], one[1]): one[2] for one in said if _is_time(one, numbers)})
    return found if len(found) == len(said) and found.total() >= LEAST else Counter()


def _is_time(one: Any, numbers: dict[str, int]) -> bool:
    """Whether it is `[file, line, microseconds]` of a line that there is."""
    if type(one) is not list or list(map(type, one)) != [str, int, int]:
        return False
    return one[0] in numbers and 1 <= one[1] <= numbers[one[0]] and 1 <= one[2] <= PLENTY


def _lines(text: str) -> Sequence[str]:
    """As Python numbers them, which knows fewer ends of lines than `splitlines`."""
    return re.split(r"\r\n|\r|\n", text)


def _table(found: Counter[_Line], files: dict[str, str], most: int) -> str:
    """The `most` hottest as Markdown, with the program's own words as the judge has them."""
    if not found:
        return ""
    total = found.total()
    hottest = sorted(found.items(), key=lambda item: (-item[1], item[0].file, item[0].number))[:most]
    shown = [(line, spent) for line, spent in hottest if PART * spent >= total]
    rows = [
        f"| {_shown(line.file)}:{line.number} | {100 * spent / total:.0f} % | {_shown(_lines(files[line.file])[line.number - 1])} |"
        for line, spent in shown
    ]
    told = f"Where the program's time goes, by {total / 1e6:.2g} s of other calls that were followed line by line, which makes short lines look dearer than they are; what a line calls in libraries is part of it:"
    return "\n".join([told, "", "| line | of the time | |", "|---|---|---|", *rows])


def _shown(text: str) -> str:
    """A line for a cell of a table."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text).strip()
    short = plain if len(plain) <= WIDTH else f"{plain[: WIDTH - 3]}..."
    return short.replace("|", "\\|")
