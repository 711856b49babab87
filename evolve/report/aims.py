"""What a task wants beside the fitness: objectives with their Pareto front, and constraints.

Invariant: every number is in the user's direction, with the direction and the digits that the task says."""

from collections.abc import Mapping
from dataclasses import dataclass

from evolve.campaign import Campaign
from evolve.report.records import record_name
from evolve.types import Direction, RecordId, Task


@dataclass(frozen=True, slots=True)
class ObjectiveLine:
    """A program's value of an objective."""

    name: str
    value: float
    direction: Direction
    digits: int


@dataclass(frozen=True, slots=True)
class FrontLine:
    """The Pareto front as a whole. `hypervolume` is what it covers beyond `reference` (objectives by name, None where the seed's
    are not known yet), in the product of the objectives' units."""

    members: int
    hypervolume: float | None
    reference: Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class MissedLine:
    """A constraint and the metric that misses it, with how far, in units of the bound."""

    metric: str
    value: float
    at_least: float | None
    at_most: float | None
    violation: float


@dataclass(frozen=True, slots=True)
class Closest:
    """The program that misses the constraints by the least of all that hold a place, while none meets them. `missed` is what its record
    found; `violation` its estimate over all judgings."""

    name: str
    record: RecordId
    violation: float
    missed: tuple[MissedLine, ...]


def objectives(task: Task, values: Mapping[str, float]) -> tuple[ObjectiveLine, ...]:
    """Maximised values as the user thinks of them, in the order of the task."""
    return tuple(
        ObjectiveLine(each.name, each.shown(values[each.name]), each.direction, each.digits)
        for each in task.objectives
        if each.name in values
    )


def front_line(campaign: Campaign) -> FrontLine | None:
    """The front at a glance; None where the task has no objectives."""
    archive, task = campaign.state.archive, campaign.task
    if not task.objectives:
        return None
    reference = archive.reference
    shown = reference and {line.name: line.value for line in objectives(task, reference)}
    return FrontLine(len(archive.front()), archive.hypervolume, shown)


def missed(task: Task, metrics: Mapping[str, float]) -> tuple[MissedLine, ...]:
    """The constraints that these metrics miss."""
    found = [
        MissedLine(each.metric, value, each.at_least, each.at_most, each.violation(value))
        for each in task.constraints
        if (value := metrics.get(each.metric)) is not None
    ]
    return tuple(line for line in found if line.violation > 0.0)


def closest(campaign: Campaign) -> Closest | None:
    """Who misses the constraints by the least; None where some program meets them, or none has passed."""
    archive = campaign.state.archive
    if archive.best is not None:
        return None
    firsts = [archive.best_elite(island) for island in range(archive.settings.islands)]
    held = [elite for elite in firsts if elite is not None]
    found = min(held, key=lambda elite: (elite.violation, -elite.fitness, elite.record), default=None)
    if found is None or found.violation == 0.0:
        return None
    evaluation = campaign.log.settled(found.record).record.evaluation
    name = record_name(campaign, found.record)
    return Closest(name, found.record, found.violation, missed(campaign.task, evaluation.metrics))
