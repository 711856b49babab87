"""Outcomes of campaigns: how good the best program was at each amount spent, and the conditions that compared campaigns share.

Values alone, so that a campaign may be closed once it is read. Of a task that is noisy or has certificates no value counts that was not measured again."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from evolve import report, stop
from evolve.campaign import NOTHING_NEW, Campaign, best_confirmed, first_event
from evolve.stop import Amount
from evolve.types import Fitness, Progress, RecordId

Status = Literal["finished", "exhausted", "unfinished", "failed"]
Resource = stop.Resource
RESOURCES: tuple[Resource, ...] = tuple(name for name in get_args(Resource) if name != "gpu_seconds")
SLACK = 0.05
"""Share by which budgets that are not spent one by one, such as time, may differ."""
Reals = npt.NDArray[np.float64]

_UNRELATED = ("workers", "sandbox", "trackers", "outage.wait_seconds", "outage.model_wait_seconds")
"""Settings, and tables of them, that change nothing about the decisions of a search."""
_APART = ("seed", "budget", "task")


@dataclass(frozen=True, slots=True)
class Milestone:
    """Fitness of the best program, in the task's direction, once so much was spent."""

    spent: Progress
    fitness: float


@dataclass(frozen=True, slots=True)
class CampaignConditions:
    """Conditions of a campaign. `anchors` are values with the names of those who found them; `settings` are dotted keys, without those that differ between seeds, budgets and machines."""

    task: str
    version: str
    evolve: str
    hardware: str
    isolation: str
    workers: int
    deterministic: bool
    fitness: Fitness
    anchors: tuple[tuple[float, str], ...]
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CampaignOutcome:
    """Outcome of one campaign. `final` is the value that may be reported of its best program, None where there is none, and `problem` says why; `counted` is the resource that
    its budget counts; `seed_value` is None where the seed program misses a constraint; `trust` is that of the best program's score, `record` its name."""

    campaign: str
    strategy: str
    seed: int
    counted: Resource
    status: Status
    milestones: tuple[Milestone, ...]
    final: float | None
    spent: Progress
    conditions: CampaignConditions
    seed_value: float | None = None
    record: str = ""
    trust: str = ""
    problem: str = ""

    @property
    def has_ended(self) -> bool:
        """Going on with the campaign would change nothing."""
        return self.status != "unfinished"

    def describe(self) -> str:
        """Returns the outcome in a few words."""
        value = "no value" if self.final is None else f"{self.final:.{self.conditions.fitness.digits}g}"
        problem = f" [{self.problem}]" if self.problem else ""
        return f"{value} ({self.spent.programs} program{'' if self.spent.programs == 1 else 's'}){problem}"


def read_outcome(campaign: Campaign) -> CampaignOutcome:
    """Returns the outcome of an open campaign."""
    best, elite = report.best(campaign), campaign.state.archive.best
    final = best.fitness if best is not None and elite is not None and elite.reported is not None else None
    status = _status(campaign)
    return CampaignOutcome(
        campaign=campaign.name,
        strategy=campaign.settings.strategy.name,
        seed=campaign.settings.seed,
        counted=_budget_resource(campaign),
        status=status,
        milestones=_milestones(campaign, final),
        final=final,
        spent=campaign.state.progress,
        conditions=_conditions(campaign),
        seed_value=_seed_value(campaign),
        record=best.name if best else "",
        trust=best.trust if best else "",
        problem=_problem(campaign, status, final),
    )


def _seed_value(campaign: Campaign) -> float | None:
    state = campaign.state
    if not state.seed_values or state.history.violation(state.seed_record) > 0.0:
        return None
    return campaign.task.fitness.shown(math.fsum(state.seed_values) / len(state.seed_values))


def _budget_resource(campaign: Campaign) -> Resource:
    """Returns the resource that the first amount of the budget counts, else programs."""
    amounts = (leaf.unit.resource for leaf in campaign.budget.leaves()[:1] if isinstance(leaf, Amount))
    return next((resource for resource in amounts if resource != "gpu_seconds"), "programs")


def _status(campaign: Campaign) -> Status:
    state = campaign.state
    if state.seed_record and not state.seed_values:
        return "failed"
    if campaign.settings.budget and campaign.budget.spent(state.progress, best_confirmed(campaign), time.time()):
        return "finished"
    return "exhausted" if _is_exhausted(campaign) else "unfinished"


def _is_exhausted(campaign: Campaign) -> bool:
    """Returns whether no operator is left that is sure to find a parent."""
    if not campaign.operator_names:
        # The packages of its operators are not installed here, and a campaign that is only read needs none.
        return False
    names = campaign.askable(models=bool(campaign.settings.models.members))
    refused = campaign.state.refusals.unheard >= NOTHING_NEW
    return not any(campaign.traits(name).takes_one_elite for name in names) if refused else not names


def _problem(campaign: Campaign, status: Status, final: float | None) -> str:
    if status == "failed":
        return f"its seed program failed: {campaign.state.history.outcome(campaign.state.seed_record)}"
    if final is not None:
        return ""
    if campaign.state.archive.best is not None:
        return "its best was not measured again"
    return "no program passed" if campaign.state.seed_record else "nothing was evaluated"


def changes_search(key: str) -> bool:
    """Returns whether a setting, by its dotted key, changes the decisions of a search."""
    return not any(key == each or key.startswith(f"{each}.") for each in _UNRELATED)


def _conditions(campaign: Campaign) -> CampaignConditions:
    settings, machine = campaign.settings, campaign.state.machine
    plain = report.flatten_settings(settings.model_dump(mode="json"))
    return CampaignConditions(
        task=campaign.task.name,
        version=campaign.task.version,
        evolve=first_event(campaign.log).versions.get("evolve", ""),
        hardware=machine.hardware if machine else "",
        isolation=(machine.isolation if machine else "").partition(":")[0],
        workers=settings.workers,
        deterministic=campaign.task.deterministic,
        fitness=campaign.task.fitness,
        anchors=tuple((anchor.value, f"{anchor.by} {anchor.year or ''}".strip()) for anchor in campaign.task.anchors),
        settings={
            **{key: str(value) for key, value in plain if key not in _APART and changes_search(key)},
            "operators": ", ".join(campaign.operator_names),
        },
    )


def _milestones(campaign: Campaign, final: float | None) -> tuple[Milestone, ...]:
    """Returns each change of the best program's value; the last one is the value that is reported."""
    if campaign.task.deterministic and campaign.task.promotion != "certificate":
        changes = [(point.record, point.fitness) for point in report.curve(campaign)[:-1]]
    else:
        changes = list(_changes_of_means(campaign))
    columns, programs = campaign.state.columns, np.cumsum(report.frame(campaign).flag_programs())
    active = campaign.log.active_of(record for record, _ in changes)
    found = [
        Milestone(
            Progress(
                programs=int(programs[record - 1]),
                seconds=active[record],
                evaluations=columns.evaluations[record - 1],
                cases=columns.cases_seen[record - 1],
                calls=columns.calls[record - 1],
                tokens=columns.tokens[record - 1],
                money=columns.money[record - 1],
            ),
            fitness,
        )
        for record, fitness in changes
    ]
    if final is not None and (not found or found[-1].fitness != final):
        found.append(Milestone(campaign.state.progress, final))
    return tuple(found)


def _changes_of_means(campaign: Campaign) -> Iterator[tuple[RecordId, float]]:
    """Yields each record that changed the largest mean of measurements, with that mean."""
    # The first evaluation of a program, by which it was chosen, is too good on average and counts for nothing.
    frame, programs = report.frame(campaign), campaign.state.columns.programs
    measured = frame.kind("measurement") & ~np.isnan(frame.fitness) & (frame.violations == 0.0)
    measured &= ~report.flag_quarantined(campaign)
    measured[: frame.since] = False
    means, before = _LargestMean(), math.nan
    for place in np.flatnonzero(measured).tolist():
        value = means.add(str(programs[place]), float(frame.fitness[place]))
        if value != before:
            before = value
            yield place + 1, campaign.task.fitness.shown(value)


class _LargestMean:
    """Mean of each program's measurements, and the largest of them."""

    def __init__(self) -> None:
        self._means: dict[str, tuple[float, int]] = {}
        self._best = ""

    def add(self, program: str, value: float) -> float:
        """Adds a measurement; returns the largest mean. All means are compared only where that of the best program fell."""
        mean, count = self._means.get(program, (0.0, 0))
        now = mean + (value - mean) / (count + 1)
        self._means[program] = now, count + 1
        if program == self._best and now < mean:
            self._best = max(self._means, key=lambda name: self._means[name][0])
        elif not self._best or now > self._means[self._best][0]:
            self._best = program
        return self._means[self._best][0]


# --- outcomes at equal spending; fitness is larger the better here, and minus infinity where a campaign has none


def amount(spent: Progress, resource: Resource) -> float:
    """Returns how much of a resource was spent."""
    return float(stop.RESOURCES[resource].spent(spent))


def find_horizon(outcomes: list[CampaignOutcome], resource: Resource) -> float:
    """Returns the amount that every campaign has spent, apart from those that failed or could not go on: their value remains as it is."""
    running = [one for one in outcomes if one.status in ("finished", "unfinished")]
    if running:
        return min(amount(one.spent, resource) for one in running)
    return max((amount(one.spent, resource) for one in outcomes if one.status == "exhausted"), default=0.0)


def round_value(value: float, fitness: Fitness) -> float:
    """Returns a value with the digits that are shown: a difference beyond them is none."""
    return float(f"{value:.{fitness.digits}g}") if math.isfinite(value) else value


def values_at(outcome: CampaignOutcome, places: Reals, resource: Resource) -> Reals:
    """Returns the value of the best program at each amount spent."""
    if outcome.status == "failed" or not outcome.milestones:
        return np.full(len(places), -math.inf)
    fitness = outcome.conditions.fitness
    values = [round_value(fitness.inside(one.fitness), fitness) for one in outcome.milestones]
    spent = np.array([amount(one.spent, resource) for one in outcome.milestones])
    known = np.array([-math.inf, *values])
    return np.asarray(known[np.searchsorted(spent, places, side="right")], np.float64)


def final_value(outcome: CampaignOutcome, end: float, resource: Resource) -> float:
    """Returns the value at the amount `end`; of a campaign that ended there the one that it reports of its best program."""
    if amount(outcome.spent, resource) > end * (1.0 + (1e-9 if resource == "programs" else SLACK)):
        return float(values_at(outcome, np.array([end]), resource)[0])
    if outcome.status == "failed" or outcome.final is None:
        return -math.inf
    fitness = outcome.conditions.fitness
    return round_value(fitness.inside(outcome.final), fitness)
