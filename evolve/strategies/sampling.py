"""Sampling of parents, and of further parents for a crossover, from the elites of an island.

A strategy with another law of its own gives `Islands` a function of these types. Nothing here depends on the scale of the fitness."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from numpy.random import Generator

from evolve.archive import Archive, Elite
from evolve.protocols import View

ParentSampler = Callable[[View, int, int, Generator], Sequence[Elite]]
"""Draws `count` elites of an island, with replacement; none where the island is empty: `sample(view, island, count, rng)`. The first is the
parent, the others are inspirations of an operator that needs no model."""
_TRIES = 4
"""Elites that are drawn for each that is wanted."""


def sample_by_rank(view: View, island: int, count: int, rng: Generator) -> Sequence[Elite]:
    """Draws the elite of rank r of n with probability log(1 + 1/r) / log(n + 1), about 1/r."""
    return view.archive.sample_elites(island, count, rng)


def sample_evenly(view: View, island: int, count: int, rng: Generator) -> Sequence[Elite]:
    """Draws each elite with equal probability."""
    return view.archive.sample_elites(island, count, rng, evenly=True)


def sample_in_proportion(elites: Sequence[Elite], weights: Sequence[float], count: int, rng: Generator) -> list[Elite]:
    """Draws `count` of the elites in proportion to their weights, with replacement; none where there are no elites. For laws of one's
    own, such as 1 / (1 + children)."""
    total = sum(weights)
    if not elites or total <= 0:
        return []
    places = rng.choice(len(elites), count, p=[weight / total for weight in weights])
    return [elites[int(place)] for place in places]


def sample_partners(archive: Archive, parent: Elite, count: int, rng: Generator) -> list[Elite]:
    """Draws up to `count` elites to cross a parent with, of programs that all differ: of its island, of other cells first; where there
    are too few, the best of the other islands."""
    if count <= 0:
        return []
    drawn = archive.sample_elites(parent.island, _TRIES * count, rng)
    found = list(_drop_repeats([parent], _other_cells_first([parent], drawn)))
    # A young island may hold copies of one program alone.
    if len(found) < count:
        others = (archive.best_elite(island) for island in range(archive.settings.islands) if island != parent.island)
        best = [elite for elite in others if elite is not None]
        found = list(_drop_repeats([parent], [*found, *archive.elites(parent.island)[: 1 + count], *best]))
    return found[:count]


def _other_cells_first(shown: Sequence[Elite], drawn: Sequence[Elite]) -> Iterator[Elite]:
    """Yields elites of cells that are not shown yet, each cell once, and then the others: programs of one cell are alike."""
    cells, others = {elite.cell for elite in shown}, list[Elite]()
    for elite in drawn:
        if elite.cell in cells:
            others.append(elite)
        else:
            cells.add(elite.cell)
            yield elite
    yield from others


def _drop_repeats(shown: Sequence[Elite], drawn: Iterable[Elite]) -> Iterator[Elite]:
    """Yields elites whose program is neither shown nor drawn before."""
    programs = {elite.program for elite in shown}
    for elite in drawn:
        if elite.program not in programs:
            programs.add(elite.program)
            yield elite
