"""What a campaign does next: what is due by the archive's rule, else what its strategy asks for, as long as budget and room last.

Invariant: nothing here starts anything; every decision is an `Asked` in the log before it has an effect."""

import time
from dataclasses import replace
from typing import TypeVar

from evolve.campaign import Campaign, stream
from evolve.campaign.campaign import confirmed_best
from evolve.loop.infrastructure import Infrastructure
from evolve.plugins import guarded
from evolve.types import Asked, Measure, PluginError, Propose, RecordId, Selection, Task, Wait
from evolve.types.codec import decode, encode

WAITING = 2
"""Steps that wait for each judge slot, so that none is ever idle."""
LAST_MEASUREMENTS = 20
"""Measurements that a run may still make of its best when the budget is spent."""

Action = TypeVar("Action", Propose, Measure)


class Asking:
    """The decisions of one run of a campaign. Main thread."""

    def __init__(self, campaign: Campaign, infrastructure: Infrastructure) -> None:
        self._campaign = campaign
        self._infrastructure = infrastructure
        self._state = campaign.state
        self._budget = campaign.budget
        self._room = 1 if campaign.settings.deterministic else campaign.settings.judges * (1 + WAITING)
        self._last = LAST_MEASUREMENTS

    def _best(self) -> float | None:
        return confirmed_best(self._campaign)

    def spent(self) -> bool:
        """The budget is spent."""
        return self._budget.spent(self._campaign.progress, self._best(), time.time())

    def seconds_left(self) -> float | None:
        """How long until a budget in time is spent; None where there is none."""
        return self._budget.seconds_left(self._campaign.progress, time.time())

    def next_steps(self, under_way: int) -> list[Asked]:
        """New steps for the room that is left; appends each to the log. Inside a transaction."""
        asked: list[Asked] = []
        while under_way + len(asked) < self._room:
            action = self._next_action()
            if action is None:
                break
            asked.append(self._append(action))
        if not asked and not under_way and not self._infrastructure.in_doubt:
            raise PluginError(
                f"strategy {self._campaign.settings.strategy.name!r} waits, and nothing is under way that it could wait for. "
                "Do: use another strategy, or mend its `ask`"
            )
        return asked

    def last_measurement(self) -> list[Asked]:
        """One measurement that the campaign's best still lacks, at its end: until it is sure, then the cases. Inside a transaction."""
        measure = self._state.archive.due(best_only=True) or self._state.case_measurement()
        if measure is None or self._last == 0:
            return []
        self._last -= 1
        return [self._append(measure)]

    def _append(self, action: Propose | Measure) -> Asked:
        asked = Asked(self._state.last_step + 1, action, after=len(self._state.columns.programs))
        self._campaign.write(asked)
        return asked

    def _next_action(self) -> Propose | Measure | None:
        if self._infrastructure.in_doubt:
            canary = self._infrastructure.canary()
            return canary and replace(canary, about=self._state.seed_record)
        due = self._due()
        if due is not None:
            return due
        if not self._state.seed_is_measured or not self._allowed():
            return None
        used = self._budget.used(self._campaign.progress, self._best(), time.time())
        rng = stream(self._campaign.settings.seed, self._state.last_step + 1, "ask")
        name = self._campaign.settings.strategy.name
        action = guarded(name, self._campaign.strategy.ask, self._campaign.view(used), rng)
        if isinstance(action, Wait):
            return None
        try:
            return self._checked(action)
        except ValueError as error:
            raise PluginError(f"strategy {name!r} asked {error}. Do: mend its `ask`") from error

    def _checked(self, action: object) -> Propose | Measure:
        """What the log would say of an action; raises `ValueError` for one that cannot be done, which a log must never hold: every
        later run would begin with it."""
        match action:
            case Propose():
                propose = _as_logged(action)
                self._check_selection(propose.selection)
                return propose
            case Measure():
                measure = _as_logged(action)
                self._check_measure(measure)
                return measure
        raise ValueError(f"for a {type(action).__name__}, wanted Propose, Measure or Wait")

    def _check_selection(self, selection: Selection) -> None:
        names, islands = self._campaign.usable_operators, self._state.archive.settings.islands
        if selection.operator not in names:
            raise ValueError(f"for operator {selection.operator!r}, wanted one of {', '.join(names)}")
        if not 0 <= selection.island < islands:
            raise ValueError(f"for island {selection.island}, wanted 0 to {islands - 1}")
        if selection.samples < 1:
            raise ValueError(f"for {selection.samples} samples, wanted 1 or more")
        for record in (*selection.parents, *selection.inspirations):
            self._check_record(record)

    def _check_measure(self, measure: Measure) -> None:
        self._check_record(measure.about)
        if self._state.columns.programs[measure.about - 1] != measure.program:
            raise ValueError(
                f"to measure program {measure.program!r} about record {measure.about}, which has another program"
            )
        cases = self._state.cases.wanted
        if measure.case and measure.case not in cases:
            raise ValueError(f"for case {measure.case!r}, wanted one of {', '.join(map(repr, cases))} or ''")
        stages = _stages(self._state.task)
        if measure.stage and measure.stage not in stages:
            raise ValueError(f"for stage {measure.stage!r}, wanted one of {', '.join(map(repr, stages))} or ''")

    def _check_record(self, record: RecordId) -> None:
        programs = self._state.columns.programs
        if not 0 < record <= len(programs) or programs[record - 1] is None:
            raise ValueError(f"about record {record}, which has not settled or has no program")

    def _allowed(self) -> bool:
        """A budget in programs has room for one more, with all that is under way."""
        proposals = sum(isinstance(step.asked.action, Propose) for step in self._state.steps.values())
        return self._budget.allows(self._campaign.progress, proposals, self._best(), time.time())

    def _due(self) -> Measure | None:
        """The seed's repeated measurements first, then what the archive needs, then the best's cases, within their share of the judges'
        time."""
        state = self._state
        noise = state.noise_measurement()
        if noise is not None or not self._within_share():
            return noise
        return state.archive.due() or state.case_measurement()

    def _within_share(self) -> bool:
        """Counted in seconds; in records where two runs must decide alike."""
        share, progress = self._campaign.settings.confirm.share, self._state.progress
        waiting = sum(isinstance(step.asked.action, Measure) for step in self._state.steps.values())
        if self._campaign.settings.deterministic:
            return progress.measurements + waiting <= share * (progress.records + waiting)
        mean = progress.measure_seconds / max(1, progress.measurements)
        return progress.measure_seconds + waiting * mean <= share * progress.judge_seconds


def _as_logged(action: Action) -> Action:
    """The action as a replay would read it; raises `ValueError` where the log cannot hold it."""
    try:
        logged: Action = decode(type(action), encode(action))
    except ValueError as error:
        raise ValueError(f"for a {type(action).__name__} that the log cannot hold: {error}") from error
    return logged


def _stages(task: Task) -> list[str]:
    """The names of what a measurement may run instead of the whole cascade."""
    return [stage.name for stage in task.stages] + ["certify"] * (task.promotion == "certificate")
