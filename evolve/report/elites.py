"""The programs that hold places in the archive.

Invariant: a program is one line, however many islands it lives on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve.archive import Elite
from evolve.campaign import Campaign
from evolve.report.records import made_by, record_name
from evolve.types import RecordId, Trust


@dataclass(frozen=True, slots=True)
class EliteLine:
    """A program that holds places in the archive, on these islands. `isolation` and `trust` are those of the record; `kind` and
    `operator` say how the program was made, also where the record is a later judging of it."""

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


def elites(campaign: Campaign, limit: int | None = None) -> tuple[EliteLine, ...]:
    """The programs that hold a place, the best first, each once."""
    places: dict[str, list[Elite]] = {}
    for elite in campaign.state.archive.elites():
        places.setdefault(elite.program, []).append(elite)
    holders = sorted(places.values(), key=lambda held: (-held[0].fitness, held[0].record))
    return tuple(_elite_line(campaign, held) for held in holders[:limit])


def _elite_line(campaign: Campaign, held: Sequence[Elite]) -> EliteLine:
    first, champion = held[0], campaign.state.archive.best
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
    )
