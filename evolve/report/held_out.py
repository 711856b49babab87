"""How much of what the search has gained is left on cases that it did not see.

Invariant: gains of different cases are compared in units of what the seed has there, for a case may be larger or harder than another; a case on which
the program failed keeps nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evolve.report.best import Best, CaseLine
from evolve.types import Fitness

HALF = 0.5
Verdict = Literal["holds", "shrinks", "gone"]


@dataclass(frozen=True, slots=True)
class KeptLine:
    """A held-out case: the best program's gain to the seed there, and which share of the search's gain that is; None where it failed, and where the
    seed has no value."""

    case: CaseLine
    gain: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Kept:
    """All held-out cases of a best program. `wanted` is how many there are; `share` the mean of theirs, of which none counts for more than all of the gain;
    None while one is not measured, or where the search has gained nothing."""

    lines: tuple[KeptLine, ...]
    wanted: int
    share: float | None

    @property
    def lost(self) -> tuple[KeptLine, ...]:
        """The cases that keep less than half of the gain, or on which the program failed; nothing is known of one on which the seed did."""
        return tuple(line for line in self.lines if _share(line, missing=HALF) < HALF)

    @property
    def verdict(self) -> Verdict | None:
        """`gone`: nothing of the gain is left, `shrinks`: less than half of it; None where no share is known."""
        if self.share is None:
            return None
        return "holds" if self.share >= HALF else "shrinks" if self.share > 0.0 else "gone"


def kept(best: Best, wanted: Sequence[str], fitness: Fitness) -> Kept:
    """What is known of the cases `wanted`, which are a task's held-out ones."""
    lines = tuple(_line(best, case, fitness) for case in best.cases if case.case in wanted)
    shares = [0.0 if line.case.fitness is None else line.share for line in lines]
    known = [min(share, 1.0) for share in shares if share is not None]
    complete = bool(known) and len(known) == len(wanted) and _gain(best.fitness, best.seed, fitness) > 0.0
    return Kept(lines, len(wanted), math.fsum(known) / len(known) if complete else None)


def _share(line: KeptLine, *, missing: float) -> float:
    if line.case.fitness is None:
        return 0.0
    return missing if line.share is None else line.share


def _line(best: Best, case: CaseLine, fitness: Fitness) -> KeptLine:
    if case.fitness is None or case.seed is None:
        return KeptLine(case, None, None)
    searched = _gain(best.fitness, best.seed, fitness)
    share = _gain(case.fitness, case.seed, fitness) / searched if searched > 0.0 else None
    return KeptLine(case, case.fitness - case.seed, share)


def _gain(value: float, seed: float | None, fitness: Fitness) -> float:
    """How much better than the seed, in units of the seed's value, unless that is 0 or the fitness is a logarithm already."""
    if seed is None:
        return 0.0
    unit = 1.0 if fitness.log_ratio or not seed else abs(seed)
    return (fitness.inside(value) - fitness.inside(seed)) / unit
