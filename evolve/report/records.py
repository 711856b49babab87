"""Settled records: as lines, as steps of a lineage, and one with everything that its score rests on.

A fitness comes with the isolation and the trust of its evaluation. A record is read from the log only where it is asked for, so that the cost does not grow with
the campaign, but for one look along the column of programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evolve.archive import Elite, Estimate
from evolve.campaign import Campaign
from evolve.campaign.history import KINDS
from evolve.types import (
    FAILURES,
    ConfigError,
    Direction,
    Origin,
    Outcome,
    ProgramId,
    Record,
    RecordId,
    Ruled,
    Settled,
    Task,
    Trust,
)


@dataclass(frozen=True, slots=True)
class RecordLine:
    """One settled record. `step` is the number of the step that made it, by which `evolve model calls` shows its prompts. `about` is the record that a measurement measures, 0 for others; `case` is empty but for those on a case. `violation` is how
    far the constraints are missed, 0 where they are met; `weaker`: it was evaluated under less isolation than the campaign's best; `tag` is the failure of integrity that its evaluator has seen, empty where there is none. `call`, `refusal` and `resembles`
    are those of the record: which call of the step its program was made of, and why it was screened."""

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
    call: int = -1
    refusal: str = ""
    resembles: ProgramId | None = None


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
        objectives={line.name: line.value for line in objectives(campaign.task, evaluation.objectives)},
        weaker=campaign.state.reached.weaker(evaluation.isolation),
        tag=evaluation.tag,
        call=origin.call,
        refusal=record.refusal,
        resembles=record.resembles,
    )


def measurements(campaign: Campaign, record: RecordId) -> tuple[RecordLine, ...]:
    """Returns the later records of the same program: it was confirmed, certified or measured for the noise."""
    program = campaign.state.history.program_id(record)
    later = enumerate(campaign.state.columns.programs[record:], record + 1)
    again = [number for number, other in later if program is not None and other == program]
    return tuple(record_line(campaign, campaign.log.settled(number)) for number in again)


def settled(campaign: Campaign, record: RecordId) -> Settled:
    """Returns a record with its placement; raises `ConfigError` with the range that there is."""
    length = len(campaign.state.history)
    if not 1 <= record <= length:
        span = f"it has 1 to {length}" if length else "it has none yet"
        raise ConfigError(
            f"campaign {campaign.name!r} has no record {record}: {span}. Try: `evolve program list {campaign.name} --all`"
        )
    return campaign.log.settled(record)


def lineage(campaign: Campaign, record: RecordId, last: int | None = None) -> tuple[LineageStep, ...]:
    """Returns the line of first parents from the seed to `record`, or its `last` steps; a measurement's line is that of what it measures."""
    return tuple(lineage_step(campaign, ancestor) for ancestor in line_to(campaign, record, last))


def line_to(campaign: Campaign, record: RecordId, last: int | None = None) -> tuple[RecordId, ...]:
    """Returns the records of that line, the seed first. Where a later evaluation of a program was the parent, that is the one in the line."""
    # A measurement has no parents of its own.
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


@dataclass(frozen=True, slots=True)
class ObjectiveLine:
    """A program's value of an objective."""

    name: str
    value: float
    direction: Direction
    digits: int


@dataclass(frozen=True, slots=True)
class MissedLine:
    """A constraint and the metric that misses it, with how far, in units of the bound."""

    metric: str
    value: float
    at_least: float | None
    at_most: float | None
    violation: float


@dataclass(frozen=True, slots=True)
class CaseScore:
    """Result of a program on a case that the search does not see, by record `name`; `seed` is what the seed program found there.
    `agrees`: the program is no worse than the seed."""

    case: str
    name: str
    outcome: str
    fitness: float | None
    seed: float | None
    agrees: bool


def objectives(task: Task, values: Mapping[str, float]) -> tuple[ObjectiveLine, ...]:
    """Maximised values as the user thinks of them, in the order of the task."""
    return tuple(
        ObjectiveLine(each.name, each.shown(values[each.name]), each.direction, each.digits)
        for each in task.objectives
        if each.name in values
    )


def missed(task: Task, metrics: Mapping[str, float]) -> tuple[MissedLine, ...]:
    """Returns the constraints that these metrics miss."""
    found = [
        MissedLine(each.metric, value, each.at_least, each.at_most, each.violation(value))
        for each in task.constraints
        if (value := metrics.get(each.metric)) is not None
    ]
    return tuple(line for line in found if line.violation > 0.0)


def cases(campaign: Campaign, program: ProgramId) -> tuple[CaseScore, ...]:
    """Returns a program on the cases that were measured, in the task's order."""
    shown = campaign.task.fitness.shown
    return tuple(
        CaseScore(
            case=found.case,
            name=record_name(campaign, found.record),
            outcome=found.outcome.value,
            fitness=None if found.fitness is None else shown(found.fitness),
            seed=None if found.seed is None else shown(found.seed),
            agrees=found.agrees,
        )
        for found in campaign.state.cases.results(program)
    )


def certificate(campaign: Campaign, record: RecordId) -> str:
    """Returns the name of the latest record that proves the value of `record`'s program; empty where none does."""
    return _last_certified(measurements(campaign, record))


def _last_certified(lines: Sequence[RecordLine]) -> str:
    return next((line.name for line in reversed(lines) if line.certified), "")


@dataclass(frozen=True, slots=True)
class CaseLine:
    """Result on a case that the fitness is made of, that of the first parent, and the best of all programs with its record; None where there is none."""

    case: str
    fitness: float
    parent: float | None
    best: float | None
    holder: RecordId


@dataclass(frozen=True, slots=True)
class EstimateLine:
    """Knowledge of a program's fitness, in the user's direction: the mean of so many evaluations, or a value that is `certified`."""

    fitness: float
    standard_error: float | None
    measurements: int
    certified: bool
    isolation: str
    trust: Trust


@dataclass(frozen=True, slots=True)
class OffspringCounts:
    """Numbers of children: how many a record's program has, and how many of them failed when they were evaluated or were screened."""

    children: int
    failed: int
    screened: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A record with what the log holds of it. `artifacts` are sizes in characters by name; `judged_again` are later measurements, of which the one
    that is named `certificate` proves the value. `estimate` is there for a program that holds a place, `reported` where it was measured since it won that;
    `results` are those on the cases that its fitness is made of; `cases` are what it found where the search does not look, `promoted`: these agree. `ruling` is there while the program is quarantined. `made` is the origin of the
    program, which for a measurement is that of what it measures; `best_child` is 0 where no child has passed."""

    record: RecordLine
    feedback: str
    thought: str
    descriptors: Mapping[str, float]
    metrics: Mapping[str, float]
    artifacts: Mapping[str, int]
    fingerprint: str
    environment: str
    judged_again: tuple[RecordLine, ...]
    files: Mapping[str, str]
    offspring: OffspringCounts
    ruling: Ruled | None
    certificate: str
    estimate: EstimateLine | None
    reported: EstimateLine | None
    results: tuple[CaseLine, ...]
    cases: tuple[CaseScore, ...]
    promoted: bool
    missed: tuple[MissedLine, ...]
    made: Origin
    is_best: bool
    stage: str
    best_child: RecordId


def whole(campaign: Campaign, record: RecordId) -> Shown:
    """Reads a record and its texts; raises `ConfigError` for one that there is not."""
    event, history, state = settled(campaign, record), campaign.state.history, campaign.state
    found, evaluation = event.record, event.record.evaluation
    again, offspring = measurements(campaign, record), _children(campaign, record)
    holder = _holder(campaign, found.program)
    return Shown(
        record=record_line(campaign, event),
        feedback=history.text(evaluation.feedback) if evaluation.feedback else "",
        thought=found.thought,
        descriptors=dict(evaluation.descriptors),
        metrics=dict(evaluation.metrics),
        artifacts={name: len(history.text(text)) for name, text in evaluation.artifacts.items()},
        fingerprint=evaluation.fingerprint,
        environment=evaluation.environment,
        judged_again=again,
        files=dict(history.program(found.program).files) if found.program else {},
        offspring=_count_offspring(campaign, offspring),
        ruling=state.quarantined.get(found.program) if found.program else None,
        certificate=_last_certified(again),
        estimate=None if holder is None else _estimate(campaign, holder.estimate, found),
        reported=None if holder is None else _estimate(campaign, holder.reported, found),
        results=_list_results(campaign, found),
        cases=cases(campaign, found.program) if found.program else (),
        promoted=found.program in state.archive.promoted,
        missed=missed(campaign.task, evaluation.metrics) if evaluation.fitness is not None else (),
        made=made_by(campaign, found),
        is_best=found.program is not None and holder is not None and holder is state.archive.best,
        stage=evaluation.stage,
        best_child=_find_best(campaign, offspring),
    )


def _list_results(campaign: Campaign, record: Record) -> tuple[CaseLine, ...]:
    history, found, shown = campaign.state.history, record.evaluation.cases, campaign.task.fitness.shown
    parents = [
        one for one in record.origin.parents if found and history.is_current(one) == history.is_current(record.id)
    ]
    before = history.cases(parents[0]) if parents else {}
    # In the order of the task, where it declares them.
    order = {case.name: place for place, case in enumerate(campaign.task.cases)}
    rows = []
    for name in sorted(found, key=lambda name: order.get(name, len(order))):
        holder, best = history.best_on_case(name, frozenset(campaign.state.quarantined)) or (0, None)
        parent = before.get(name)
        rows.append(
            CaseLine(
                name,
                shown(found[name]),
                None if parent is None else shown(parent),
                None if best is None else shown(best),
                holder,
            )
        )
    return tuple(rows)


def _holder(campaign: Campaign, program: ProgramId | None) -> Elite | None:
    """Returns the program in its role, where it holds a place or is the best."""
    archive = campaign.state.archive
    holders = [*([archive.best] if archive.best else []), *archive.elites()]
    return next((one for one in holders if one.program == program), None)


def _estimate(campaign: Campaign, estimate: Estimate | None, record: Record) -> EstimateLine | None:
    if estimate is None:
        return None
    return EstimateLine(
        campaign.task.fitness.shown(estimate.mean),
        estimate.standard_error,
        estimate.count,
        estimate.certified,
        record.evaluation.isolation,
        trust_of(campaign, record.id),
    )


def children(campaign: Campaign, record: RecordId, limit: int | None = None) -> tuple[RecordLine, ...]:
    """Returns the proposals that had a record's program as a parent, in the order in which they settled."""
    found = _children(campaign, record)[:limit]
    return tuple(record_line(campaign, campaign.log.settled(child)) for child in found)


def _children(campaign: Campaign, record: RecordId) -> list[RecordId]:
    """Returns the records of the children; a parent may be named by any record of its program."""
    columns = campaign.state.columns
    program = settled(campaign, record).record.program
    if program is None:
        return []
    # A child names the record that was its parent, which may be any evaluation of the program.
    same = (number for number, other in enumerate(columns.programs, 1) if other == program)
    return sorted({child for number in same for child in columns.children.get(number, ())})


def _count_offspring(campaign: Campaign, records: Sequence[RecordId]) -> OffspringCounts:
    outcomes = [campaign.state.history.outcome(record) for record in records]
    failed = sum(outcome in FAILURES for outcome in outcomes)
    return OffspringCounts(len(outcomes), failed, outcomes.count(Outcome.SCREENED))


def _find_best(campaign: Campaign, records: Sequence[RecordId]) -> RecordId:
    """Returns the fittest record, those that meet the constraints first; 0 where none has passed."""
    history = campaign.state.history
    fit = [
        (history.violation(record), -value, record)
        for record in records
        if (value := history.fitness(record)) is not None
    ]
    return min(fit)[2] if fit else 0
