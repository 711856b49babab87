"""Choice of the next steps: those that are due by the archive's rule, else those that the strategy asks for, as long as budget and room last.

Nothing here starts anything; every decision is an `Asked` in the log before it has an effect."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from evolve.campaign import Campaign, stream
from evolve.campaign.campaign import confirmed_best
from evolve.campaign.refusals import NOTHING_NEW
from evolve.campaign.state import REFLECTION
from evolve.engine.checking import checked
from evolve.engine.members import NOBODY, Members
from evolve.plugins import guarded
from evolve.stop import Amount
from evolve.types import Asked, Measure, PluginError, Propose, Rearrange, Rearranged, Selection, Wait

WAITING = 2
"""Steps that wait for each judge slot, so that none is ever idle."""
LAST_MEASUREMENTS = 20
"""Measurements that a run may still make of its best when the budget is spent."""


@dataclass(frozen=True, slots=True)
class Load:
    """Steps under way: those with the judges or on their way to them, and those that wait for a model, by its name."""

    judging: int
    calling: Mapping[str, int]

    @property
    def total(self) -> int:
        """All steps that are under way."""
        return self.judging + sum(self.calling.values())


@dataclass(slots=True)
class FreeRoom:
    """FreeRoom for new steps: with the judges, and with each model. Where the judges have none, models are asked on while fewer
    than `ahead` more wait for them: answers come in bunches, and no model shall idle while one is judged."""

    judging: int
    calls: dict[str, int]
    ahead: int = 0

    @property
    def models(self) -> tuple[str, ...]:
        """Models that may be asked for a proposal now."""
        return tuple(name for name, count in self.calls.items() if count > 0)

    @property
    def is_left(self) -> bool:
        """True where a step may have room."""
        return self.judging > 0 or (self.judging + self.ahead > 0 and bool(self.models))

    def takes(self, action: Propose | Measure) -> bool:
        """Returns whether there is room for a step; for one that waits for a model, a free model has been found."""
        return self.judging > 0 or _calls_model(action)

    def take(self, action: Propose | Measure) -> None:
        """Takes the room of a new step. One that waits for a model is no load for the judges yet."""
        if _calls_model(action):
            self.calls[action.selection.model] -= 1
        else:
            self.judging -= 1


def _calls_model(action: Propose | Measure) -> TypeGuard[Propose]:
    return isinstance(action, Propose) and bool(action.selection.model)


class Scheduler:
    """Decisions of one run of a campaign. Main thread."""

    def __init__(self, campaign: Campaign, members: Members = NOBODY) -> None:
        self._campaign = campaign
        self._members = members
        self._state = campaign.state
        self._last = LAST_MEASUREMENTS
        self.exhausted = False
        """True when nothing is under way, and nothing new is to be expected of the operators that may be asked."""
        self.retune()

    def retune(self) -> None:
        """Takes budget and number of judges from the campaign's settings, as they are now."""
        campaign = self._campaign
        self._budget = campaign.budget
        self._room = 1 if campaign.settings.deterministic else campaign.settings.judges * (1 + WAITING)
        self._fills = not any(
            isinstance(leaf, Amount) and leaf.unit.resource == "programs" for leaf in self._budget.leaves()
        )
        self.unaffordable = ""
        """The call that the rest of the budget did not pay for."""

    def _best(self) -> float | None:
        return confirmed_best(self._campaign)

    def is_spent(self) -> bool:
        """Returns whether the budget is spent, or does not pay for one more call."""
        return bool(self.unaffordable) or self._is_used_up()

    def _is_used_up(self) -> bool:
        return self._budget.spent(self._campaign.progress, self._best(), time.time())

    @property
    def unpaid(self) -> str:
        """The call that the rest of the budget did not pay for; empty where nothing is left of it."""
        return "" if self._is_used_up() else self.unaffordable

    def is_paid(self) -> bool:
        """Returns whether calls of models ended it: programs that were paid for are judged all the same."""
        without_calls = replace(self._campaign.progress, calls=0, tokens=0, money=0.0, gpu_seconds=0.0)
        return not self._budget.spent(without_calls, self._best(), time.time())

    def seconds_left(self) -> float | None:
        """Returns the seconds until a budget in time is spent; None where there is none."""
        return self._budget.seconds_left(self._campaign.progress, time.time())

    @property
    def goes_on(self) -> bool:
        """True where another model is left to propose after one is gone, or the settings say to do without."""
        return bool(self._members.proposing) or self._campaign.settings.outage.then == "offline"

    def next_steps(self, load: Load) -> list[Asked]:
        """Returns new steps for the room that is left; appends each to the log. Inside a transaction."""
        asked: list[Asked] = []
        one_by_one = self._campaign.settings.deterministic
        free = self._free(load)
        while free.is_left and not (asked and one_by_one):
            action = self._next_action(free)
            if action is None:
                break
            free.take(action)
            asked.append(self._append(action))
        if not asked and not load.total:
            self.exhausted = self._state.refusals.unheard >= NOTHING_NEW or not self._operators()
        if not asked and not load.total and not self.exhausted:
            raise PluginError(
                f"strategy {self._campaign.settings.strategy.name!r} waits, and nothing is under way that it could wait for. "
                "Do: use another strategy, or mend its `ask`"
            )
        return asked

    def _free(self, load: Load) -> FreeRoom:
        """Returns the room that the steps under way leave."""
        members = self._members
        calls = {name: members[name].steps - load.calling.get(name, 0) for name in members.proposing}
        if self._campaign.settings.deterministic:
            return FreeRoom(self._room - load.total, calls)
        return FreeRoom(self._room - load.judging, calls, members.ahead)

    def last_measurement(self) -> list[Asked]:
        """Asks for one measurement that the campaign's best still lacks at its end: until it is sure, then the cases. Inside a transaction."""
        measure = self._state.archive.due(best_only=True) or self._state.case_measurement()
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
        action: Propose | Measure | None = self._due()
        if action is None and self._state.seed_is_measured and self._has_budget():
            action = self._reflection(free) or self._propose(free)
        return action if action is not None and free.takes(action) else None

    def _propose(self, free: FreeRoom) -> Propose | Measure | None:
        """Returns the strategy's proposal. Where it wants a model and all of them are busy, judges that would idle may have a proposal that needs
        none; a budget in programs is not spent on that."""
        operators = self._operators()
        action = self._ask_strategy(operators) if operators else None
        if not self._needs_model(action):
            return action
        assert isinstance(action, Propose), "only a proposal needs a model"
        found = self._with_model(action, free)
        if found is not None:
            return found
        others = self._without_models(operators)
        return self._ask_strategy(others) if self._fills and others else None

    def _operators(self) -> tuple[str, ...]:
        """Returns the operators that may be asked now."""
        return self._campaign.askable(models=bool(self._members.proposing))

    def _needs_model(self, action: Propose | Measure | None) -> bool:
        return isinstance(action, Propose) and self._campaign.traits(action.selection.operator).needs_model

    def _without_models(self, operators: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in operators if not self._campaign.traits(name).needs_model)

    def _with_model(self, action: Propose, free: FreeRoom) -> Propose | None:
        """Returns the proposal with a model that is free: the strategy's where it names one, else the one that the campaign draws. None where it must
        wait."""
        selection, models = action.selection, free.models
        if selection.model or not models:
            return action if selection.model in models else None
        rng = stream(self._campaign.settings.seed, self._state.last_step + 1, "model")
        model = self._campaign.ensemble.choose(rng, models, tuple(free.calls))
        return Propose(replace(selection, model=model)) if model else None

    def _reflection(self, free: FreeRoom) -> Propose | None:
        """Asks for lessons each time that so many records have settled which are no lessons themselves."""
        every, state = self._campaign.settings.lessons.every, self._state
        best = state.archive.best
        if not every or best is None or state.told - state.reflected < every:
            return None
        return self._with_model(Propose(Selection(REFLECTION, best.island, (best.record,))), free)

    def _ask_strategy(self, operators: Sequence[str]) -> Propose | Measure | None:
        """Asks the strategy, which may use these operators; returns None where it waits. Programs that it moves to an island first are moved at once, before it is asked
        again: each island at most once, so that this ends."""
        campaign, name, arranged = self._campaign, self._campaign.settings.strategy.name, set[int]()
        while True:
            used = self._budget.used(campaign.progress, self._best(), time.time())
            purpose = f"ask {len(arranged)}" if arranged else "ask"
            rng = stream(campaign.settings.seed, self._state.last_step + 1, purpose)
            action = guarded(name, campaign.strategy.ask, campaign.view(used, operators), rng)
            if isinstance(action, Wait):
                return None
            try:
                found = checked(campaign, action)
                if not isinstance(found, Rearrange):
                    return found
                if found.island in arranged:
                    raise ValueError(f"to arrange island {found.island} twice, and for nothing else in between")
            except ValueError as error:
                raise PluginError(f"strategy {name!r} asked {error}. Do: mend its `ask`") from error
            arranged.add(found.island)
            campaign.write(Rearranged(found.island, found.records, found.why))

    def _has_budget(self) -> bool:
        """Returns whether a budget in programs has room for one more, with all that is under way."""
        proposals = sum(isinstance(step.asked.action, Propose) for step in self._state.steps.values())
        return self._budget.allows(self._campaign.progress, proposals, self._best(), time.time())

    def pays_for_child(self, judging: int) -> bool:
        """Returns whether a budget in programs has room for one more child beside those that are being judged: a step may have several. What a child has cost of
        other resources is paid already, so that they do not keep it from being judged."""
        progress, best, now = self._campaign.progress, self._best(), time.time()
        judged = replace(progress, programs=progress.programs + judging)
        free = replace(progress, programs=0)
        return not self._budget.spent(judged, best, now) or self._budget.spent(free, best, now)

    def _due(self) -> Measure | None:
        """Returns the measurement that is due: the seed's first, then the archive's, then the best's cases, within their share of time."""
        state = self._state
        noise = state.noise_measurement()
        if noise is not None or not self._within_share():
            return noise
        return state.archive.due() or state.case_measurement()

    def _within_share(self) -> bool:
        """Counts in seconds; in records where two runs must decide alike."""
        share, progress = self._campaign.settings.confirm.share, self._state.progress
        waiting = sum(isinstance(step.asked.action, Measure) for step in self._state.steps.values())
        if self._campaign.settings.deterministic:
            return progress.measurements + waiting <= share * (progress.records + waiting)
        mean = progress.measure_seconds / max(1, progress.measurements)
        return progress.measure_seconds + waiting * mean <= share * progress.judge_seconds
