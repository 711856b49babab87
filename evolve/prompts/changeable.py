"""Which parts of a program may change, in words.

Invariant: it says what `evolve.changes` lets pass, for the program that is shown."""

import functools

from evolve.edits.blocks import blocks
from evolve.prompts.quoting import path_name
from evolve.types import Program


def allowed(program: Program) -> str:
    """Which files of a task's programs may change, or which parts of them."""
    marked = [path for path in program.files if has_blocks(program, path)]
    if not marked:
        return f"All of {_named(list(program.files))} may change."
    only = f"Of {_named(marked)}, only what stands between the lines `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END` may change"
    others = [path for path in program.files if path not in marked]
    return f"{only}, and nothing of {_named(others)}." if others else f"{only}."


@functools.lru_cache(maxsize=512)
def places(program: Program, seed: Program) -> str:
    """The lines of a program's blocks, and the files that it has added, as a sentence; all of it where the seed has no block."""
    if not any(has_blocks(seed, path) for path in seed.files):
        return "All of it may change."
    told = []
    for path, text in program.files.items():
        ranges = [_lines(text, span.start, span.end) for span in blocks(text, path)]
        if path not in seed.files:
            told.append(f"all of `{path_name(path)}`")
        elif ranges:
            told.append(f"lines {' and '.join(ranges)} of `{path_name(path)}`")
    return f"May change: {'; '.join(told)}."


@functools.lru_cache(maxsize=512)
def has_blocks(program: Program, path: str) -> bool:
    """Whether only blocks of a file may change."""
    return bool(blocks(program.files[path], path))


def _named(paths: list[str]) -> str:
    names = [f"`{path_name(path)}`" for path in paths]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _lines(text: str, start: int, end: int) -> str:
    """The lines of a block, counted from 1; an empty one is between two."""
    first = text.count("\n", 0, start) + 1
    last = text.count("\n", 0, end)
    return f"{first} to {last}" if last >= first else f"between {first - 1} and {first}"
