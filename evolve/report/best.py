"""The best program against the seed, the anchors and held-out cases, with its objectives, its constraints and its uncertainty.

Every number is in the user's direction; the figures of a winner rest on the measurements made after it won, where there are any."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evolve.archive import Elite, Estimate
from evolve.campaign import Campaign
from evolve.report.records import (
    CaseScore,
    MissedLine,
    ObjectiveLine,
    cases,
    made_by,
    missed,
    objectives,
    record_name,
    trust_of,
)
from evolve.statistics import LEVEL, PRIOR_DEGREES, zero_floor
from evolve.statistics.beta import student_quantile
from evolve.types import Fitness, ProgramId, RecordId, Task, Trust


@dataclass(frozen=True, slots=True)
class FrontLine:
    """The Pareto front as a whole. `hypervolume` is what it covers beyond `reference` (objectives by name, None where the seed's
    are not known yet), in the product of the objectives' units."""

    members: int
    hypervolume: float | None
    reference: Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class Closest:
    """The program that misses the constraints by the least of all that hold a place, while none meets them. `missed` is what its record
    found; `violation` its estimate over all evaluations."""

    name: str
    record: RecordId
    violation: float
    missed: tuple[MissedLine, ...]


def front_line(campaign: Campaign) -> FrontLine | None:
    """Returns the front at a glance; None where the task has no objectives."""
    archive, task = campaign.state.archive, campaign.task
    if not task.objectives:
        return None
    reference = archive.pareto.reference()
    shown = reference and {line.name: line.value for line in objectives(task, reference)}
    return FrontLine(len(archive.front()), archive.pareto.hypervolume(), shown)


def closest(campaign: Campaign) -> Closest | None:
    """Returns who misses the constraints by the least; None where some program meets them, or none has passed."""
    archive = campaign.state.archive
    if archive.best is not None:
        return None
    firsts = [archive.best_elite(island) for island in range(archive.settings.islands)]
    # The first of each island misses the least there, so that no other elite need be looked at.
    held = [elite for elite in firsts if elite is not None]
    found = min(held, key=lambda elite: (elite.violation, -elite.fitness, elite.record), default=None)
    if found is None or found.violation == 0.0:
        return None
    evaluation = campaign.log.settled(found.record).record.evaluation
    name = record_name(campaign, found.record)
    return Closest(name, found.record, found.violation, missed(campaign.task, evaluation.metrics))


@dataclass(frozen=True, slots=True)
class Ratio:
    """`factor` lies between `low` and `high` with a probability of 95 %; these are None while nothing is known of the noise. `confirmed`: it rests on measurements made after the program had won
    alone. `floor`: how far from 1, as a share, one more measurement of the seed against itself lies at most, 95 times in 100 (an A/A floor), by `seed_runs` of them; None for fewer than two."""

    factor: float
    low: float | None
    high: float | None
    confirmed: bool
    floor: float | None
    seed_runs: int

    @property
    def clears_the_floor(self) -> bool:
        """Returns true where it is further from 1 than the seed's own measurements."""
        return self.floor is not None and abs(math.log(self.factor)) > math.log1p(self.floor)


def ratio(campaign: Campaign, estimate: Estimate, *, confirmed: bool) -> Ratio | None:
    """Returns the ratio of a program with this estimate; None where the task's fitness is no such logarithm."""
    fitness, runs = campaign.task.fitness, campaign.state.noise_values
    if not fitness.log_ratio:
        return None
    shown = fitness.shown(estimate.mean)
    low, high = None, None
    if estimate.standard_error is not None:
        half = student_quantile(LEVEL, PRIOR_DEGREES + estimate.count - 1) * estimate.standard_error
        low, high = _factor(shown - half), _factor(shown + half)
    # The seed against itself: a gain that is smaller than this shows in an A/A test, too.
    floor = _factor(zero_floor(runs)) - 1.0 if len(runs) > 1 else None
    return Ratio(_factor(shown), low, high, confirmed, floor, len(runs))


def _factor(logarithm: float) -> float:
    """Returns the factor of a logarithm that may be anything."""
    return math.exp(min(max(logarithm, -700.0), 700.0))


@dataclass(frozen=True, slots=True)
class AnchorGap:
    """An anchor and how far the best is from it: `difference` is best minus anchor; `reached` says that the best is no worse."""

    value: float
    by: str
    year: int | None
    source: str
    difference: float
    reached: bool


@dataclass(frozen=True, slots=True)
class Best:
    """A campaign's best program. `promoted`: the task's held-out cases agree; `cases` is what is known of them. `seed` is the mean of the seed's measurements, `gain` what the best has more than that (less,
    where the task minimises), 0 for the seed itself. `certified` says that the task
    proved the value, see `certificate`; `isolation` and `trust` are those of the record (`claimed`, where any score of the program is), `weaker`: it
    was evaluated under less isolation than the campaign's best; `ratio` is there where the fitness is the logarithm of one."""

    name: str
    record: RecordId
    program: str
    fitness: float
    standard_error: float | None
    measurements: int
    certified: bool
    isolation: str
    trust: Trust
    seed: float | None
    gain: float | None
    improved: bool
    anchors: tuple[AnchorGap, ...]
    promoted: bool = False
    cases: tuple[CaseScore, ...] = ()
    objectives: tuple[ObjectiveLine, ...] = ()
    weaker: bool = False
    ratio: Ratio | None = None

    def __repr__(self) -> str:
        # All fields would fill pages of a notebook; `dataclasses.asdict` gives them.
        error = f" +- {self.standard_error:.2g} of {self.measurements} measurements" if self.standard_error else ""
        gain = (
            f", {self.gain:+.4g} to the seed"
            if self.improved and self.gain is not None
            else ", no better than the seed"
        )
        return f"<Best {self.name}: {self.fitness:.6g}{error}{gain}{', certified' if self.certified else ''}>"


def best(campaign: Campaign) -> Best | None:
    """Returns the best program, with what it is compared to; None as long as there is none."""
    elite = campaign.state.archive.best
    if elite is None:
        return None
    task, estimate = campaign.task, elite.reported or elite.estimate
    evaluation = campaign.log.settled(elite.record).record.evaluation
    seed = _seed_fitness(campaign)
    is_seed = elite.program == task.seed.id
    shown = task.fitness.shown(estimate.mean)
    return Best(
        name=record_name(campaign, elite.record),
        record=elite.record,
        program=elite.program,
        fitness=shown,
        standard_error=estimate.standard_error,
        measurements=estimate.count,
        certified=elite.estimate.certified,
        isolation=evaluation.isolation,
        trust=trust_of(campaign, elite.record),
        seed=None if seed is None else task.fitness.shown(seed),
        gain=None if seed is None else 0.0 if is_seed else shown - task.fitness.shown(seed),
        improved=seed is not None and not is_seed and (estimate.mean > seed or _seed_is_out(campaign)),
        anchors=anchor_gaps(task, estimate.mean),
        promoted=elite.program in campaign.state.archive.promoted,
        cases=cases(campaign, elite.program),
        objectives=objectives(task, elite.objectives),
        weaker=campaign.state.reached.weaker(evaluation.isolation),
        ratio=ratio(campaign, estimate, confirmed=elite.reported is not None),
    )


def _seed_fitness(campaign: Campaign) -> float | None:
    values = campaign.state.seed_values
    return math.fsum(values) / len(values) if values else None


def _seed_is_out(campaign: Campaign) -> bool:
    """Returns true where the seed misses a constraint, so that whoever meets them all is better."""
    record = campaign.state.seed_record
    return bool(record) and campaign.state.history.violation(record) > 0.0


def anchor_gaps(task: Task, fitness: float) -> tuple[AnchorGap, ...]:
    """Returns the task's anchors against `fitness` (larger is better), the hardest to reach last."""
    shown, inside = task.fitness.shown, task.fitness.inside
    return tuple(
        AnchorGap(
            anchor.value,
            anchor.by,
            anchor.year,
            anchor.source,
            shown(fitness) - anchor.value,
            fitness >= inside(anchor.value),
        )
        for anchor in sorted(task.anchors, key=lambda anchor: inside(anchor.value))
    )


def nearest(anchors: Sequence[AnchorGap]) -> tuple[AnchorGap, ...]:
    """Returns the hardest anchor that is reached, and the easiest that is not; `anchors` as `anchor_gaps` orders them."""
    reached = [anchor for anchor in anchors if anchor.reached]
    ahead = [anchor for anchor in anchors if not anchor.reached]
    return (*reached[-1:], *ahead[:1])


@dataclass(frozen=True, slots=True)
class FitnessLimits:
    """The fitness lies between `low` and `high` with a probability of `level`, as far as the measurements are independent."""

    low: float
    high: float
    level: float


def limits(best: Best) -> FitnessLimits | None:
    """Returns the limits of what is reported of a best program; None where nothing is known of the noise, or there is none."""
    if best.certified or not best.standard_error:
        return None
    half = student_quantile(LEVEL, PRIOR_DEGREES + best.measurements - 1) * best.standard_error
    return FitnessLimits(best.fitness - half, best.fitness + half, LEVEL)


HALF = 0.5
Verdict = Literal["holds", "shrinks", "gone"]


@dataclass(frozen=True, slots=True)
class KeptLine:
    """A held-out case: the best program's gain to the seed there, and which share of the search's gain that is; None where it failed, and where the
    seed has no value."""

    case: CaseScore
    gain: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Kept:
    """Held-out cases of a best program. `wanted` is how many there are; `share` the mean of theirs, of which none counts for more than all of the gain;
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
    """Returns what is known of the cases `wanted`, which are a task's held-out ones."""
    lines = tuple(_line(best, case, fitness) for case in best.cases if case.case in wanted)
    shares = [0.0 if line.case.fitness is None else line.share for line in lines]
    # One case with ten times the gain must not hide four without any.
    known = [min(share, 1.0) for share in shares if share is not None]
    complete = bool(known) and len(known) == len(wanted) and _gain(best.fitness, best.seed, fitness) > 0.0
    return Kept(lines, len(wanted), math.fsum(known) / len(known) if complete else None)


def _share(line: KeptLine, *, missing: float) -> float:
    if line.case.fitness is None:
        return 0.0
    return missing if line.share is None else line.share


def _line(best: Best, case: CaseScore, fitness: Fitness) -> KeptLine:
    if case.fitness is None or case.seed is None:
        return KeptLine(case, None, None)
    searched = _gain(best.fitness, best.seed, fitness)
    share = _gain(case.fitness, case.seed, fitness) / searched if searched > 0.0 else None
    return KeptLine(case, case.fitness - case.seed, share)


def _gain(value: float, seed: float | None, fitness: Fitness) -> float:
    """Returns how much better than the seed, in units of the seed's value, unless that is 0 or the fitness is a logarithm already."""
    if seed is None:
        return 0.0
    unit = 1.0 if fitness.log_ratio or not seed else abs(seed)
    return (fitness.inside(value) - fitness.inside(seed)) / unit


@dataclass(frozen=True, slots=True)
class EliteLine:
    """A program that holds places in the archive, on these islands. `isolation` and `trust` are those of the record, `weaker` says that it
    was evaluated under less isolation than the campaign's best; `kind` and
    `operator` say how the program was made, also where the record is a later evaluation of it."""

    name: str
    record: RecordId
    best: bool
    fitness: float
    standard_error: float | None
    measurements: int
    certified: bool
    isolation: str
    trust: Trust
    islands: tuple[int, ...]
    cell: int
    descriptors: Mapping[str, float]
    kind: str
    operator: str
    violation: float = 0.0
    objectives: tuple[ObjectiveLine, ...] = ()
    weaker: bool = False


def elites(campaign: Campaign, limit: int | None = None) -> tuple[EliteLine, ...]:
    """Returns the programs that hold a place, the best first, each once."""
    holders = sorted(_places(campaign).values(), key=lambda held: (held[0].violation, -held[0].fitness, held[0].record))
    return tuple(_elite_line(campaign, held[0], held) for held in holders[:limit])


def front(campaign: Campaign, limit: int | None = None) -> tuple[EliteLine, ...]:
    """The Pareto front, the best in the first objective first; its programs need not hold a place."""
    places = _places(campaign)
    members = campaign.state.archive.front()[:limit]
    return tuple(_elite_line(campaign, member, places.get(member.program, ())) for member in members)


def _places(campaign: Campaign) -> dict[ProgramId, list[Elite]]:
    places: dict[ProgramId, list[Elite]] = {}
    for elite in campaign.state.archive.elites():
        places.setdefault(elite.program, []).append(elite)
    return places


def _elite_line(campaign: Campaign, first: Elite, held: Sequence[Elite]) -> EliteLine:
    champion = campaign.state.archive.best
    record = campaign.log.settled(first.record).record
    evaluation = record.evaluation
    origin = made_by(campaign, record)
    return EliteLine(
        name=record_name(campaign, first.record),
        record=first.record,
        best=champion is not None and champion.program == first.program,
        fitness=campaign.task.fitness.shown(first.fitness),
        standard_error=first.estimate.standard_error,
        measurements=first.estimate.count,
        certified=first.estimate.certified,
        isolation=evaluation.isolation,
        trust=evaluation.trust,
        islands=tuple(sorted(elite.island for elite in held)),
        cell=first.cell,
        descriptors=dict(first.descriptors),
        kind=origin.kind,
        operator=origin.operator,
        violation=first.violation,
        objectives=objectives(campaign.task, first.objectives),
        weaker=campaign.state.reached.weaker(evaluation.isolation),
    )
