"""Settings and answers of the archive: frozen values that callers may keep.

Nothing here refers back to the archive, so a value never changes after it was handed out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evolve.types import ProgramId, RecordId


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """The archive's rules, by counts. `cells` are those of a grid of the axes' bins, or `centroids` regions around centroids (`cvt`).
    `capacity` is elites per cell. Every `migrate_every` settled proposals of an island its
    best `migrants` elites are copied to the next one (0: never). Every `reset_every` settled proposals per island, counted
    over all islands, the worse half of the islands is cleared and each gets the best of a better one (0: never), as in
    FunSearch (https://doi.org/10.1038/s41586-023-06924-6). `z` and `sigmas` are the confirmation rule's, see `confirmation`."""

    islands: int = 4
    capacity: int = 1
    migrate_every: int = 200
    migrants: int = 1
    reset_every: int = 0
    z: float = 2.0
    sigmas: float = 5.0
    cells: Literal["grid", "cvt"] = "grid"
    centroids: int = 1000


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimate of a program's fitness: `count` judgings on public cases of one hardware class, or its latest certified
    value. `standard_error` is that of the mean; None where nothing is known about the noise."""

    mean: float
    standard_error: float | None
    count: int
    certified: bool = False


@dataclass(frozen=True, slots=True)
class Elite:
    """A record in its role: the holder of a place in a cell. `fitness` is the estimate that selection uses; `reported` rests
    on measurements made after it won its place alone (None: there are none yet). `descriptors` are the axes' values. `violation` is
    how far it misses the task's constraints, 0 where it meets them; `objectives` are larger the better, like the fitness."""

    record: RecordId
    program: ProgramId
    fitness: float
    descriptors: Mapping[str, float]
    island: int
    cell: int
    estimate: Estimate
    reported: Estimate | None
    violation: float = 0.0
    objectives: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stats:
    """Figures of one island, or of all of them laid on one another. `coverage` is the share of cells that are occupied, `qd_score` the sum
    of the best fitness of each occupied cell, `best` the largest of these; for both, a program that misses a constraint does not count."""

    elites: int
    cells: int
    coverage: float
    qd_score: float
    best: float | None
