"""Programs in C and C++ that must gain nothing, for `evolve task check`: made of the seed, and of what the header declares.

Each breaks one rule of the evaluator; where the header cannot be read, those that need its parameters are left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evolve.types import Twin

_BESIDE = {
    "a variable that stays": "__attribute__((used)) static int evolve_kept = 1;",
    "a second symbol": "int evolve_second(void) { return 1; }",
    "code that runs at loading": '__attribute__((constructor, used)) static void evolve_early(void) { __asm__ volatile(""); }',
}
"""What is written behind the seed."""
_INSTEAD = {
    "returns at once": "",
    "never returns": "for (volatile int i = 0;;) i = 1;",
    "ends its process": "__builtin_trap();",
}
"""What stands in the function's place."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"(\w+)\s*(?:\[\s*\])?\s*$")


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    pointer: bool
    constant: bool


def impostors(path: str, seed: str, header: str, declared: str, function: str) -> list[Twin]:
    """Returns impostors of the program `seed` in the file `path`; `declared` is the text of the file `header`."""
    found = {name: f"{seed}\n{text}\n" for name, text in _BESIDE.items()}
    prototype = re.search(rf"void\s+{function}\s*\(([^()]*)\)\s*;", _COMMENT.sub(" ", declared))
    if prototype is not None:
        for name, body in {**_INSTEAD, **dict(_reaching(prototype[1]))}.items():
            found[name] = f'#include "{header}"\nvoid {function}({prototype[1]})\n{{\n    {body}\n}}\n'
    return [Twin(name, {path: text}, honest=False) for name, text in found.items()]


def _reaching(parameters: str) -> Iterator[tuple[str, str]]:
    """Yields what is done to memory that is not to be written."""
    known = [_parameter(text) for text in parameters.split(",")]
    arrays = [one for one in known if one is not None and one.pointer]
    for one in [one for one in arrays if not one.constant][:1]:
        yield "writes before its output", f"((volatile char *){one.name})[-1] = 1;"
    for one in [one for one in arrays if one.constant][:1]:
        yield "changes its input", f"*(volatile char *){one.name} = (char)(*(const char *){one.name} + 1);"


def _parameter(text: str) -> _Parameter | None:
    name = _NAME.search(text)
    return None if name is None else _Parameter(name[1], "*" in text or "[" in text, "const" in text.split("*")[0])
