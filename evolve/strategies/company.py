"""Whom a parent is shown with: the other parents of a crossover, and inspirations that differ from it and from one another.

Invariant: programs of other cells come first, since those of one cell are alike; nothing here depends on the scale of the fitness."""

from collections.abc import Iterable, Iterator, Sequence

from numpy.random import Generator

from evolve.archive import Archive, Elite

_TRIES = 4
"""How many elites are drawn for each that is wanted."""


def partners(archive: Archive, parent: Elite, count: int, rng: Generator) -> list[Elite]:
    """Up to `count` elites to cross a parent with, of programs that all differ: of its island, of other cells first; where there are
    too few, the best of the other islands."""
    if count <= 0:
        return []
    drawn = archive.sample_elites(parent.island, _TRIES * count, rng)
    found = list(_distinct([parent], _elsewhere_first([parent], drawn)))
    if len(found) < count:
        found = list(
            _distinct([parent], [*found, *archive.elites(parent.island)[: 1 + count], *_visitors(archive, parent)])
        )
    return found[:count]


def varied(archive: Archive, parents: Sequence[Elite], count: int, rng: Generator) -> list[Elite]:
    """Up to `count` elites of the parents' island for inspiration: half of them drawn by their rank, the others evenly, so that it is
    not always the best that are shown; each of a cell of its own, as far as there are such."""
    if count <= 0:
        return []
    island, good = parents[0].island, (count + 1) // 2
    by_rank = archive.sample_elites(island, _TRIES * good, rng)
    first = list(_distinct(parents, _elsewhere_first(parents, by_rank)))[:good]
    evenly = archive.sample_elites(island, _TRIES * (count - good), rng, evenly=True)
    shown = [*parents, *first]
    return [*first, *_distinct(shown, _elsewhere_first(shown, evenly))][:count]


def _visitors(archive: Archive, parent: Elite) -> Iterator[Elite]:
    for island in range(archive.settings.islands):
        best = archive.best_elite(island) if island != parent.island else None
        if best is not None:
            yield best


def _elsewhere_first(shown: Sequence[Elite], drawn: Sequence[Elite]) -> Iterator[Elite]:
    """Those of cells that are not shown yet, each cell once, and then the others."""
    cells, others = {elite.cell for elite in shown}, list[Elite]()
    for elite in drawn:
        if elite.cell in cells:
            others.append(elite)
        else:
            cells.add(elite.cell)
            yield elite
    yield from others


def _distinct(shown: Sequence[Elite], drawn: Iterable[Elite]) -> Iterator[Elite]:
    """Those whose program is neither shown nor drawn before."""
    programs = {elite.program for elite in shown}
    for elite in drawn:
        if elite.program not in programs:
            programs.add(elite.program)
            yield elite
