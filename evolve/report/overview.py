"""A campaign at a glance.

Invariant: it fits on a page, and no program is read for it."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal, TypeAlias

from evolve.campaign import Campaign
from evolve.campaign.campaign import best_confirmed, first_event, settings_of, task_of
from evolve.campaign.folds import ModelFailures
from evolve.campaign.inbox import PERSON
from evolve.config import Settings
from evolve.log import Log, writer
from evolve.report.best import Best, Closest, FrontLine, best, closest, front_line
from evolve.report.calls import Costs, costs
from evolve.report.outcomes import Yield, tally
from evolve.report.records import record_name
from evolve.types import EvolveError, Fitness, Lesson, Paused, Progress
from evolve.types.errors import without_remedy


@dataclass(frozen=True, slots=True)
class Overview:
    """A campaign at a glance. `settings` by dotted sections; `cells` are those that are occupied. `forked_from` names the campaign whose
    records it began with; `former_records` counts those that an earlier version of the task evaluated, and `former_elites` the programs of
    the archive then that this version has not evaluated. `left_out` are operators that are not asked, with the reason of each; `closest` is there
    while no program meets the task's constraints, `front` where the task has objectives, `costs` where models were called. `failures` are
    models with failed calls; `notes` count the steps that make none, which are not among the screened."""

    name: str
    task: str
    task_version: str
    log: str
    settings: Mapping[str, Any]
    events: int
    records: int
    programs: int
    measurements: int
    previews: int
    screened: int
    seconds: float
    judge_seconds: float
    unfinished: int
    forked_from: str
    rejudged: int
    former_records: int
    former_elites: int
    quarantined: tuple[str, ...]
    lessons: tuple[Lesson, ...]
    best: Best | None
    closest: Closest | None
    front: FrontLine | None
    elites: int
    cells: int
    coverage: float
    qd_score: float
    outcomes: Mapping[str, int]
    operators: tuple[Yield, ...]
    models: tuple[Yield, ...]
    notes: int
    failures: tuple[ModelFailures, ...]
    costs: Costs | None
    left_out: Mapping[str, str]
    hardware: str
    isolation: str
    noise_floor: float | None
    difference: str
    paused: bool = False


def overview(campaign: Campaign) -> Overview:
    """Returns everything of a campaign that fits on a page."""
    state, stats = campaign.state, campaign.state.archive.stats()
    progress, counts, machine = state.progress, tally(campaign), state.machine
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
        previews=progress.previews,
        screened=progress.screened,
        seconds=campaign.seconds,
        judge_seconds=progress.judge_seconds,
        unfinished=len(state.steps),
        forked_from=campaign.forked_from,
        rejudged=progress.rejudged,
        former_records=state.columns.since,
        former_elites=_count_former(campaign),
        quarantined=_name_quarantined(campaign),
        lessons=tuple(state.lessons),
        best=best(campaign),
        closest=closest(campaign),
        front=front_line(campaign),
        elites=stats.elites,
        cells=stats.cells,
        coverage=stats.coverage,
        qd_score=stats.qd_score,
        outcomes=counts.outcomes,
        operators=counts.operators,
        models=counts.models,
        notes=counts.notes,
        failures=state.calls.failures(),
        costs=costs(campaign),
        left_out=left_out(campaign),
        hardware=machine.hardware if machine else "",
        isolation=machine.isolation if machine else "",
        noise_floor=state.noise_floor,
        difference=str(state.difference or ""),
        paused=state.paused,
    )


def left_out(campaign: Campaign) -> Mapping[str, str]:
    """Returns the operators that are not asked, or only seldom until the archive changes, with the reason of each."""
    usable, state = campaign.usable_operators, campaign.state
    unmeant = {name: _explain_unmeant(campaign, name) for name in campaign.operator_names if name not in usable}
    refused = {name: state.history.text(why) for name, why in state.refusals.list_tired().items() if name in usable}
    return {**unmeant, **{name: without_remedy(why) for name, why in refused.items()}}


def _explain_unmeant(campaign: Campaign, name: str) -> str:
    below, took = campaign.plugins.operators[name].entry.embedded_below_seconds, campaign.state.seed_seconds
    if below is not None and took is not None and took >= below:
        return f"meant for tasks whose seed is evaluated in less than {below:g} s, and this one's took {took:.2g} s"
    return "meant for tasks of another kind"


def _count_former(campaign: Campaign) -> int:
    state = campaign.state
    programs = (state.columns.programs[record - 1] for record in state.former)
    return sum(program not in state.evaluated and program not in state.quarantined for program in programs)


def _name_quarantined(campaign: Campaign) -> tuple[str, ...]:
    """Returns the first record of each, by its name; a program that was ruled out before it was seen has none."""
    if not campaign.state.quarantined:
        return ()
    first = campaign.state.columns.first_records()
    return tuple(record_name(campaign, first[program]) for program in campaign.state.quarantined if program in first)


def lessons_learnt(campaign: Campaign) -> int:
    """Counts the lessons that operators have written; those of a person are not among them."""
    return sum(lesson.by != PERSON for lesson in campaign.state.lessons)


def budget_left(campaign: Campaign, now: float) -> str:
    """Returns what is left of the budget, for a person; `now` in seconds since 1970."""
    progress = campaign.progress
    return campaign.budget.remaining(progress, best_confirmed(campaign), now)


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """One of the single budgets: as it was written, the share that is used, and the rest."""

    said: str
    used: float
    left: str


def budget_lines(campaign: Campaign, spent: Progress, now: float) -> tuple[BudgetLine, ...]:
    """Returns what may be spent, budget by budget; `now` in seconds since 1970."""
    best = best_confirmed(campaign)
    return tuple(
        BudgetLine(str(leaf), leaf.used(spent, best, now), leaf.remaining(spent, best, now))
        for leaf in campaign.budget.leaves()
    )


def versions(campaign: Campaign) -> Mapping[str, str]:
    """Returns the versions of the run that made the campaign."""
    return dict(first_event(campaign.log).versions)


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """A setting that is not at its default."""

    key: str
    value: Any
    default: Any


def find_changed_settings(settings: Mapping[str, Any]) -> tuple[ChangedSetting, ...]:
    """Returns the settings that are not at their defaults, by dotted keys; neither the task nor the number of workers, which the machine decides."""
    usual = dict(flatten_settings(json.loads(Settings(task="").model_dump_json())))
    return tuple(
        ChangedSetting(key, value, usual.get(key))
        for key, value in flatten_settings(settings)
        if key not in ("task", "workers") and value != usual.get(key)
    )


def flatten_settings(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Returns nested settings as rows of dotted keys and values."""
    rows: list[tuple[str, Any]] = []
    for key, value in tree.items():
        nested = isinstance(value, Mapping) and value
        rows += flatten_settings(value, f"{prefix}{key}.") if nested else [(f"{prefix}{key}", value)]
    return rows


CampaignStatus: TypeAlias = Literal["running", "paused", "seed failed", ""]


@dataclass(frozen=True, slots=True)
class CampaignLine:
    """Line of a list of campaigns. `best` is the best fitness of one evaluation that holds or held a place, in the user's direction; of a noisy task the mean
    of all evaluations of that program, with its `standard_error` where there are two or more. `written` is the time of the last write; `problem` is why the log cannot be read, and `fitness` is None then."""

    name: str
    log: str
    megabytes: float
    written: str
    task: str = "-"
    strategy: str = "-"
    budget: tuple[str, ...] = ()
    events: int = 0
    state: CampaignStatus = ""
    programs: int = 0
    best: float | None = None
    standard_error: float | None = None
    fitness: Fitness | None = None
    problem: str = ""


def read_campaign_line(path: Path) -> CampaignLine:
    """Returns the line of the campaign whose log is at `path`."""
    # Without a replay: a workspace may have hundreds of campaigns, and a replay of one takes seconds.
    status = path.stat()
    written = datetime.fromtimestamp(status.st_mtime).isoformat(" ", "minutes")
    line = CampaignLine(path.stem, str(path), status.st_size / 1e6, written)
    try:
        with Log.open(path, readonly=True) as log:
            task, settings, (programs, values) = task_of(log), settings_of(log), log.count_judged()
            noisy = not task.deterministic and len(values) > 1
            best = fmean(values) if noisy else values[0] if values else None
            return replace(
                line,
                task=task.name,
                strategy=settings.strategy.name,
                budget=tuple(settings.budget),
                events=log.count(),
                state=_read_state(log),
                programs=programs,
                best=None if best is None else task.fitness.shown(best),
                standard_error=stdev(values) / math.sqrt(len(values)) if noisy else None,
                fitness=task.fitness,
            )
    except EvolveError as error:
        return replace(line, problem=str(error))


def _read_state(log: Log) -> CampaignStatus:
    if writer(log.path) is None:
        return "" if log.seed_outcome() in ("", "ok") else "seed failed"
    last = [stamped.event for stamped in log.events(only=Paused)][-1:]
    return "paused" if any(isinstance(event, Paused) and event.paused for event in last) else "running"
