"""Programs that hold places in the archive, and those of its Pareto front. A program is one line, however many islands it lives on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve.archive import Elite
from evolve.campaign import Campaign
from evolve.report.best import ObjectiveLine, objectives
from evolve.report.records import made_by, record_name
from evolve.types import ProgramId, RecordId, Trust


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
