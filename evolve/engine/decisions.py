"""Comparison of a strategy's decisions with those that the log has: it is asked again for each step that it decided, during a replay.

A replay alone compares what the archive did. A strategy whose law has changed passes it, and is found here. The log has all that a strategy is
shown but for the instant inside of a turn, and the models that were busy or had given up: each of these is tried."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

from evolve.campaign import Campaign, best_confirmed
from evolve.campaign.campaign import apply_changes
from evolve.campaign.folds import HELD_OUT, REFLECTION
from evolve.campaign.settings import operators_of
from evolve.campaign.state import NOISE
from evolve.engine.outage import CANARY
from evolve.engine.scheduler import ask_strategy, counts
from evolve.types import (
    FROM_SCRATCH,
    REJUDGED,
    Asked,
    Import,
    MachineMeasured,
    Measure,
    Opened,
    Propose,
    SettingsChanged,
    Stamped,
    canonical,
)
from evolve.types.codec import encode

BY_ENGINE = "asked by the engine"
BEFORE_FORK = "decided before the fork"
BY_CLOCK = "dependent on the clock"
"""Reasons for which a step is not compared."""


@dataclass(frozen=True, slots=True)
class DecisionDifference:
    """A step that the strategy decides otherwise now than the log says; both actions are JSON."""

    step: int
    stored: str
    decided: str

    def __str__(self) -> str:
        return f"step {self.step}: the log has {self.stored}, the strategy now asks {self.decided}"


@dataclass(slots=True)
class Decisions:
    """What a comparison found. Of the steps that were `compared`, so many are `different`, and so many equal only if a model was busy or had
    given up (`supposed`); `left_out` counts those that were not compared, by the reason."""

    compared: int = 0
    different: int = 0
    supposed: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    first: DecisionDifference | None = None


class DecisionComparison:
    """Comparison during one replay: `Campaign.open(..., before=comparison)`. Main thread."""

    def __init__(self) -> None:
        self.decisions = Decisions()
        self._machines_to_fork = 0
        self._last: Stamped | None = None

    def __call__(self, campaign: Campaign, stamped: Stamped) -> None:
        """Compares the step that this event asks for, if it is one, with what the strategy asks now. Raises `ConfigError` for a strategy that is
        not installed, and `PluginError`."""
        match stamped.event:
            case Opened(settings=settings, forked_from=origin, machines=machines):
                # A campaign that is opened has its last settings; decisions were made under those of their time.
                campaign.settings = apply_changes(settings, ())
                operators_of(campaign.settings, campaign.plugins)
                self._machines_to_fork = machines + 1 if origin else 0
            case SettingsChanged() as change:
                campaign.settings = apply_changes(campaign.settings.model_dump(mode="json"), [change])
            case MachineMeasured():
                self._machines_to_fork -= 1
            case Asked() as asked:
                reason = BEFORE_FORK if self._machines_to_fork > 0 else self._compare(campaign, stamped, asked)
                if reason:
                    left_out = self.decisions.left_out
                    left_out[reason] = left_out.get(reason, 0) + 1
        self._last = stamped

    def _compare(self, campaign: Campaign, stamped: Stamped, asked: Asked) -> str:
        """Compares one step; returns why it cannot be compared, or an empty text."""
        if _is_engines(campaign, asked.action):
            return BY_ENGINE
        found, usual = self.decisions, list[str]()
        for used in self._used(campaign, stamped):
            for place, answer in enumerate(_answers(campaign, used)):
                if _format(answer) == _format(_without_drawn_model(asked.action, answer)):
                    found.compared += 1
                    found.supposed += place > 0
                    return ""
                if place == 0:
                    usual.append(_format(answer))
        if len(set(usual)) > 1:
            return BY_CLOCK
        found.compared += 1
        found.different += 1
        if found.first is None:
            decided = usual[0] if usual else _format(None)
            found.first = DecisionDifference(asked.step, _format(asked.action), decided)
        return ""

    def _used(self, campaign: Campaign, stamped: Stamped) -> list[float]:
        """Returns the spent share of the budget when the strategy was asked: after the event before this one, and before this one was
        written. Two values where a budget in time has moved meanwhile."""
        assert self._last is not None, "a campaign is opened before anything is asked"
        budget, state, best = campaign.budget, campaign.state, best_confirmed(campaign)
        moments = (stamped, self._last)
        return list(dict.fromkeys(budget.used(state.progress_at(one.active), best, one.at) for one in moments))


def _answers(campaign: Campaign, used: float) -> Iterator[Propose | Measure | None]:
    """Yields what the strategy asks as the scheduler would ask it: with all models free first, then where all were busy, then where some had
    given up. Equal ones may come twice."""
    models, offline = campaign.settings.models.proposing, campaign.settings.outage.then == "offline"
    for count in range(len(models), -1 if offline or not models else 0, -1):
        for left in combinations(models, count):
            operators = campaign.askable(models=bool(left))
            if operators:
                yield (answer := ask_strategy(campaign, used, operators, left))
                free = tuple(name for name in operators if not campaign.traits(name).needs_model)
                if free and _needs_model(campaign, answer) and not counts(campaign.budget, "programs"):
                    yield ask_strategy(campaign, used, free, left)


def _needs_model(campaign: Campaign, action: Propose | Measure | None) -> bool:
    return isinstance(action, Propose) and campaign.traits(action.selection.operator).needs_model


def _is_engines(campaign: Campaign, action: Propose | Measure | Import) -> bool:
    """Reports whether the engine asks for this step by itself."""
    match action:
        case Import():
            return True
        case Propose(selection=selection):
            return selection.operator == REFLECTION
        case Measure(why=why, case=case):
            if case == CANARY or why in (NOISE, REJUDGED, HELD_OUT, FROM_SCRATCH):
                return True
            archive = campaign.state.archive
            return action in (archive.due(), archive.due(best_only=True))


def _without_drawn_model(
    action: Propose | Measure | Import, answer: Propose | Measure | None
) -> Propose | Measure | Import:
    """Returns the logged action without its model, where the strategy names none: then the engine has drawn one of those that were free."""
    if not (isinstance(action, Propose) and isinstance(answer, Propose)) or answer.selection.model:
        return action
    return replace(action, selection=replace(action.selection, model=""))


def _format(action: Propose | Measure | Import | None) -> str:
    return "to wait" if action is None else canonical(encode(action))
