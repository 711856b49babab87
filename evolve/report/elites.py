"""Programs that hold places in the archive, those of its Pareto front, and the best of each cell over two axes.

A program is one line, however many islands it lives on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolve.archive import Elite
from evolve.campaign import Campaign
from evolve.report.best import ObjectiveLine, objectives
from evolve.report.records import made_by, record_name, trust_of
from evolve.types import Axis, ConfigError, ProgramId, RecordId, Trust
from evolve.types.errors import did_you_mean


@dataclass(frozen=True, slots=True)
class EliteLine:
    """A program that holds places in the archive, on these islands. `isolation` and `trust` are those of the record, `weaker` says that it
    was judged under less isolation than the campaign's best; `kind` and
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
    violation: float = 0.0
    objectives: tuple[ObjectiveLine, ...] = ()
    weaker: bool = False


def elites(campaign: Campaign, limit: int | None = None) -> tuple[EliteLine, ...]:
    """The programs that hold a place, the best first, each once."""
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


@dataclass(frozen=True, slots=True)
class AxisLine:
    """An axis as the task says it. The one without a name has one bin, for an archive with one axis or none."""

    name: str
    low: float
    high: float
    bins: int


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A pair of bins, the best program there, and how many elites there are; `violation`: how far the program misses the constraints."""

    x_bin: int
    y_bin: int
    record: RecordId
    fitness: float
    elites: int
    violation: float = 0.0
    isolation: str = ""
    trust: Trust = "claimed"


@dataclass(frozen=True, slots=True)
class Heat:
    """The occupied cells, by their bins."""

    x: AxisLine
    y: AxisLine
    cells: tuple[HeatCell, ...]


_NONE = Axis("", 0.0, 1.0, 1)


def heat(campaign: Campaign, x: str = "", y: str = "", island: int | None = None) -> Heat:
    """The elites of an island, or of all, over two axes; without names over the first two. Of all that fall into one cell, because they
    differ elsewhere, the best is shown. Raises `ConfigError`."""
    axes = campaign.state.archive.axes
    first = _axis(campaign, x) if x else next(iter(axes), _NONE)
    second = _axis(campaign, y) if y else next((axis for axis in axes if axis.name != first.name), _NONE)
    _check_island(campaign, island)
    best: dict[tuple[int, int], Elite] = {}
    members: dict[tuple[int, int], set[str]] = {}
    for elite in campaign.state.archive.elites(island):
        place = (_bin(first, elite), _bin(second, elite))
        members.setdefault(place, set()).add(elite.program)
        if place not in best or _rank(elite) < _rank(best[place]):
            best[place] = elite
    cells = tuple(
        _cell(campaign, place, elite, len(members[place]))
        for place, elite in sorted(best.items(), key=lambda found: found[0])
    )
    return Heat(_line(first), _line(second), cells)


def _cell(campaign: Campaign, place: tuple[int, int], elite: Elite, elites: int) -> HeatCell:
    return HeatCell(
        *place,
        elite.record,
        campaign.task.fitness.shown(elite.fitness),
        elites,
        elite.violation,
        campaign.state.columns.isolations[elite.record - 1],
        trust_of(campaign, elite.record),
    )


def _axis(campaign: Campaign, name: str) -> Axis:
    known = {axis.name: axis for axis in campaign.state.archive.axes}
    if name not in known:
        raise ConfigError(
            f"campaign {campaign.name!r} has no axis {name!r}.{did_you_mean(name, known)} Do: name an axis of its task"
        )
    return known[name]


def _check_island(campaign: Campaign, island: int | None) -> None:
    islands = campaign.state.archive.settings.islands
    if island is not None and not 0 <= island < islands:
        raise ConfigError(f"campaign {campaign.name!r} has no island {island}. Do: name one of 0 to {islands - 1}")


def _bin(axis: Axis, elite: Elite) -> int:
    """As the grid counts: values outside an axis belong to its border."""
    value = elite.descriptors.get(axis.name, axis.low)
    share = min(max((value - axis.low) / (axis.high - axis.low), 0.0), 1.0)
    return min(int(share * axis.bins), axis.bins - 1)


def _rank(elite: Elite) -> tuple[float, float, RecordId]:
    return elite.violation, -elite.fitness, elite.record


def _line(axis: Axis) -> AxisLine:
    return AxisLine(axis.name, axis.low, axis.high, axis.bins)
