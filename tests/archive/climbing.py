"""A campaign on a noisy task in numbers: what programs are truly worth is known, and the archive is driven as the loop drives it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from evolve.archive import Archive, ArchiveSettings
from evolve.statistics import noise_floor
from evolve.types import Axis, Evaluation, MachineMeasured, Measure, Origin, ProgramId, Record

SEED = ProgramId("seed")
JUDGED_FIRST, LAST_MEASUREMENTS = 5, 20
"""How often the seed is evaluated to learn the noise floor, and what the best may be measured when all else is over, as in the loop."""

Jump = Callable[[Generator], float]


def usual(rng: Generator) -> float:
    """A child is worse than its parent by one step, give or take one: every sixth is better."""
    return float(rng.normal(-1.0, 1.0))


@dataclass(frozen=True, slots=True)
class Ending:
    """How a campaign ended: what is reported of its best, what that is truly worth, both above the seed's truth, and how many of its records were measurements."""

    reported: float | None
    true: float
    measurements: int


class Climb:
    """`noise` is one standard deviation of a judging, in steps. `naive`: the larger number wins and is reported, nothing is measured again."""

    def __init__(
        self,
        seed: int,
        noise: float,
        jump: Jump,
        *,
        naive: bool = False,
        islands: int = 1,
        cells: int = 1,
        share: float = 0.2,
    ) -> None:
        axes = (Axis("place", 0.0, float(cells), cells),)
        settings = ArchiveSettings(islands=islands)
        self.archive = Archive(axes, settings, deterministic=naive, certifies=False)
        self.records = self.measurements = 0
        self._rng = np.random.default_rng(seed)
        self._noise, self._jump, self._share, self._islands = noise, jump, share, islands
        self._truth, self._places = {SEED: 0.0}, {SEED: cells / 2}
        self._cells = cells
        self._begin(naive)

    def _begin(self, naive: bool) -> None:
        self.archive.move_to_machine(MachineMeasured("here", None, "reduced"))
        first = self._judge(Origin("seed", 0), SEED)
        if naive:
            return
        again = [self._measure(Measure(1, SEED, why="noise")) for _ in range(JUDGED_FIRST - 1)]
        self.archive.move_to_machine(MachineMeasured("here", noise_floor([first, *again]), "reduced"))

    def run(self, evaluations: int) -> Ending:
        """Until there are so many records; then what the best still lacks."""
        while self.records < evaluations:
            due = self.archive.due() if self.measurements <= self._share * self.records else None
            if due is None:
                self._propose()
            else:
                self._measure(due)
        for _ in range(LAST_MEASUREMENTS):
            due = self.archive.due(best_only=True)
            if due is not None:
                self._measure(due)
        best = self.archive.best
        assert best is not None, "the seed at least"
        return Ending(best.reported and best.reported.mean, self._truth[best.program], self.measurements)

    def _propose(self) -> None:
        island = self.records % self._islands
        parent = self.archive.sample_elites(island, 1, self._rng)[0].program
        child = ProgramId(f"child {self.records}")
        self._truth[child] = self._truth[parent] + self._jump(self._rng)
        place = self._places[parent] + self._rng.standard_normal()
        self._places[child] = min(max(place, 0.0), float(self._cells))
        self._judge(Origin("proposal", self.records, island=island), child)

    def _measure(self, measure: Measure) -> float:
        self.archive.mark_asked(measure)
        self.measurements += 1
        return self._judge(Origin("measurement", self.records, about=measure.about), measure.program)

    def _judge(self, origin: Origin, program: ProgramId) -> float:
        value = self._truth[program] + self._noise * float(self._rng.standard_normal())
        self.records += 1
        evaluation = Evaluation.ok(value, descriptors={"place": self._places[program]})
        self.archive.settle(Record(self.records, origin, program, evaluation))
        return value
