"""Evaluation of a campaign's programs by a newer version of the task: the plan, its cost, and its beginning.

The programs that are left follow from the log, so that an interrupted one goes on with those that are missing; all earlier results stay in the log."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evolve.campaign.campaign import Campaign
from evolve.campaign.state import FOUND
from evolve.types import (
    REJUDGED,
    Asked,
    ConfigError,
    Import,
    Measure,
    ProgramId,
    Propose,
    RecordId,
    Task,
    TaskChanged,
    canonical,
)
from evolve.types.codec import encode


@dataclass(frozen=True, slots=True)
class Rejudging:
    """Programs to evaluate by `task`: the seed, if `seed` says so, and the programs of these records, the best first, and of those that
    an interrupted run has asked for already (`waiting`). `others` counts the measurements beside that such a run has left. `seconds` is the mean that evaluating one has taken before, None where that is not known."""

    task: Task
    seed: bool
    records: tuple[RecordId, ...]
    waiting: tuple[RecordId, ...]
    others: int
    seconds: float | None

    @property
    def programs(self) -> int:
        """Number of programs that will be evaluated."""
        return self.seed + len(self.records) + len(self.waiting)


def plan_rejudging(campaign: Campaign, task: Task, *, everything: bool) -> Rejudging:
    """Returns the plan: the elites alone, or `everything` that was ever evaluated; raises `ConfigError` for a task whose scores
    cannot stand in the same log."""
    _check_same_kind(campaign, task)
    state = campaign.state
    changed = task.version != campaign.task.version
    evaluated = set[ProgramId]() if changed else state.evaluated
    asked = [] if changed else [step.asked.action for step in state.open_steps()]
    measures = [action for action in asked if isinstance(action, Measure)]
    waiting = tuple(measure.about for measure in measures if measure.why == REJUDGED)
    if not changed and not state.columns.since:
        return Rejudging(task, False, (), (), 0, None)
    chosen = list(state.columns.first_records().values()) if everything else state.elites() if changed else state.former
    ruled = {about for about, ruling in state.quarantined.items() if not (changed and ruling.by in FOUND)}
    out = {task.seed.id, *evaluated, *ruled}
    records = tuple(one for one in chosen if state.columns.programs[one - 1] not in out and one not in waiting)
    seconds = _mean_seconds(campaign, (*waiting, *records))
    return Rejudging(task, changed or not state.seed_record, records, waiting, len(measures) - len(waiting), seconds)


def begin(campaign: Campaign, plan: Rejudging) -> Sequence[Asked]:
    """Changes the task, if it is another version, asks for what is to be evaluated, and returns the steps to start: all that had been asked
    but proposals. What persons had added and was not evaluated is asked for again. Inside a transaction."""
    # Read first: a change of the task gives all open steps up, and a program that a person added has no record that stands for it.
    added = [step.asked.action for step in campaign.state.open_steps() if isinstance(step.asked.action, Import)]
    if plan.task.version != campaign.task.version:
        definition = campaign.log.put_text(canonical(encode(plan.task)))
        campaign.write(TaskChanged(plan.task.version, definition))
        for action in added:
            _ask(campaign, action)
    for record in plan.records:
        program = campaign.state.columns.programs[record - 1]
        assert program is not None, "a record without a program is never evaluated again"
        _ask(campaign, Measure(record, program, why=REJUDGED))
    return [step.asked for step in campaign.state.open_steps() if not isinstance(step.asked.action, Propose)]


def _ask(campaign: Campaign, action: Measure | Import) -> None:
    state = campaign.state
    campaign.write(Asked(state.last_step + 1, action, after=len(state.columns.programs)))


def _mean_seconds(campaign: Campaign, records: Sequence[RecordId]) -> float | None:
    """Returns the mean over these records, but for those that came from the cache."""
    found = [campaign.log.settled(record).record.evaluation for record in records]
    seconds = [evaluation.seconds for evaluation in found if not evaluation.cached_from]
    return math.fsum(seconds) / len(seconds) if seconds else None


def _check_same_kind(campaign: Campaign, task: Task) -> None:
    before, remedy = campaign.task, "Try: run a new campaign on it, evolve run"
    if task.name != before.name:
        raise ConfigError(f"campaign {campaign.name!r} is on the task {before.name!r}, got {task.name!r}. {remedy}")
    if task.fitness.direction != before.fitness.direction:
        raise ConfigError(
            f"the fitness of task {task.name!r} is now better when it is {_better(task)}, and was when it was {_better(before)}: "
            f"such scores cannot stand in one log. {remedy} {task.name}"
        )
    if task.seed.files.keys() != before.seed.files.keys():
        raise ConfigError(
            f"a program of task {task.name!r} is now {', '.join(task.seed.files)}, and was {', '.join(before.seed.files)}, so that none "
            f"of the campaign's can be evaluated. {remedy} {task.name}"
        )


def _better(task: Task) -> str:
    return "larger" if task.fitness.direction == "max" else "smaller"
