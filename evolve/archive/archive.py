"""Archive: the fold of settled records and rulings into islands of elites, and the questions about them.

Equal events in equal order give equal `state()`, whatever was asked in between; the cost of an event does not grow
with the number of records (a ruling or a failed measurement scans the members of one cell). Main thread."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.random import Generator

from evolve.archive.cells import Centroids, Grid
from evolve.archive.confirmation import ConfirmationRule, Rank
from evolve.archive.contests import ArchiveSettings, Contests
from evolve.archive.evidence import FAILED, QUARANTINED, Estimate, Evidence
from evolve.archive.pareto import Pareto
from evolve.types import (
    NOBODYS_FAULT,
    Axis,
    Insertion,
    MachineMeasured,
    Measure,
    Objective,
    Placement,
    ProgramId,
    Record,
    RecordId,
    Ruled,
)

_NOBODY: Rank = (math.inf, 0.0)


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


class Archive:
    """Names are those of pyribs (https://pyribs.org) where it has one. `bound` is the proven one in the maximised direction:
    what lies beyond it is never added. `certifies`: the task has certificates, and the best must have one. Objectives are larger the
    better in every answer, like the fitness."""

    def __init__(
        self,
        axes: Sequence[Axis],
        settings: ArchiveSettings,
        *,
        deterministic: bool,
        certifies: bool,
        bound: float | None = None,
        objectives: Sequence[Objective] = (),
    ) -> None:
        rule = ConfirmationRule(deterministic, certifies, settings.z, settings.sigmas)
        self.settings = settings
        self.promoted: set[ProgramId] = set()
        self._bound = math.inf if bound is None else bound
        cvt = settings.cells == "cvt"
        self.grid: Grid | Centroids = Centroids(axes, settings.centroids) if cvt else Grid(axes)
        self._evidence = Evidence(len(axes), pooling=rule.noisy, objectives=objectives)
        self.pareto = Pareto(self._evidence, objectives)
        self._contests = Contests(self._evidence, rule, settings)
        self._quarantined: set[ProgramId] = set()
        self._shown: dict[tuple[int, int], Elite] = {}
        """Elites that were asked for, by program and island, until anything about an elite changes."""

    # --- the fold

    def settle(self, record: Record) -> Placement:
        """Takes the next settled record, live or replayed, and says what became of its program. For a measurement IMPROVED
        says that its program won a place or the title of best by it."""
        if record.origin.kind == "measurement":
            self._shown.clear()
            return self._measurement(record)
        is_new = self._evidence.find(record.program) is None
        placement = self._newcomer(record)
        if placement.insertion is not Insertion.NOT_ADDED or not is_new:
            self._shown.clear()
        if record.origin.kind == "proposal" and self._contests.count_proposal(record.origin.island):
            self._shown.clear()
        return placement

    def _newcomer(self, record: Record) -> Placement:
        fitness, home = record.evaluation.fitness, record.origin.island
        if record.program is None or fitness is None or fitness > self._bound:
            return Placement(Insertion.NOT_ADDED, home)
        program, insertion = self._evidence.find(record.program), Insertion.NOT_ADDED
        if program is None:
            descriptors = record.evaluation.descriptors
            # One that was evaluated for other axes or objectives may lack what this archive needs to place it.
            if not (self.grid.holds(descriptors) and self._evidence.figures.holds(record.evaluation)):
                return Placement(Insertion.NOT_ADDED, home)
            point = [descriptors[name] for name in self.grid.names]
            quarantined = record.program in self._quarantined
            program = self._evidence.add(record, fitness, self.grid.cell(point), point, quarantined=quarantined)
        else:
            self._evidence.measure(program, record.id, record.evaluation, fitness)
            insertion = self._contests.settle_again(program)
        self.pareto.update(program)
        cell = self._evidence.cells[program]
        # All islands begin with the seed.
        everywhere = record.origin.kind == "seed"
        if everywhere and self.pareto.seed is None:
            self.pareto.seed = program
        for number in range(self.settings.islands) if everywhere else (home,):
            self._contests.islands[number].join(program, cell)
            insertion = max(insertion, self._contests.enter(program, number))
        title = self._contests.best_so_far.challenge(program)
        if insertion is Insertion.NOT_ADDED:
            insertion = title
        return Placement(insertion, home, cell)

    def _measurement(self, record: Record) -> Placement:
        program = self._evidence.find(record.program)
        if program is None:
            program = self._evidence.of_record(record.origin.about)
        if program is None:
            # A certificate proves a value, but has no descriptors by which a program could be given a cell.
            stranger = record.evaluation.certified
            return Placement(Insertion.NOT_ADDED, record.origin.island) if stranger else self._newcomer(record)
        evaluation, cell = record.evaluation, self._evidence.cells[program]
        self._contests.confirmation.queue.end(program, measured=evaluation.outcome not in NOBODYS_FAULT)
        fitness = evaluation.fitness
        if fitness is not None and fitness <= self._bound:
            self._evidence.measure(program, record.id, evaluation, fitness)
            self.pareto.update(program)
        elif evaluation.outcome not in NOBODYS_FAULT:
            self._exclude(program, FAILED)
            return Placement(Insertion.NOT_ADDED, self._evidence.homes[program], cell)
        insertion = self._contests.settle_again(program)
        if insertion is Insertion.NOT_ADDED and self._contests.waits(program):
            insertion = Insertion.PENDING
        return Placement(insertion, self._evidence.homes[program], cell)

    def rule(self, ruling: Ruled) -> None:
        """Quarantine takes a program out of every place, also one that was never seen yet; release lets it claim them again."""
        if ruling.what == "promote":
            self.promoted.add(ruling.about)
            return
        self._shown.clear()
        quarantine = ruling.what == "quarantine"
        (self._quarantined.add if quarantine else self._quarantined.discard)(ruling.about)
        program = self._evidence.find(ruling.about)
        if program is None:
            return
        if quarantine:
            self._exclude(program, QUARANTINED)
            return
        self._evidence.status[program] &= ~QUARANTINED
        self._contests.readmit(program)
        self.pareto.update(program)

    def _exclude(self, program: int, reason: int) -> None:
        self._evidence.status[program] |= reason
        self._contests.expel(program)
        self.pareto.update(program)

    def move_to_machine(self, event: MachineMeasured) -> None:
        """Takes the start of a run on a machine. Noisy estimates of another hardware class must be measured again before they may defend."""
        self._shown.clear()
        if self._contests.confirmation.rule.noisy and self._evidence.move_to(event.hardware):
            self.pareto.rebuild()
        self._contests.rule_changed(replace(self._contests.confirmation.rule, noise_floor=event.noise_floor))

    def mark_asked(self, measure: Measure) -> None:
        """Marks a measurement as asked for, by `due` or otherwise: it is not due again before it settles."""
        program = self._evidence.find(measure.program)
        if program is not None:
            self._contests.confirmation.queue.mark_asked(program)

    # --- measurements

    def due(self, *, best_only: bool = False) -> Measure | None:
        """Returns the next measurement by the rule of confirmation, or only one that decides or reports who is the best. Changes
        nothing: mark it with `asked`."""
        found = self._contests.due(best_only=best_only)
        if found is None:
            return None
        program, why = found
        stage = "certify" if self._contests.confirmation.rule.certifies else ""
        return Measure(self._evidence.records[program], self._evidence.programs[program], stage, why)

    # --- questions

    @property
    def best(self) -> Elite | None:
        """The best of all that may hold the title: certified where the task certifies, confirmed where it is noisy."""
        best = self._contests.best_so_far.holder
        return None if best is None else self._elite(best, self._evidence.homes[best])

    def best_elite(self, island: int) -> Elite | None:
        """Returns the first of an island's ranking."""
        best = self._contests.islands[island].best()
        return None if best is None else self._elite(best, island)

    def retrieve(self, island: int, cell: int) -> tuple[Elite, ...]:
        """Returns the elites of a cell, the best first."""
        return tuple(self._elite(program, island) for _, program in self._contests.islands[island].cells.get(cell, ()))

    def elites(self, island: int | None = None) -> Sequence[Elite]:
        """Returns all elites of an island, or of all islands one after the other, the best first; a program may be in several. Who meets the
        constraints comes before who does not."""
        numbers = range(self.settings.islands) if island is None else (island,)
        return [
            self._elite(program, number) for number in numbers for _, program in self._contests.islands[number].ranking
        ]

    def sample_elites(self, island: int, count: int, rng: Generator, *, evenly: bool = False) -> list[Elite]:
        """Draws `count` elites of an island, with replacement; none where it is empty. The logarithm of the rank is uniform: rank r
        of n is drawn with probability log(1 + 1/r) / log(n + 1), about 1/r, whatever the scale of the fitness. `evenly`: each rank is as
        likely as another."""
        ranking = self._contests.islands[island].ranking
        size = len(ranking)
        drawn = rng.random(count).tolist() if size else []
        places = [int(size * share) if evenly else min(int((size + 1) ** share), size) - 1 for share in drawn]
        return [self._elite(ranking[place][1], island) for place in places]

    def _elite(self, program: int, island: int) -> Elite:
        # Strategies ask for the same elites at every step, and nothing about one changes between two events that clear the cache.
        found = self._shown.get((program, island))
        if found is not None:
            return found
        evidence, noise = self._evidence, self._contests.confirmation.rule.noise_floor
        found = self._shown[program, island] = Elite(
            record=evidence.records[program],
            program=evidence.programs[program],
            fitness=evidence.values[program],
            descriptors=dict(zip(self.grid.names, evidence.point(program), strict=True)),
            island=island,
            cell=evidence.cells[program],
            estimate=evidence.estimate(program, noise),
            reported=evidence.report(program, noise),
            violation=evidence.figures.violation(program),
            objectives=evidence.figures.objectives(program),
        )
        return found

    def stats(self, island: int | None = None) -> Stats:
        """Figures of one island, or of all islands laid on one another; the cost grows with the number of occupied cells."""
        chosen = self._contests.islands if island is None else (self._contests.islands[island],)
        firsts: dict[int, Rank] = {}
        for one in chosen:
            for cell, holders in one.cells.items():
                firsts[cell] = min(holders[0][0], firsts.get(cell, _NOBODY))
        values = [-negative for violation, negative in firsts.values() if violation == 0.0]
        return Stats(
            elites=sum(len(one.ranking) for one in chosen),
            cells=len(firsts),
            coverage=len(firsts) / self.grid.cells,
            qd_score=math.fsum(values),
            best=max(values, default=None),
        )

    def front(self) -> Sequence[Elite]:
        """Returns the Pareto front over the task's objectives, the best in the first one first: every program that meets the constraints and
        that no other such is as good as in all objectives; of equal ones the earlier. It need not hold a place in a cell."""
        return [self._elite(program, self._evidence.homes[program]) for program in self.pareto.members()]

    def state(self) -> dict[str, Any]:
        """Returns all that later answers depend on, as plain JSON data: equal states answer alike for ever."""
        rule = self._contests.confirmation.rule
        return {
            "settled": self._contests.settled,
            "noise_floor": rule.noise_floor,
            "quarantined": sorted(self._quarantined),
            "promoted": sorted(self.promoted),
            "evidence": self._evidence.state(),
            "contests": self._contests.state(),
            "pareto": self.pareto.state(),
        }
