"""Whether the files that an edit has changed still parse, so that a slip is mended before a judge is asked.

Invariant: nothing of a program is run, and a language that is not known is never held against it."""

import ast
import warnings
from bisect import bisect_left
from typing import NamedTuple

from evolve.edits.failure import shown
from evolve.types import Program

_CONTEXT = 2
_LARGEST = 1_000_000
_OF_THE_WHOLE = ("__future__", "global", "\r")
"""What is right or wrong by what stands elsewhere in the module, or ends lines that are counted otherwise here."""
_KEPT = 4096
"""Files whose statements are remembered: a few hundred bytes each."""


class _File(NamedTuple):
    """A file of a program. `name` stands for its text: programs are named by what they hold."""

    name: str
    text: str

    @classmethod
    def of(cls, program: Program, path: str) -> "_File":
        return cls(f"{program.id}/{path}", program.files.get(path, ""))


def unparsable(program: Program, before: Program) -> str:
    """Why a file that differs from `before` cannot be parsed, with the line quoted; empty where all can, or their language is not
    known. Only Python (`.py`) is."""
    for path, text in program.files.items():
        if path.endswith(".py") and text != before.files.get(path):
            same = _changed_part_parses(_File.of(program, path), _File.of(before, path))
            fault = "" if same else _fault(path, text)
            if fault:
                return fault
    return ""


def _changed_part_parses(file: _File, old: _File) -> bool:
    """Whether the statements of the module that changed parse by themselves, between others that did before. That is a fraction of the
    whole text; where it says no, the whole text decides."""
    starts, text = _STARTS.of(old), file.text
    if not starts or any(word in text for word in _OF_THE_WHOLE):
        return False
    lines, before = text.split("\n"), old.text.split("\n")
    more, shorter = len(lines) - len(before), min(len(lines), len(before))
    same = next((place for place in range(shorter) if lines[place] != before[place]), shorter)
    rest = next((back for back in range(shorter - same) if lines[-1 - back] != before[-1 - back]), shorter - same)
    first = max(0, bisect_left(starts, same) - 1)
    after = bisect_left(starts, len(before) - rest)
    start = starts[first]
    end = starts[after] if after < len(starts) else len(before)
    if start > same:
        return False
    part = "\n".join(lines[start : end + more])
    inside = _begins(part)
    if inside is None:
        return False
    _STARTS.put(file, (*starts[:first], *(start + line for line in inside), *(line + more for line in starts[after:])))
    return True


class _Starts:
    """The lines, from 0, that begin with a statement of the module or its first decorator, of the files that were asked for last; none of
    one that does not parse. A changed file has those of the one before it but for the part that changed. Any thread."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, ...]] = {}

    def of(self, file: _File) -> tuple[int, ...]:
        """Found by parsing where the file is not known."""
        found = self._known.pop(file.name, None)
        if found is None:
            found = (None if "\r" in file.text else _begins(file.text)) or ()
        self.put(file, found)
        return found

    def put(self, file: _File, starts: tuple[int, ...]) -> None:
        """What was asked for least lately is forgotten."""
        self._known[file.name] = starts
        while len(self._known) > _KEPT:
            self._known.pop(next(iter(self._known)), None)


_STARTS = _Starts()


def _begins(text: str) -> tuple[int, ...] | None:
    """The lines, from 0, that begin with a statement of the module, and not within one or behind another; None where the text does not parse."""
    module = tree(text)
    if module is None:
        return None
    whole = [node for node in module.body if not node.col_offset]
    found = (min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))]) for node in whole)
    return tuple(sorted({line - 1 for line in found}))


def tree(text: str) -> ast.Module | None:
    """A text as Python; None where it is none, or larger than any program."""
    if len(text) > _LARGEST:
        return None
    try:
        _compile(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _compile(text: str) -> None:
    """Parses it, and finds what parses and is no program, such as a `return` outside of a function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "<program>", "exec", dont_inherit=True)


def _fault(path: str, text: str) -> str:
    try:
        _compile(text)
    except SyntaxError as error:
        return _told(path, text, error)
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{path} does not parse: {error or type(error).__name__}. Do: write plain Python that is not nested as deeply"
    return ""


def _told(path: str, text: str, error: SyntaxError) -> str:
    number = error.lineno or 0
    lines = text.split("\n")
    near = lines[max(0, number - 1 - _CONTEXT) : number]
    where = f", line {number}" if number else ""
    quoted = f" The last of these lines:\n{shown(near)}\n" if near else " "
    return f"{path} does not parse{where}: {error.msg}.{quoted}Do: write Python that parses"
