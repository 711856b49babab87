"""Settled records as lines, and where a program comes from.

A fitness comes with the isolation and the trust of its evaluation; whole records are read one by one, and only where a line of them is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evolve.campaign import Campaign
from evolve.campaign.history import KINDS
from evolve.types import Origin, Record, RecordId, Settled, StoreError, Trust


@dataclass(frozen=True, slots=True)
class RecordLine:
    """One settled record. `step` is the number of the step that made it, by which `evolve model calls` shows its prompts. `about` is the record that a measurement measures, 0 for others; `case` is empty but for those on a case. `violation` is how
    far the constraints are missed, 0 where they are met; `weaker`: it was evaluated under less isolation than the campaign's best; `tag` is the failure of integrity that its evaluator has seen, empty where there is none."""

    name: str
    id: RecordId
    step: int
    kind: str
    operator: str
    model: str
    parents: tuple[RecordId, ...]
    about: RecordId
    why: str
    program: str | None
    outcome: str
    fitness: float | None
    standard_error: float | None
    certified: bool
    insertion: str
    island: int
    cell: int
    seconds: float
    cpu_seconds: float
    isolation: str
    trust: Trust
    cached_from: str
    case: str = ""
    violation: float = 0.0
    objectives: Mapping[str, float] = field(default_factory=dict)
    weaker: bool = False
    tag: str = ""


@dataclass(frozen=True, slots=True)
class LineageStep:
    """An ancestor, and what its operator changed: `change` is its fitness minus that of its first parent, if both have one and one
    version of the task evaluated both. `calls` of models, their `tokens` and `money` (US dollars) are those of the step that made it."""

    name: str
    record: RecordId
    kind: str
    operator: str
    parents: tuple[RecordId, ...]
    outcome: str
    fitness: float | None
    change: float | None
    isolation: str
    trust: Trust
    weaker: bool = False
    calls: int = 0
    tokens: int = 0
    money: float = 0.0


def record_name(campaign: Campaign, record: RecordId) -> str:
    """`NAME/123`."""
    return f"{campaign.name}/{record}"


def record_line(campaign: Campaign, event: Settled) -> RecordLine:
    """Returns one settled record as a line."""
    record, origin, evaluation = event.record, event.record.origin, event.record.evaluation
    fitness = evaluation.fitness
    return RecordLine(
        name=record_name(campaign, record.id),
        id=record.id,
        step=origin.step,
        kind=origin.kind,
        operator=origin.operator,
        model=origin.model,
        parents=origin.parents,
        about=origin.about,
        why=origin.why,
        program=record.program,
        outcome=evaluation.outcome.value,
        fitness=None if fitness is None else campaign.task.fitness.shown(fitness),
        standard_error=evaluation.standard_error,
        certified=evaluation.certified,
        insertion=event.placement.insertion.name,
        island=event.placement.island,
        cell=event.placement.cell,
        seconds=evaluation.seconds,
        cpu_seconds=evaluation.cpu_seconds,
        isolation=evaluation.isolation,
        trust=evaluation.trust,
        cached_from=evaluation.cached_from,
        case=origin.case,
        violation=evaluation.violation,
        objectives={
            each.name: each.shown(evaluation.objectives[each.name])
            for each in campaign.task.objectives
            if each.name in evaluation.objectives
        },
        weaker=campaign.state.reached.weaker(evaluation.isolation),
        tag=evaluation.tag,
    )


def measurements(campaign: Campaign, record: RecordId) -> tuple[RecordLine, ...]:
    """Returns the later records of the same program: it was confirmed, certified or measured for the noise."""
    program = campaign.state.history.program_id(record)
    later = enumerate(campaign.state.columns.programs[record:], record + 1)
    again = [number for number, other in later if program is not None and other == program]
    return tuple(record_line(campaign, campaign.log.settled(number)) for number in again)


def settled(campaign: Campaign, record: RecordId) -> Settled:
    """Returns a record with its placement; raises `StoreError` with the range that there is."""
    length = len(campaign.state.history)
    if not 1 <= record <= length:
        span = f"it has 1 to {length}" if length else "it has none yet"
        raise StoreError(
            f"campaign {campaign.name!r} has no record {record}: {span}. Try: `evolve program list {campaign.name} --all`"
        )
    return campaign.log.settled(record)


def lineage(campaign: Campaign, record: RecordId, last: int | None = None) -> tuple[LineageStep, ...]:
    """Returns the line of first parents from the seed to `record`, or its `last` steps; a measurement's line is that of what it measures."""
    return tuple(lineage_step(campaign, ancestor) for ancestor in line_to(campaign, record, last))


def line_to(campaign: Campaign, record: RecordId, last: int | None = None) -> tuple[RecordId, ...]:
    """Returns the records of that line, the seed first. Where a later evaluation of a program was the parent, that is the one in the line."""
    about = settled(campaign, record).record.origin.about
    line = [about or record]
    while (last is None or len(line) < last) and (parents := _parents(campaign, line[-1])):
        line.append(parents[0])
    return tuple(reversed(line))


def _parents(campaign: Campaign, record: RecordId) -> tuple[RecordId, ...]:
    """Returns the parents of the program: a measurement's are those of what it measures."""
    columns = campaign.state.columns
    if KINDS[columns.kinds[record - 1]] == "measurement":
        return made_by(campaign, campaign.log.settled(record).record).parents
    return columns.parents[record - 1]


def trust_of(campaign: Campaign, record: RecordId) -> Trust:
    """Returns who computed a record's score; claimed, where any score of its program is."""
    columns = campaign.state.columns
    return "claimed" if columns.programs[record - 1] in campaign.state.claimed else columns.trusts[record - 1]


def lineage_step(campaign: Campaign, record: RecordId) -> LineageStep:
    """Returns a record as a step of a lineage."""
    history, shown = campaign.state.history, campaign.task.fitness.shown
    fitness, parents = history.fitness(record), history.parents(record)
    before = history.fitness(parents[0]) if parents and _comparable(campaign, record, parents[0]) else None
    whole = campaign.log.settled(record).record
    origin, evaluation = made_by(campaign, whole), whole.evaluation
    taken = campaign.state.calls.of_steps([origin.step] if origin.step else [])
    return LineageStep(
        name=record_name(campaign, record),
        record=record,
        kind=origin.kind,
        operator=origin.operator,
        parents=parents,
        outcome=history.outcome(record).value,
        fitness=None if fitness is None else shown(fitness),
        change=None if fitness is None or before is None else shown(fitness) - shown(before),
        isolation=evaluation.isolation,
        trust=evaluation.trust,
        weaker=campaign.state.reached.weaker(evaluation.isolation),
        calls=taken.calls,
        tokens=taken.prompt_tokens + taken.completion_tokens,
        money=taken.money,
    )


def made_by(campaign: Campaign, record: Record) -> Origin:
    """Returns how a record's program was made: a measurement's is that of what it measures."""
    about = record.origin.about
    return campaign.log.settled(about).record.origin if about else record.origin


def _comparable(campaign: Campaign, record: RecordId, other: RecordId) -> bool:
    """Neither is on the other side of the newest change of the task."""
    since = campaign.state.columns.since
    return (record > since) == (other > since)
