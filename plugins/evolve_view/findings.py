"""Values of a report, read from a campaign at one moment: a report says nothing that is not here, in the task or in the settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from evolve import report
from evolve.campaign import Campaign
from evolve.report import FitnessLimits, Kept
from evolve.types import MachineMeasured, RecordId

FRONT = 200
"""Programs of the front that are drawn."""
_RULED = 50
"""Rulings that are listed."""
_STEPS, _LAST = 24, 4
"""Steps of a lineage whose differences are shown, and of these the ones before its end, whatever they gained."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a report was made, in UTC, and in seconds since 1970; by which version of evolve."""

    told: str
    seconds: float
    version: str


@dataclass(frozen=True, slots=True)
class CampaignMachine:
    """A machine that runs of the campaign were on, and how well its candidates were isolated."""

    hardware: str
    isolation: str


@dataclass(frozen=True, slots=True)
class QuarantinedProgram:
    """A program that is quarantined, by the name of its first record."""

    name: str
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class TaskPicture:
    """The picture that a task draws; without an `svg`, `why` there is none."""

    svg: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class ToldStep:
    """One step of a lineage. `thought` is what its operator or model said; `others` are the parents but the first, by their names. `differences` is
    empty for a step that is not `told`, and for one that changed nothing."""

    line: report.LineageStep
    model: str
    step: int
    thought: str
    others: tuple[str, ...]
    told: bool
    differences: tuple[report.Difference, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The values of a report. `writer` is the process that goes on with the campaign, 0 where none does. `confirmed`: what is reported of the best was
    measured after it had won; `settings` are those that differ from the defaults; `versions` are those of the run that made the campaign; `screened` are
    proposals that were never judged, by reasons."""

    moment: Moment
    writer: int
    overview: report.Overview
    left: str
    curve: tuple[report.Point, ...]
    confirmed: bool
    limits: FitnessLimits | None
    kept: Kept | None
    certificate: str
    evidence: report.Shown | None
    lineage: tuple[ToldStep, ...]
    blame: tuple[report.BlameLine, ...]
    front: tuple[report.EliteLine, ...]
    failed: tuple[report.FailureClass, ...]
    screened: tuple[report.FailureClass, ...]
    rulings: tuple[QuarantinedProgram, ...]
    machines: tuple[CampaignMachine, ...]
    versions: Mapping[str, str]
    settings: tuple[report.ChangedSetting, ...]
    judge_seconds: float
    measure_seconds: float


def read_findings(campaign: Campaign, moment: Moment) -> Findings:
    """Reads a campaign, which may go on meanwhile."""
    overview, state = report.overview(campaign), campaign.state
    best, held_out = overview.best, state.cases.held_out
    classes = report.failures(campaign, screened=True)
    return Findings(
        moment=moment,
        writer=report.writer(campaign.log.path) or 0,
        overview=overview,
        left=report.budget_left(campaign, moment.seconds),
        curve=report.curve(campaign),
        confirmed=state.archive.best is not None and state.archive.best.reported is not None,
        limits=report.limits(best) if best else None,
        kept=report.kept(best, held_out, campaign.task.fitness) if best and held_out else None,
        certificate=report.certificate(campaign, best.record) if best and best.certified else "",
        evidence=report.whole(campaign, best.record) if best else None,
        lineage=read_steps(campaign, best.record) if best else (),
        blame=report.blame(campaign, best.record) if best else (),
        front=report.front(campaign, FRONT) if campaign.task.objectives else (),
        failed=tuple(one for one in classes if one.outcome != "screened"),
        screened=tuple(one for one in classes if one.outcome == "screened"),
        rulings=_read_rulings(campaign),
        machines=_read_machines(campaign),
        versions=report.versions(campaign),
        settings=report.changed_settings(overview.settings),
        judge_seconds=state.progress.judge_seconds,
        measure_seconds=state.progress.measure_seconds,
    )


def read_steps(campaign: Campaign, record: RecordId) -> tuple[ToldStep, ...]:
    """Reads the line of first parents from the seed to a program. Of a long line, the steps that changed the fitness most and the last ones come with
    their differences."""
    line = report.lineage(campaign, record)
    made = [step for step in line if step.parents]
    told = {step.record for step in made}
    if len(made) > _STEPS:
        most = sorted(made[:-_LAST], key=lambda step: -abs(step.change or 0.0))[: _STEPS - _LAST]
        told = {step.record for step in [*most, *made[-_LAST:]]}
    return tuple(_read_step(campaign, each, told=each.record in told) for each in line)


def _read_step(campaign: Campaign, line: report.LineageStep, *, told: bool) -> ToldStep:
    record = campaign.log.settled(line.record).record
    made = campaign.log.settled(record.origin.about).record if record.origin.about else record
    return ToldStep(
        line=line,
        model=made.origin.model,
        step=made.origin.step,
        thought=made.thought,
        others=tuple(report.record_name(campaign, parent) for parent in line.parents[1:]),
        told=told,
        differences=report.difference(campaign, line.parents[0], line.record) if told else (),
    )


def _read_rulings(campaign: Campaign) -> tuple[QuarantinedProgram, ...]:
    first = campaign.state.columns.first_records()
    return tuple(
        QuarantinedProgram(report.record_name(campaign, first[program]), ruling.by, ruling.why)
        for program, ruling in islice(campaign.state.quarantined.items(), _RULED)
        if program in first
    )


def _read_machines(campaign: Campaign) -> tuple[CampaignMachine, ...]:
    """Returns each machine once, in the order in which the campaign came to them."""
    events = (stamped.event for stamped in campaign.log.events(only=MachineMeasured))
    machines = (CampaignMachine(one.hardware, one.isolation) for one in events if isinstance(one, MachineMeasured))
    return tuple(dict.fromkeys(machines))
