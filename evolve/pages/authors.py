"""Who wrote the lines of a program: which record of its line brought each of them.

Invariant: a line belongs to the program that had it first on the line of first parents; nobody is blamed for what the seed had."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from evolve import wording
from evolve.pages.document import Block, Mono, Paragraph, Table
from evolve.pages.numbers import signed
from evolve.report import BlameLine
from evolve.types import Fitness

_AUTHORS = 25


def notes(blame: Sequence[BlameLine]) -> Mapping[str, Sequence[str]]:
    """By path, the record that brought each line, to stand beside it; nothing where all lines are one record's."""
    if len({line.record for line in blame}) < 2:
        return {}
    found: dict[str, list[str]] = {}
    for line in blame:
        found.setdefault(line.path, []).append(str(line.record))
    return found


def authors(blame: Sequence[BlameLine], name: str, fitness: Fitness) -> Iterator[Block]:
    """The records that brought lines of the best program, those with most lines first."""
    counts = Counter(line.record for line in blame)
    if len(counts) < 2:
        return
    first = {line.record: line for line in reversed(blame)}
    shown = counts.most_common(_AUTHORS)
    more = f" (the {_AUTHORS} with most lines, of {len(counts)})" if len(counts) > _AUTHORS else ""
    yield Paragraph(f"Who wrote the lines of the best program, which the listing names beside them{more}:")
    rows = [
        (
            Mono(f"{name}/{record}"),
            wording.counted(count, "line"),
            _maker(first[record]),
            Mono(signed(first[record].change, fitness.digits)),
        )
        for record, count in shown
    ]
    yield Table(("program", "lines", "made by", "change in score"), tuple(rows), frozenset({1, 3}))


def _maker(line: BlameLine) -> str:
    return (line.operator or "seed") + (f", {line.model}" if line.model else "")
