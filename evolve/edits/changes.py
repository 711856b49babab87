"""Checks of a new program against the task's seed and its parent, whoever wrote it: an operator, a model or a person.

A program that passes holds every file of the seed, the same outside the blocks, and can be written into a folder beside the
task's context files without touching one of them."""

import warnings
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from evolve.edits.blocks import blocks, outside
from evolve.edits.errors import quote_lines
from evolve.types import Program, Task

_CONTEXT = 2
"""Lines before one that does not parse that are quoted with it."""


def refusal(task: Task, program: Program) -> str:
    """Returns the first thing that a program may not be, for whoever made it to read; empty where it may be as it is."""
    return next(_refusals(task, program), "")


def matches(path: str, pattern: str) -> bool:
    """Returns whether a path is one of those that a pattern of `new_files` means: `*`, `?` and `[abc]` stay within a folder, `**` is any
    number of folders. A pattern takes no more comparisons than it has parts for each part of the path, whoever wrote it."""
    patterns = pattern.split("/")
    places = {0}
    for part in path.split("/"):
        places = {after for place in _skip_folders(places, patterns) for after in _advance(part, place, patterns)}
    return len(patterns) in places


def _refusals(task: Task, program: Program) -> Iterator[str]:
    for path in program.files:
        if path not in task.seed.files:
            yield from _refusals_of_new(task, program, path)
    for path in task.seed.files:
        if path not in program.files:
            yield f"it lacks {path!r}, which is a file of the seed"
        elif program.files[path] != task.seed.files[path]:
            yield from _refusals_of_changed(task, program, path)


def _refusals_of_new(task: Task, program: Program, path: str) -> Iterator[str]:
    if _leads_out(path):
        yield f"it has a file {path!r}, which is no path inside the program's folder"
    for kind, known in (("context file", task.context), ("file of the seed", task.seed.files)):
        for other in known:
            if _shadows(path, other):
                yield f"its file {path!r} would stand before {other!r}, a {kind} of the task"
    if any(other.startswith(f"{path}/") for other in program.files):
        yield f"it has {path!r} both as a file and as a folder"
    if not any(matches(path, pattern) for pattern in task.new_files):
        allowed = f"one that matches {' or '.join(task.new_files)}" if task.new_files else "no new one"
        yield f"it adds a file {path!r}, and the task allows {allowed}"


def _refusals_of_changed(task: Task, program: Program, path: str) -> Iterator[str]:
    marked = [other for other, text in task.seed.files.items() if blocks(text, other)]
    if marked and path not in marked:
        yield f"it changes {path!r}, and only the EVOLVE blocks of {' and '.join(map(repr, marked))} may change"
    elif marked:
        yield from _refusals_outside(path, outside(task.seed.files[path], path), outside(program.files[path], path))


def _refusals_outside(path: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    if len(old) != len(new):
        yield f"{path!r} has {len(new) - 1} EVOLVE blocks, and in the seed {len(old) - 1}: their markers must stay as they are"
    for before, after in zip(old, new, strict=False):
        if before != after:
            yield f"it changes {path!r} outside its EVOLVE blocks: {_describe_difference(before, after)}"


def _describe_difference(old: str, new: str) -> str:
    """Returns the first line that differs, as it was and as it became."""
    before, after = old.splitlines(), new.splitlines()
    for was, became in zip(before, after, strict=False):
        if was != became:
            return f"{_quote(was)} became {_quote(became)}"
    if len(after) > len(before):
        return f"{_quote(after[len(before)])} was added"
    return f"{_quote(before[len(after)])} is gone" if len(before) > len(after) else "its line ends"


def _quote(line: str) -> str:
    shown = line.strip()
    return repr(shown if len(shown) <= 60 else f"{shown[:57]}...")


def _leads_out(path: str) -> bool:
    return "\\" in path or "\0" in path or any(part in ("", ".", "..") for part in path.split("/"))


def _shadows(path: str, other: str) -> bool:
    """Reports two paths that cannot lie side by side, or of which Python would import the first for the second."""
    # Some file systems do not tell capital letters from small ones.
    name, known = path.casefold(), other.casefold()
    package = f"{known.removesuffix('.py')}/__init__.py"
    return name in (known, package) or name.startswith(f"{known}/") or known.startswith(f"{name}/")


def _skip_folders(places: set[int], patterns: Sequence[str]) -> set[int]:
    """Returns the places in a pattern that match without a part of the path, too: behind a `**` before another part."""
    found = set(places)
    for place, one in enumerate(patterns[:-1]):
        if one == "**" and place in found:
            found.add(place + 1)
    return found


def _advance(part: str, place: int, patterns: Sequence[str]) -> Iterator[int]:
    """Yields the places in a pattern that may follow a part of a path."""
    if place < len(patterns):
        if patterns[place] == "**":
            yield from (place, place + 1)
        elif fnmatchcase(part, patterns[place]):
            yield place + 1


def find_syntax_error(program: Program, before: Program) -> str:
    """Returns why a file that differs from `before` cannot be parsed, with the line quoted; empty where all parse. Only the files of
    Python (`.py`) are looked at; nothing of a program is run."""
    for path, text in program.files.items():
        if path.endswith(".py") and text != before.files.get(path):
            fault = _find_fault(path, text)
            if fault:
                return fault
    return ""


def _find_fault(path: str, text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Compiling finds what parses and is no program, too, such as a `return` outside of a function.
            compile(text, "<program>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return _describe_error(path, text, error)
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{path} does not parse: {error or type(error).__name__}. Try: write plain Python that is not nested as deeply"
    return ""


def _describe_error(path: str, text: str, error: SyntaxError) -> str:
    number = error.lineno or 0
    near = text.split("\n")[max(0, number - 1 - _CONTEXT) : number]
    where = f", line {number}" if number else ""
    quoted = f" The last of these lines:\n{quote_lines(near)}\n" if near else " "
    return f"{path} does not parse{where}: {error.msg}.{quoted}Try: write Python that parses"
