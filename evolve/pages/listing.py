"""A program's files as a report shows them.

Invariant: what may change and what may not is told apart as the engine does it."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from evolve.edits.blocks import blocks
from evolve.pages.document import Block, Code, Paragraph

Notes = Mapping[str, Sequence[str]]
"""By path, a note for each line."""


def listing(files: Mapping[str, str], notes: Notes) -> Iterator[Block]:
    """The files, with the lines of their blocks marked."""
    marked = {path: open_lines(path, text) for path, text in files.items()}
    if any(marked.values()):
        yield Paragraph("Marked lines are those that may change; the others are as in the seed.")
    for path, text in files.items():
        yield Code(path, text, marked[path], tuple(notes.get(path, ())))


def open_lines(path: str, text: str) -> frozenset[int]:
    """The numbers of the lines in a file's blocks."""
    spans = blocks(text, path)
    if not spans:
        return frozenset()
    starts = [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]
    return frozenset(
        number
        for span in spans
        if span.end > span.start
        for number in range(bisect_right(starts, span.start), bisect_right(starts, span.end - 1) + 1)
    )
