"""A campaign at a glance.

Invariant: it fits on a page, and no program is read for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.campaign import Campaign
from evolve.campaign.campaign import confirmed_best
from evolve.report.best import Best, best
from evolve.report.tally import OperatorYield, Tally


@dataclass(frozen=True, slots=True)
class Overview:
    """A campaign at a glance. `settings` by dotted sections; `cells` are those that are occupied, of `all_cells`."""

    name: str
    task: str
    task_version: str
    log: str
    settings: Mapping[str, Any]
    events: int
    records: int
    programs: int
    measurements: int
    screened: int
    seconds: float
    judge_seconds: float
    unfinished: int
    best: Best | None
    elites: int
    cells: int
    coverage: float
    qd_score: float
    outcomes: Mapping[str, int]
    operators: tuple[OperatorYield, ...]
    hardware: str
    isolation: str
    noise_floor: float | None
    difference: str


def overview(campaign: Campaign) -> Overview:
    """Everything of a campaign that fits on a page."""
    state, stats = campaign.state, campaign.state.archive.stats()
    progress, tally, machine = state.progress, Tally.of(state.history), state.machine
    return Overview(
        name=campaign.name,
        task=campaign.task.name,
        task_version=campaign.task.version,
        log=str(campaign.log.path),
        settings=campaign.settings.model_dump(mode="json"),
        events=campaign.log.count(),
        records=progress.records,
        programs=progress.programs,
        measurements=progress.measurements,
        screened=progress.screened,
        seconds=campaign.seconds,
        judge_seconds=progress.judge_seconds,
        unfinished=len(state.steps),
        best=best(campaign),
        elites=stats.elites,
        cells=stats.cells,
        coverage=stats.coverage,
        qd_score=stats.qd_score,
        outcomes=tally.counts(),
        operators=tally.yields(),
        hardware=machine.hardware if machine else "",
        isolation=machine.isolation if machine else "",
        noise_floor=state.noise_floor,
        difference=str(state.difference or ""),
    )


def budget_left(campaign: Campaign, now: float) -> str:
    """What is left of the budget, for a person; `now` in seconds since 1970."""
    progress = campaign.progress
    return campaign.budget.remaining(progress, confirmed_best(campaign), now)
