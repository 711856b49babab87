"""One record with everything that its score rests on, its relatives, and the calls that made it.

Texts of one record and one program are read, and no others: the cost does not grow with the campaign, but for one look along the column of programs."""

from collections.abc import Mapping
from dataclasses import dataclass

from evolve.archive import Elite, Estimate
from evolve.campaign import Campaign
from evolve.report.best import CaseScore, MissedLine, cases, missed
from evolve.report.records import RecordLine, made_by, measurements, record_line, settled
from evolve.types import FAILURES, Origin, Outcome, ProgramId, Record, RecordId, Trust


@dataclass(frozen=True, slots=True)
class RulingLine:
    """By whom a program is quarantined, and why."""

    by: str
    why: str


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
    `cases` are what it found where the search does not look, `promoted`: these agree. `ruling` is there while the program is quarantined. `made` is the origin of the
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
    ruling: RulingLine | None
    certificate: str
    estimate: EstimateLine | None
    reported: EstimateLine | None
    cases: tuple[CaseScore, ...]
    promoted: bool
    missed: tuple[MissedLine, ...]
    made: Origin
    is_best: bool
    stage: str
    best_child: RecordId


def whole(campaign: Campaign, record: RecordId) -> Shown:
    """Reads a record and its texts; raises `StoreError` for one that there is not."""
    event, history, state = settled(campaign, record), campaign.state.history, campaign.state
    found, evaluation = event.record, event.record.evaluation
    again = measurements(campaign, record)
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
        offspring=offspring(campaign, record),
        ruling=_ruling(campaign, found.program),
        certificate=next((line.name for line in reversed(again) if line.certified), ""),
        estimate=None if holder is None else _estimate(campaign, holder.estimate, found),
        reported=None if holder is None else _estimate(campaign, holder.reported, found),
        cases=cases(campaign, found.program) if found.program else (),
        promoted=found.program in state.archive.promoted,
        missed=missed(campaign.task, evaluation.metrics) if evaluation.fitness is not None else (),
        made=made_by(campaign, found),
        is_best=found.program is not None and holder is not None and holder is state.archive.best,
        stage=evaluation.stage,
        best_child=find_best_child(campaign, record),
    )


def _holder(campaign: Campaign, program: ProgramId | None) -> Elite | None:
    """Returns the program in its role, where it holds a place or is the best."""
    archive = campaign.state.archive
    holders = [*([archive.best] if archive.best else []), *archive.elites()]
    return next((one for one in holders if one.program == program), None)


def _estimate(campaign: Campaign, estimate: Estimate | None, record: Record) -> EstimateLine | None:
    if estimate is None:
        return None
    mean, evaluation = campaign.task.fitness.shown(estimate.mean), record.evaluation
    is_claimed = record.program in campaign.state.claimed
    return EstimateLine(
        mean,
        estimate.standard_error,
        estimate.count,
        estimate.certified,
        evaluation.isolation,
        "claimed" if is_claimed else evaluation.trust,
    )


def _ruling(campaign: Campaign, program: ProgramId | None) -> RulingLine | None:
    ruling = campaign.state.quarantined.get(program) if program else None
    return None if ruling is None else RulingLine(ruling.by, ruling.why)


def children(campaign: Campaign, record: RecordId, limit: int | None = None) -> tuple[RecordLine, ...]:
    """Returns the proposals that had a record's program as a parent, in the order in which they settled."""
    found = _children(campaign, record)[:limit]
    return tuple(record_line(campaign, campaign.log.settled(child)) for child in found)


def offspring(campaign: Campaign, record: RecordId) -> OffspringCounts:
    """Returns the children of a record's program, counted."""
    history = campaign.state.history
    outcomes = [history.outcome(child) for child in _children(campaign, record)]
    failed = sum(outcome in FAILURES for outcome in outcomes)
    return OffspringCounts(len(outcomes), failed, outcomes.count(Outcome.SCREENED))


def _children(campaign: Campaign, record: RecordId) -> list[RecordId]:
    """Returns the records of the children; a parent may be named by any record of its program."""
    columns = campaign.state.columns
    program = settled(campaign, record).record.program
    if program is None:
        return []
    same = (number for number, other in enumerate(columns.programs, 1) if other == program)
    return sorted({child for number in same for child in columns.children.get(number, ())})


def find_best_child(campaign: Campaign, record: RecordId) -> RecordId:
    """Returns the fittest child, those that meet the constraints first; 0 where none has passed."""
    history = campaign.state.history
    fit = [
        (history.violation(child), -value, child)
        for child in history.children(record)
        if (value := history.fitness(child)) is not None
    ]
    return min(fit)[2] if fit else 0
