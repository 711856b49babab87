"""Choice of the next steps: those that are due by the archive's rule, else those that the strategy asks for, as long as budget and room last.

Nothing here starts anything; every decision is an `Asked` in the log before it has an effect."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from evolve.campaign import Campaign, best_confirmed, stream
from evolve.campaign.folds import NOTHING_NEW, REFLECTION
from evolve.campaign.state import NOISE
from evolve.engine.members import NOBODY, Members
from evolve.engine.outage import Outage
from evolve.engine.proposals import to_plain
from evolve.plugins import guarded
from evolve.stop import Amount, Budget, Resource
from evolve.types import Asked, Measure, PluginError, Propose, RecordId, Selection, Wait
from evolve.types.codec import decode, encode

WAITING = 2
"""Steps that wait for each evaluation worker, so that none is ever idle."""
LAST_MEASUREMENTS = 20
"""Measurements that a run may still make of its best when the budget is spent."""


@dataclass(slots=True)
class FreeRoom:
    """Room for new steps: in evaluation, and with each model. Where evaluation has none, models are asked on while fewer
    than `ahead` more wait for it: answers come in bunches, and no model shall idle while one is evaluated."""

    evaluating: int
    calls: dict[str, int]
    ahead: int = 0

    @property
    def models(self) -> tuple[str, ...]:
        """Models that may be asked for a proposal now."""
        return tuple(name for name, count in self.calls.items() if count > 0)

    @property
    def is_left(self) -> bool:
        """True where a step may have room."""
        return self.evaluating > 0 or (self.evaluating + self.ahead > 0 and bool(self.models))

    def take(self, action: Propose | Measure) -> bool:
        """Takes the room of a new step; returns False where there is none. A step that waits for a model is no load for the evaluation yet."""
        if _calls_model(action):
            self.calls[action.selection.model] -= 1
        elif self.evaluating > 0:
            self.evaluating -= 1
        else:
            return False
        return True


def _calls_model(action: Propose | Measure) -> TypeGuard[Propose]:
    return isinstance(action, Propose) and bool(action.selection.model)


def counts(budget: Budget, *resources: Resource) -> bool:
    """Reports whether a number of one of these may end this budget."""
    return any(isinstance(leaf, Amount) and leaf.unit.resource in resources for leaf in budget.leaves())


class BudgetWatch:
    """Budget of one run, held against what is spent now. Main thread."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self.retune()

    def retune(self) -> None:
        """Takes the budget from the campaign's settings, as they are now."""
        self._budget = self._campaign.budget
        self.unaffordable = ""
        """The call that the rest of the budget did not pay for."""
        self.counts_programs = counts(self._budget, "programs")
        self.counts_evaluations = counts(self._budget, "evaluations", "cases")

    def is_spent(self) -> bool:
        """Returns whether the budget is spent, or does not pay for one more call."""
        return bool(self.unaffordable) or self._spends()

    @property
    def unpaid(self) -> str:
        """The call that the rest of the budget did not pay for; empty where nothing is left of it."""
        return "" if self._spends() else self.unaffordable

    def is_paid(self) -> bool:
        """Returns whether calls of models ended it: programs that were paid for are evaluated all the same."""
        return not self._spends(calls=0, tokens=0, money=0.0, gpu_seconds=0.0)

    def seconds_left(self) -> float | None:
        """Returns the seconds until a budget in time is spent; None where there is none."""
        return self._budget.seconds_left(self._campaign.progress, time.time())

    def used(self) -> float:
        """Returns the spent share of the budget."""
        campaign = self._campaign
        return self._budget.used(campaign.progress, best_confirmed(campaign), time.time())

    def has_room(self) -> bool:
        """Returns whether a budget in programs has room for one more, with all that is under way."""
        proposals = sum(isinstance(step.asked.action, Propose) for step in self._campaign.state.steps.values())
        return not self._spends(programs=self._campaign.progress.programs + proposals)

    def pays_for_child(self, evaluating: int) -> bool:
        """Returns whether a budget in programs has room for one more child beside those in evaluation: a step may have several. What a child
        has cost of other resources is paid already, so that they do not keep it from evaluation."""
        return not self._spends(programs=self._campaign.progress.programs + evaluating) or self._spends(programs=0)

    def _spends(self, **changes: Any) -> bool:
        campaign = self._campaign
        return self._budget.spent(replace(campaign.progress, **changes), best_confirmed(campaign), time.time())


class Scheduler:
    """Decisions of one run of a campaign. Main thread."""

    def __init__(self, campaign: Campaign, budget: BudgetWatch, outage: Outage, members: Members = NOBODY) -> None:
        self._campaign = campaign
        self._budget = budget
        self._outage = outage
        self._members = members
        self._state = campaign.state
        self._last = LAST_MEASUREMENTS
        self.exhausted = False
        """True when nothing is under way, and nothing new is to be expected of the operators that may be asked."""

    @property
    def goes_on(self) -> bool:
        """True where another model is left to propose after one is gone, or the settings say to do without."""
        return bool(self._members.proposing) or self._campaign.settings.outage.then == "offline"

    def next_steps(self, evaluating: int, calling: Mapping[str, int]) -> list[Asked]:
        """Returns new steps for the room that is left; appends each to the log. `evaluating` steps are in evaluation or on their way to it, and
        so many wait for each model. A canary waits for no room. Inside a transaction."""
        if self._outage.is_suspected:
            canary = self._outage.canary(self._state.seed_record)
            return [self._append(canary)] if canary else []
        asked: list[Asked] = []
        # Two deterministic runs must ask in the same state, whatever their workers' speed.
        one_by_one = self._campaign.settings.deterministic
        free = self._free(evaluating, calling)
        while free.is_left and not (asked and one_by_one):
            action = self._next_action(free)
            if action is None or not free.take(action):
                break
            asked.append(self._append(action))
        if not asked and not evaluating:
            if not any(calling.values()):
                self._explain_idleness()
            elif not one_by_one:
                return self._measure_while_models_answer()
        return asked

    def _measure_while_models_answer(self) -> list[Asked]:
        """Asks for the next measurement, whatever the share of measurements: the workers would wait for models. Not where a budget counts evaluations."""
        if not self._is_seed_measured() or self._budget.counts_evaluations:
            return []
        measure = self._state.archive.due() or self._case_measurement()
        return [] if measure is None else [self._append(measure)]

    def _explain_idleness(self) -> None:
        self.exhausted = self._state.refusals.unheard >= NOTHING_NEW or not self._operators()
        if not self.exhausted:
            raise PluginError(
                f"strategy {self._campaign.settings.strategy.name!r} waits, and nothing is under way that it could wait for. "
                "Try: use another strategy, or mend its `ask`"
            )

    def _free(self, evaluating: int, calling: Mapping[str, int]) -> FreeRoom:
        """Returns the room that the steps under way leave."""
        members, settings = self._members, self._campaign.settings
        calls = {name: members[name].steps - calling.get(name, 0) for name in members.proposing}
        if settings.deterministic:
            return FreeRoom(1 - evaluating - sum(calling.values()), calls)
        return FreeRoom(settings.workers * (1 + WAITING) - evaluating, calls, members.ahead)

    def last_measurement(self) -> list[Asked]:
        """Asks for one measurement that the campaign's best still lacks at its end: until it is sure, then the cases. Inside a transaction."""
        measure = self._state.archive.due(best_only=True) or self._case_measurement()
        if measure is None or self._last == 0:
            return []
        self._last -= 1
        return [self._append(measure)]

    def _append(self, action: Propose | Measure) -> Asked:
        state = self._state
        asked = Asked(state.last_step + 1, action, after=len(state.columns.programs), lessons=len(state.lessons))
        self._campaign.write(asked)
        return asked

    def _next_action(self, free: FreeRoom) -> Propose | Measure | None:
        due = self._due()
        if due is not None or not self._is_seed_measured() or not self._budget.has_room():
            return due
        return self._reflection(free) or self._propose(free)

    def _propose(self, free: FreeRoom) -> Propose | Measure | None:
        """Returns the strategy's proposal. Where it wants a model and all of them are busy, workers that would idle may have a proposal that needs
        none; a budget in programs is not spent on that."""
        operators = self._operators()
        if not any(free.models or not self._needs_model(name) for name in operators):
            return None
        action = self._ask_strategy(operators)
        if not (isinstance(action, Propose) and self._needs_model(action.selection.operator)):
            return action
        with_model = self._with_model(action, free)
        if with_model is not None:
            return with_model
        free_operators = tuple(name for name in operators if not self._needs_model(name))
        return self._ask_strategy(free_operators) if free_operators and not self._budget.counts_programs else None

    def _operators(self) -> tuple[str, ...]:
        """Returns the operators that may be asked now."""
        return self._campaign.askable(models=bool(self._members.proposing))

    def _needs_model(self, operator: str) -> bool:
        return self._campaign.traits(operator).needs_model

    def _with_model(self, action: Propose, free: FreeRoom) -> Propose | None:
        """Returns the proposal with a model that is free: the strategy's where it names one, else the one that the campaign draws. None where it must
        wait."""
        selection, models = action.selection, free.models
        if selection.model or not models:
            return action if selection.model in models else None
        rng = stream(self._campaign.settings.seed, self._state.last_step + 1, "model")
        model = self._campaign.ensemble.choose(rng, models, tuple(free.calls))
        return replace(action, selection=replace(selection, model=model)) if model else None

    def _reflection(self, free: FreeRoom) -> Propose | None:
        """Asks for lessons each time that so many records have settled which are no lessons themselves."""
        every, state = self._campaign.settings.lessons.every, self._state
        best = state.archive.best
        if not every or best is None or state.records_to_learn - state.records_learnt < every:
            return None
        return self._with_model(Propose(Selection(REFLECTION, best.island, (best.record,))), free)

    def _ask_strategy(self, operators: Sequence[str]) -> Propose | Measure | None:
        """Asks the strategy, which may use these operators; returns None where it waits."""
        return ask_strategy(self._campaign, self._budget.used(), operators, self._members.proposing)

    def _due(self) -> Measure | None:
        """Returns the measurement that is due: the seed's first, then the archive's, then the best's cases, within their share of time."""
        state = self._state
        noise = self._noise_measurement()
        if noise is not None or not self._is_within_share():
            return noise
        return state.archive.due() or self._case_measurement()

    def _is_seed_measured(self) -> bool:
        """Returns whether the seed has passed, and a noisy task's noise floor is known."""
        state = self._state
        return bool(state.seed_values) and (state.task.deterministic or state.noise_floor is not None)

    def _noise_measurement(self) -> Measure | None:
        """Returns one more measurement of a noisy task's seed, until there are enough for the noise floor of this machine."""
        state = self._state
        if not state.seed_values or self._is_seed_measured():
            return None
        asked = sum(measure.why == NOISE for measure in self._measures())
        if len(state.noise_values) + asked >= self._campaign.settings.confirm.seeds:
            return None
        return Measure(about=state.seed_record, program=state.task.seed.id, why=NOISE)

    def _case_measurement(self) -> Measure | None:
        """Returns a measurement of the best on a case that it was not measured on, when its score is as sure as it must be."""
        state = self._state
        best = state.archive.best if state.cases.wanted else None
        if best is None or best.reported is None:
            return None
        return state.cases.due(best.program, best.record, self._measures(), seed=state.seed_record)

    def _measures(self) -> list[Measure]:
        """Returns the measurements that are under way."""
        actions = (step.asked.action for step in self._state.steps.values())
        return [action for action in actions if isinstance(action, Measure)]

    def _is_within_share(self) -> bool:
        # Counted in seconds; in records where two runs must decide alike.
        share, progress = self._campaign.settings.confirm.share, self._state.progress
        # Those that wait count at the mean: a burst of new elites would otherwise fill all workers with measurements.
        waiting = len(self._measures())
        if self._campaign.settings.deterministic:
            return progress.measurements + waiting <= share * (progress.records + waiting)
        mean = progress.measure_seconds / max(1, progress.measurements)
        return progress.measure_seconds + waiting * mean <= share * progress.judge_seconds


def ask_strategy(
    campaign: Campaign, budget_used: float, operators: Sequence[str], models: Sequence[str]
) -> Propose | Measure | None:
    """Asks a campaign's strategy for the next step, which may use these operators and models; returns None where it waits. Raises `PluginError`."""
    name = campaign.settings.strategy.name
    rng = stream(campaign.settings.seed, campaign.state.last_step + 1, "ask")
    answer = guarded(name, campaign.strategy.ask, campaign.view(budget_used, operators, models), rng)
    if isinstance(answer, Wait):
        return None
    try:
        return check_action(campaign, answer)
    except ValueError as error:
        raise PluginError(f"strategy {name!r} asked {error}. Try: mend its `ask`") from error


def check_action(campaign: Campaign, action: object) -> Propose | Measure:
    """Returns what a strategy asked for as the log would hold it. Raises `ValueError` for what cannot be done: an action in the log is where
    every later run would begin."""
    if not isinstance(action, Propose | Measure):
        raise ValueError(f"for a {type(action).__name__}, wanted Propose, Measure or Wait")
    try:
        logged: Propose | Measure = decode(type(action), encode(action))
    except ValueError as error:
        raise ValueError(f"for a {type(action).__name__} that the log cannot hold: {error}") from error
    match logged:
        case Propose(selection=selection):
            logged = replace(logged, selection=replace(selection, notes=to_plain("notes", selection.notes)))
            _check_selection(campaign, selection)
            cases = [case.name for case in campaign.task.cases]
            for name in logged.gate:
                _check_known("case", name, cases, ", ".join(map(repr, cases)) or "none, for the task has no cases")
        case Measure():
            _check_measure(campaign, logged)
    return logged


def _check_selection(campaign: Campaign, selection: Selection) -> None:
    names = campaign.usable_operators
    _check_known("operator", selection.operator, names, ", ".join(names))
    _check_island(campaign, selection.island)
    models = campaign.settings.models.proposing if campaign.traits(selection.operator).needs_model else ()
    _check_known("model", selection.model, ("", *models), f"{', '.join(models) or 'none'}, or ''")
    if selection.samples < 1:
        raise ValueError(f"for {selection.samples} samples, wanted 1 or more")
    for record in (*selection.parents, *selection.inspirations):
        _check_record(campaign, record)


def _check_measure(campaign: Campaign, measure: Measure) -> None:
    _check_record(campaign, measure.about)
    if campaign.state.columns.programs[measure.about - 1] != measure.program:
        raise ValueError(
            f"to measure program {measure.program!r} about record {measure.about}, which has another program"
        )
    stages = [stage.name for stage in campaign.task.stages] + ["certify"] * (campaign.task.promotion == "certificate")
    for kind, name, known in (("case", measure.case, campaign.state.cases.wanted), ("stage", measure.stage, stages)):
        _check_known(kind, name, ("", *known), f"{', '.join(map(repr, known))} or ''")


def _check_known(kind: str, name: str, known: Collection[str], wanted: str) -> None:
    if name not in known:
        raise ValueError(f"for {kind} {name!r}, wanted one of {wanted}")


def _check_island(campaign: Campaign, island: int) -> None:
    islands = campaign.state.archive.settings.islands
    if not 0 <= island < islands:
        raise ValueError(f"for island {island}, wanted 0 to {islands - 1}")


def _check_record(campaign: Campaign, record: RecordId) -> None:
    programs = campaign.state.columns.programs
    if not 0 < record <= len(programs) or programs[record - 1] is None:
        raise ValueError(f"about record {record}, which has not settled or has no program")
