"""The best program against the seed and the task's anchors.

Invariant: what is reported of a winner rests on the measurements made after it won, where there are any."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evolve.campaign import Campaign
from evolve.report.aims import ObjectiveLine, objectives
from evolve.report.ratio import Ratio, ratio
from evolve.report.records import measurements, record_name
from evolve.types import ProgramId, RecordId, Task, Trust


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
class CaseLine:
    """What a program found on a case that the search does not see, by record `name`; `seed` is what the seed program found there.
    `agrees`: the program is no worse than the seed."""

    case: str
    name: str
    outcome: str
    fitness: float | None
    seed: float | None
    agrees: bool


@dataclass(frozen=True, slots=True)
class Best:
    """A campaign's best program. `promoted`: the task's held-out cases agree; `cases` is what is known of them. `seed` is the mean of the seed's measurements, `gain` what the best has more than that (less,
    where the task minimises), 0 for the seed itself. `certified` says that the task
    proved the value, see `certificate`; `isolation` and `trust` are those of the record (`claimed`, where any score of the program is), `weaker`: it
    was judged under less isolation than the campaign's best; `ratio` is there where the fitness is the logarithm of one."""

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
    cases: tuple[CaseLine, ...] = ()
    objectives: tuple[ObjectiveLine, ...] = ()
    weaker: bool = False
    ratio: Ratio | None = None


def best(campaign: Campaign) -> Best | None:
    """The best program, with what it is compared to; None as long as there is none."""
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
        trust="claimed" if elite.program in campaign.state.claimed else evaluation.trust,
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


def cases(campaign: Campaign, program: ProgramId) -> tuple[CaseLine, ...]:
    """A program on the cases that were measured, in the task's order."""
    shown = campaign.task.fitness.shown
    return tuple(
        CaseLine(
            case=found.case,
            name=record_name(campaign, found.record),
            outcome=found.outcome.value,
            fitness=None if found.fitness is None else shown(found.fitness),
            seed=None if found.seed is None else shown(found.seed),
            agrees=found.agrees,
        )
        for found in campaign.state.cases.results(program)
    )


def _seed_fitness(campaign: Campaign) -> float | None:
    values = campaign.state.seed_values
    return math.fsum(values) / len(values) if values else None


def _seed_is_out(campaign: Campaign) -> bool:
    """The seed misses a constraint, so that whoever meets them all is better."""
    record = campaign.state.seed_record
    return bool(record) and campaign.state.history.violation(record) > 0.0


def certificate(campaign: Campaign, record: RecordId) -> str:
    """The name of the latest record that proves the value of `record`'s program; empty where none does."""
    lines = [line for line in measurements(campaign, record) if line.certified]
    return lines[-1].name if lines else ""


def anchor_gaps(task: Task, fitness: float) -> tuple[AnchorGap, ...]:
    """The task's anchors against `fitness` (larger is better), the hardest to reach last."""
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
    """The hardest anchor that is reached, and the easiest that is not; `anchors` as `anchor_gaps` orders them."""
    reached = [anchor for anchor in anchors if anchor.reached]
    ahead = [anchor for anchor in anchors if not anchor.reached]
    return (*reached[-1:], *ahead[:1])
