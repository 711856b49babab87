"""All that a report says, read from a campaign at one moment.

Invariant: the sections of a report read nothing else, so that the same values make the same report."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evolve import report
from evolve.campaign import Campaign
from evolve.campaign.campaign import opened_of
from evolve.config import Settings
from evolve.log import writer
from evolve.pages.progress import Step, steps
from evolve.report.held_out import Kept, kept
from evolve.report.interval import Limits, limits
from evolve.types import MachineMeasured, Ruled

FRONT = 200
"""Programs of the front that are drawn."""
RULED = 50
"""Rulings that are told."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a report was made, in UTC, and in seconds since 1970; by which version of evolve."""

    told: str
    seconds: float
    version: str


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that runs of the campaign were on, and how well its candidates were isolated."""

    hardware: str
    isolation: str


@dataclass(frozen=True, slots=True)
class Ruling:
    """A program that is quarantined, by the name of its first record."""

    name: str
    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A setting that is not at its default."""

    key: str
    value: Any
    default: Any


@dataclass(frozen=True, slots=True)
class Picture:
    """What a task has drawn; without an `svg`, `why` not."""

    svg: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a report says. `writer` is the process that goes on with the campaign, 0 where none does. `confirmed`: what is
    reported of the best was measured after it had won; `settings` are those that differ from the defaults; `versions` are those of the run that made the campaign; `screened` are what was never judged, by reasons."""

    moment: Moment
    writer: int
    overview: report.Overview
    left: str
    curve: tuple[report.Point, ...]
    confirmed: bool
    limits: Limits | None
    kept: Kept | None
    certificate: str
    evidence: report.Shown | None
    lineage: tuple[Step, ...]
    blame: tuple[report.BlameLine, ...]
    front: tuple[report.EliteLine, ...]
    failed: tuple[report.FailureClass, ...]
    screened: tuple[report.FailureClass, ...]
    rulings: tuple[Ruling, ...]
    machines: tuple[Machine, ...]
    versions: Mapping[str, str]
    settings: tuple[Changed, ...]
    judge_seconds: float
    measure_seconds: float


def findings(campaign: Campaign, moment: Moment) -> Findings:
    """Reads a campaign, which may go on meanwhile."""
    page, state = report.overview(campaign), campaign.state
    best, held_out = page.best, state.cases.held_out
    classes = report.failures(campaign, screened=True)
    return Findings(
        moment=moment,
        writer=writer(campaign.log.path) or 0,
        overview=page,
        left=report.budget_left(campaign, moment.seconds),
        curve=report.curve(campaign),
        confirmed=state.archive.best is not None and state.archive.best.reported is not None,
        limits=limits(best) if best else None,
        kept=kept(best, held_out, campaign.task.fitness) if best and held_out else None,
        certificate=report.certificate(campaign, best.record) if best and best.certified else "",
        evidence=report.whole(campaign, best.record) if best else None,
        lineage=steps(campaign, best.record) if best else (),
        blame=report.blame(campaign, best.record) if best else (),
        front=report.front(campaign, FRONT) if campaign.task.objectives else (),
        failed=tuple(one for one in classes if one.outcome != "screened"),
        screened=tuple(one for one in classes if one.outcome == "screened"),
        rulings=_rulings(campaign),
        machines=_machines(campaign),
        versions=dict(opened_of(campaign.log).versions),
        settings=changed(page.settings),
        judge_seconds=state.progress.judge_seconds,
        measure_seconds=state.progress.measure_seconds,
    )


def _rulings(campaign: Campaign) -> tuple[Ruling, ...]:
    first = campaign.state.columns.first_records()
    ruled: Sequence[tuple[Any, Ruled]] = list(islice(campaign.state.quarantined.items(), RULED))
    return tuple(
        Ruling(report.record_name(campaign, first[program]), ruling.by, ruling.why)
        for program, ruling in ruled
        if program in first
    )


def _machines(campaign: Campaign) -> tuple[Machine, ...]:
    """Each once, in the order in which the campaign came to them."""
    found = [stamped.event for stamped in campaign.log.events(only=MachineMeasured)]
    machines = (Machine(each.hardware, each.isolation) for each in found if isinstance(each, MachineMeasured))
    return tuple(dict.fromkeys(machines))


def changed(settings: Mapping[str, Any]) -> tuple[Changed, ...]:
    """The settings that are not at their defaults, by dotted keys. The task is none of them, nor is the number of judges, which the
    machine decides."""
    usual = dict(_flat(json.loads(Settings(task="").model_dump_json())))
    own = dict(_flat(settings))
    return tuple(
        Changed(key, value, usual.get(key))
        for key, value in own.items()
        if key not in ("task", "judges") and value != usual.get(key)
    )


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in tree.items():
        rows += _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) and value else [(f"{prefix}{key}", value)]
    return rows
