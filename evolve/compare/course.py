"""What a comparison takes from one campaign: how good its best was when, what was spent, and the circumstances that others must share.

Invariant: values alone, so that the campaign may be closed; of a task that is noisy or has certificates no value counts that was not measured
again."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from evolve import report
from evolve.campaign import Campaign
from evolve.campaign.campaign import confirmed_best, opened_of
from evolve.campaign.refusals import NOTHING_NEW
from evolve.report.frame import Frame, frame, quarantined
from evolve.types import Fitness, Task

Status = Literal["finished", "exhausted", "unfinished", "failed"]


@dataclass(frozen=True, slots=True)
class Mark:
    """When this was spent, the best was worth `fitness`, in the user's direction."""

    programs: int
    seconds: float
    calls: int
    tokens: int
    money: float
    fitness: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What a campaign took in total; `measurements` are counted by no budget."""

    programs: int
    measurements: int
    screened: int
    seconds: float
    judge_seconds: float
    calls: int
    tokens: int
    money: float


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What campaigns that are compared have in common, or should have. `anchors` are values with the names of those who found them, `settings` dotted keys, without
    seed, budget, what follows from the machine, and what changes no search, such as trackers."""

    task: str
    version: str
    evolve: str
    hardware: str
    isolation: str
    judges: int
    deterministic: bool
    fitness: Fitness
    anchors: tuple[tuple[float, str], ...]
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Course:
    """One campaign. `marks` in their order; `final` is what may be reported of the best now, None where there is nothing. `problem` says what is
    wrong with a campaign that counts as failed, or that has no value; `seed_value` is what the task's seed program was found to be worth, None where that misses a
    constraint. `trust` is that of the best's score, `record` its name."""

    campaign: str
    strategy: str
    seed: int
    budget: tuple[str, ...]
    status: Status
    marks: tuple[Mark, ...]
    final: float | None
    spent: Spent
    circumstances: Circumstances
    seed_value: float | None = None
    record: str = ""
    trust: str = ""
    certified: bool = False
    problem: str = ""

    @property
    def ended(self) -> bool:
        """Nothing would come of going on with it."""
        return self.status != "unfinished"

    def told(self) -> str:
        """In a few words."""
        value = "no value" if self.final is None else f"{self.final:.{self.circumstances.fitness.digits}g}"
        problem = f" [{self.problem}]" if self.problem else ""
        return f"{value} ({self.spent.programs} program{'' if self.spent.programs == 1 else 's'}){problem}"


def course(campaign: Campaign) -> Course:
    """What a comparison takes from a campaign."""
    best, spent = report.best(campaign), _spent(campaign)
    final = _final(campaign, best)
    status = _status(campaign)
    return Course(
        campaign=campaign.name,
        strategy=campaign.settings.strategy.name,
        seed=campaign.settings.seed,
        budget=campaign.settings.budget,
        status=status,
        marks=_marks(campaign, final, spent),
        final=final,
        spent=spent,
        circumstances=_circumstances(campaign),
        seed_value=_seed_value(campaign),
        record=best.name if best else "",
        trust=best.trust if best else "",
        certified=bool(best and best.certified),
        problem=_problem(campaign, status, final),
    )


def wants_measurements(task: Task) -> bool:
    """Whether a value counts only when it was measured again."""
    return not task.deterministic or task.promotion == "certificate"


def _final(campaign: Campaign, best: report.Best | None) -> float | None:
    """As it is reported: of a noisy task by what was measured after the best won."""
    elite = campaign.state.archive.best
    return best.fitness if best is not None and elite is not None and elite.reported is not None else None


def _seed_value(campaign: Campaign) -> float | None:
    state = campaign.state
    if not state.seed_values or state.history.violation(state.seed_record) > 0.0:
        return None
    return campaign.task.fitness.shown(math.fsum(state.seed_values) / len(state.seed_values))


def _status(campaign: Campaign) -> Status:
    if _seed_failed(campaign):
        return "failed"
    progress = campaign.state.progress
    if campaign.settings.budget and campaign.budget.spent(progress, confirmed_best(campaign), time.time()):
        return "finished"
    return "exhausted" if _is_exhausted(campaign) else "unfinished"


def _is_exhausted(campaign: Campaign) -> bool:
    """Nobody may be asked any more who is sure to find a parent."""
    names = campaign.askable(models=bool(campaign.settings.models.members))
    refused = campaign.state.refusals.unheard >= NOTHING_NEW
    return not any(campaign.traits(name).takes_one_elite for name in names) if refused else not names


def _seed_failed(campaign: Campaign) -> bool:
    return bool(campaign.state.seed_record) and not campaign.state.seed_values


def _problem(campaign: Campaign, status: Status, final: float | None) -> str:
    if status == "failed":
        return f"its seed program failed: {campaign.state.history.outcome(campaign.state.seed_record)}"
    if final is not None:
        return ""
    if campaign.state.archive.best is not None:
        return "its best was not measured again"
    return "no program passed" if campaign.state.seed_record else "nothing was judged"


def _spent(campaign: Campaign) -> Spent:
    progress = campaign.state.progress
    return Spent(
        programs=progress.programs,
        measurements=progress.measurements,
        screened=progress.screened,
        seconds=progress.seconds,
        judge_seconds=progress.judge_seconds,
        calls=progress.calls,
        tokens=progress.tokens,
        money=progress.money,
    )


BESIDE = ("judges", "sandbox", "trackers", "outage.wait_seconds", "outage.model_wait_seconds")
"""Settings, and tables of them, that change nothing about what a search decides."""
_APART = ("seed", "budget", "task", "cache")


def beside(key: str) -> bool:
    """Whether a dotted key is one of these, or in one of their tables."""
    return any(key == each or key.startswith(f"{each}.") for each in BESIDE)


def _circumstances(campaign: Campaign) -> Circumstances:
    settings, machine = campaign.settings, campaign.state.machine
    plain = settings.model_dump(mode="json")
    return Circumstances(
        task=campaign.task.name,
        version=campaign.task.version,
        evolve=opened_of(campaign.log).versions.get("evolve", ""),
        hardware=machine.hardware if machine else "",
        isolation=(machine.isolation if machine else "").partition(":")[0],
        judges=settings.judges,
        deterministic=campaign.task.deterministic,
        fitness=campaign.task.fitness,
        anchors=tuple((anchor.value, f"{anchor.by} {anchor.year or ''}".strip()) for anchor in campaign.task.anchors),
        settings={
            **{key: value for key, value in _flat(plain) if not (key in _APART or beside(key))},
            "operators": ", ".join(campaign.operator_names),
        },
    )


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, str(value)


def _marks(campaign: Campaign, final: float | None, spent: Spent) -> tuple[Mark, ...]:
    """How the value of the best changed; the last one is what is reported in the end."""
    if wants_measurements(campaign.task):
        found = list(_measured(campaign))
    else:
        points = report.curve(campaign)[:-1]
        found = [Mark(one.programs, one.seconds, one.calls, one.tokens, one.money, one.fitness) for one in points]
    if final is not None and (not found or found[-1].fitness != final):
        found.append(Mark(spent.programs, spent.seconds, spent.calls, spent.tokens, spent.money, final))
    return tuple(found)


def _measured(campaign: Campaign) -> Iterator[Mark]:
    """Each time that the largest mean of what was measured again changed: the first judging of a program, by which it was chosen, is not in it."""
    columns, names, state = frame(campaign), campaign.state.columns.programs, campaign.state
    places = _measurements(campaign, columns)
    judged, active = np.cumsum(columns.judged_programs()), campaign.log.active_of(place + 1 for place in places)
    means = _Means()
    before = math.nan
    for place in places:
        value = means.add(str(names[place]), float(columns.fitness[place]))
        if value == before:
            continue
        before = value
        yield Mark(
            int(judged[place]),
            active[place + 1],
            state.columns.calls[place],
            state.columns.tokens[place],
            state.columns.money[place],
            campaign.task.fitness.shown(value),
        )


class _Means:
    """The mean of each program's measurements, and the largest of them."""

    def __init__(self) -> None:
        self._means: dict[str, tuple[float, int]] = {}
        self._best = ""

    def add(self, program: str, value: float) -> float:
        """Takes a measurement; the largest mean now. All are looked at only where the best one's own mean fell."""
        mean, count = self._means.get(program, (0.0, 0))
        now = mean + (value - mean) / (count + 1)
        self._means[program] = now, count + 1
        if program == self._best and now < mean:
            self._best = max(self._means, key=lambda name: self._means[name][0])
        elif not self._best or now > self._means[self._best][0]:
            self._best = program
        return self._means[self._best][0]


def _measurements(campaign: Campaign, columns: Frame) -> list[int]:
    """The places of the successful measurements of programs that may be the best."""
    among = columns.kind("measurement") & ~np.isnan(columns.fitness) & (columns.violations == 0.0)
    among &= ~quarantined(campaign)
    among[: columns.since] = False
    return [int(place) for place in np.flatnonzero(among)]
